// A real ACME CA that really looks: Pebble, with a server of names and files beside it, and a hook that tells that one.

import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { ensurePebble } from '../../tools/install-pebble.ts'
import { createAuthority } from '../fakes/ca-server.ts'
import { findFreePort } from './free-port.ts'
import { type RunningProgram, startCommand, type Variables, waitUntil } from './processes.ts'

export interface RunningPebble extends AsyncDisposable {
  readonly directoryUrl: URL
  /** Of what it signs now: it makes a new one at each start. */
  readonly rootPem: string
  readonly tlsRootPem: string
  readonly tlsRootPath: string
  readonly accountKeyPem: string
  readonly accountKeyPath: string
  readonly hookPath: string
  /** Where it writes what it was called for, one call a line. */
  readonly hookLogPath: string
  readonly externalAccount: { readonly kid: string; readonly key: string } | undefined
  /** Those of a hub, but for who signs identities. */
  readonly environment: Variables
  stop(): Promise<void>
  start(): Promise<void>
}

export interface PebbleOptions {
  readonly hasExternalAccounts?: boolean
  /** Of each hundred requests, so many nonces are refused that were good. */
  readonly nonceRejectPercent?: number
}

const EXTERNAL = { kid: 'cartorio-1', key: Buffer.alloc(32, 'k').toString('base64url') }
const LIFE_MS = 24 * 3_600_000

/** Throws where Pebble is not there: ask ensurePebble() first and skip. */
export async function startPebble({
  hasExternalAccounts = false,
  nonceRejectPercent = 5,
}: PebbleOptions = {}): Promise<RunningPebble> {
  const programs = await ensurePebble()
  if (programs === undefined) throw new Error('Pebble is not installed, and there is no Go')
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'pebble-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const place = (name: string): string => join(directory, name)
  const tls = await createAuthority(LIFE_MS)
  const [port, managementPort, dnsPort, httpPort, toldPort] = await Promise.all(
    Array.from({ length: 5 }, findFreePort),
  )
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  await writeFile(place('tls.pem'), tls.serverCertPem)
  await writeFile(place('tls.key'), tls.serverKeyPem, { mode: 0o600 })
  await writeFile(place('tls-root.pem'), tls.rootPem)
  await writeFile(place('account.pem'), accountKeyPem, { mode: 0o600 })
  await writeFile(place('hook'), hookOf(`http://127.0.0.1:${toldPort}`, place('hook.log')), {
    mode: 0o755,
  })
  await writeFile(
    place('pebble.json'),
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${managementPort}`,
        certificate: place('tls.pem'),
        privateKey: place('tls.key'),
        httpPort,
        tlsPort: 1,
        retryAfter: { authz: 1, order: 1 },
        externalAccountBindingRequired: hasExternalAccounts,
        externalAccountMACKeys: { [EXTERNAL.kid]: EXTERNAL.key },
        profiles: { default: { description: 'a day', validityPeriod: 86_400 } },
      },
    }),
  )
  const dispatcher = new Agent({ connect: { ca: tls.rootPem }, allowH2: false })
  stack.defer(() => dispatcher.destroy())
  const told = startCommand(
    programs.challengeServer,
    [
      ['-defaultIPv4', '127.0.0.1'],
      ['-defaultIPv6', ''],
      ['-dnsserver', `127.0.0.1:${dnsPort}`],
      ['-http01', `127.0.0.1:${httpPort}`],
      ['-https01', ''],
      ['-tlsalpn01', ''],
      ['-doh', ''],
      ['-management', `127.0.0.1:${toldPort}`],
    ].flat(),
    {},
  )
  stack.defer(async () => {
    told.kill('SIGKILL')
    await told.ended
  })

  let running: RunningProgram | undefined
  let rootPem = ''
  const readRoot = async (): Promise<string | undefined> => {
    const url = `https://127.0.0.1:${managementPort}/roots/0`
    const reply = await request(url, { dispatcher }).catch(() => undefined)
    return reply?.statusCode === 200 ? reply.body.text() : undefined
  }
  const start = async (): Promise<void> => {
    const args = ['-config', place('pebble.json'), '-dnsserver', `127.0.0.1:${dnsPort}`]
    running = startCommand(programs.pebble, args, {
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(nonceRejectPercent),
    })
    rootPem = await waitUntil('Pebble to answer', async () => {
      if (running?.hasEnded() === true) throw new Error((await running.ended).stdout)
      return readRoot()
    })
  }
  const stop = async (): Promise<void> => {
    running?.kill('SIGKILL')
    await running?.ended
  }
  stack.defer(stop)
  await start()
  const kept = stack.move()
  const directoryUrl = new URL(`https://127.0.0.1:${port}/dir`)
  return {
    directoryUrl,
    get rootPem() {
      return rootPem
    },
    tlsRootPem: tls.rootPem,
    tlsRootPath: place('tls-root.pem'),
    accountKeyPem,
    accountKeyPath: place('account.pem'),
    hookPath: place('hook'),
    hookLogPath: place('hook.log'),
    externalAccount: hasExternalAccounts ? EXTERNAL : undefined,
    environment: {
      SVC_CA_KIND: 'acme',
      SVC_ACME_DIRECTORY: directoryUrl.href,
      SVC_ACME_ACCOUNT_KEY_FILE: place('account.pem'),
      SVC_ACME_HOOK: place('hook'),
      SVC_ACME_TLS_ROOT_PATH: place('tls-root.pem'),
      ...(hasExternalAccounts && {
        SVC_ACME_EAB_KID: EXTERNAL.kid,
        SVC_ACME_EAB_KEY: EXTERNAL.key,
      }),
    },
    stop,
    start,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** As one that an operator would write. */
function hookOf(api: string, logPath: string): string {
  return `#!/bin/sh
set -eu
tell() { curl --silent --show-error --fail --max-time 10 --data "$2" ${api}/$1; }
echo "$1 $SVC_ACME_TYPE $SVC_ACME_DOMAIN $(env | grep -c '^SVC_' )" >> ${logPath}
case "$1 $SVC_ACME_TYPE" in
  'present dns-01') tell set-txt "{\\"host\\":\\"$SVC_ACME_RECORD.\\",\\"value\\":\\"$SVC_ACME_CONTENT\\"}" ;;
  'cleanup dns-01') tell clear-txt "{\\"host\\":\\"$SVC_ACME_RECORD.\\"}" ;;
  'present http-01') tell add-http01 "{\\"token\\":\\"$SVC_ACME_TOKEN\\",\\"content\\":\\"$SVC_ACME_CONTENT\\"}" ;;
  'cleanup http-01') tell del-http01 "{\\"token\\":\\"$SVC_ACME_TOKEN\\"}" ;;
esac
`
}
