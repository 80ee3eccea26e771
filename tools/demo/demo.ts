// `npm run demo`: the main job on real input. A CA, a hub with a new vault, a token, an enrolled agent that runs as a
// daemon, a csr_cert delivery installed, its hook run, a sealed secret opened, a file pushed, their events in the verified
// audit log.

import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError, invariant } from '../../src/platform/errors.ts'
import { reportFailure } from '../../src/platform/program.ts'
import { readVersion } from '../../src/platform/version.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import { findIssuedCertificateFault } from '../../src/pki/issued-certificate.ts'
import { parsePrivateKeyPem } from '../../src/pki/keys.ts'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { type Variables, waitUntil } from '../../test/support/processes.ts'
import { parseTestStore, type TestStore } from '../../test/support/test-store.ts'
import { packConsole } from '../build/console-bundle.ts'
import { placeConsole } from '../build/place-console.ts'
import { parseCommandOptions } from '../command-options.ts'
import { startDemoCa } from './demo-ca.ts'
import { startDemoStore } from './demo-store.ts'
import { deliverSecret, type Place, pushFile, PUSH_NAME, SECRET_NAME } from './files.ts'
import { ask, type Daemon, runCommand, startDaemon, waitForLogLine } from './processes.ts'
import { say, step } from './screen.ts'

const HOSTNAME = 'web-01.demo'
const DELIVERY_NAME = 'site'

interface Options {
  readonly keep: boolean
  readonly ca: 'svc-ca' | 'step-ca'
  readonly store: TestStore
}

const HELP = readFileSync(new URL('help.txt', import.meta.url), 'utf8')

const daemons: Daemon[] = []
let directory = ''
/** Besides that one. */
const directories: string[] = []

try {
  const options = parseOptions(process.argv.slice(2))
  if (options !== undefined) {
    directory = mkdtempSync(join(tmpdir(), 'cartorio-demo-'))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => void cleanUp().then(() => process.exit(1)))
    }
    await runDemo(options)
    if (!options.keep) await cleanUp()
  }
} catch (error) {
  reportFailure('demo', error)
  for (const { program, logPath } of daemons) {
    process.stderr.write(`\n--- ${program}, the end of its log\n${tailOf(logPath)}`)
  }
  await cleanUp()
  process.exitCode = 1
}

async function runDemo(options: Options): Promise<void> {
  const startedAt = performance.now()
  say(
    `Cartorio ${readVersion()}: the main job, on real processes, sockets and files in ${directory}\n`,
  )

  const ca = await step(`a CA (${options.ca})`, () => startDemoCa(options.ca, directory, daemons))
  const store = await startDemoStore(options.store, { logs: directory, daemons, directories })
  const hub: Variables = {
    ...ca.variables,
    ...store,
    SVC_VAULT_ROOT: join(directory, 'vault'),
    SVC_MASTER_PASSPHRASE_FILE: writePrivate('passphrase', randomBytes(24).toString('base64url')),
    SVC_SERVER_CN: 'localhost',
    SVC_HEALTH_BIND: '127.0.0.1:0',
    SVC_ENROLL_BIND: '127.0.0.1:0',
    SVC_ENROLL_TLS_BIND: '127.0.0.1:0',
    SVC_MTLS_BIND: '127.0.0.1:0',
    SVC_ADMIN_BIND: '127.0.0.1:0',
  }
  await step('a new vault: svc init', () => runCommand('svc', ['init'], hub))
  if (options.keep) await step('the console, built', buildConsole)
  const ports = await step('the hub: svc-server', () => startHub(hub))

  const token = await step('a one-time token: svc token create', () =>
    ask<AdminReplies['createToken']>(
      hub,
      'token',
      'create',
      '--hostname',
      HOSTNAME,
      '--role',
      'web',
    ),
  )
  const agent: Variables = {
    SVC_SERVER_URL: `http://127.0.0.1:${ports.enroll}`,
    SVC_SERVER_MTLS_URL: `https://localhost:${ports.mtls}`,
    SVC_AGENT_DATA_DIR: join(directory, 'agent'),
    SVC_AGENT_HOSTNAME: HOSTNAME,
    SVC_AGENT_ROLE: 'web',
    // What is delivered comes because the stream says so.
    SVC_AGENT_POLL_INTERVAL: '1h',
  }
  await step('the agent enrols: svc-agent enroll', () =>
    runCommand('svc-agent', ['enroll'], { ...agent, SVC_ENROLL_TOKEN: token.token }),
  )
  const hookTrace = installHook(agent)
  await step('the agent runs as a daemon: svc-agent run', async () => {
    const daemon = startDaemon('svc-agent', ['run'], agent, join(directory, 'svc-agent.log'))
    daemons.push(daemon)
    await waitForLogLine(daemon, 'Stream up')
  })

  await step(`a delivery for it: svc load create --name ${DELIVERY_NAME}`, () =>
    ask(hub, 'carga', 'create', '--type', 'csr_cert', '--name', DELIVERY_NAME, '--agent', HOSTNAME),
  )
  const out = join(agent['SVC_AGENT_DATA_DIR'] ?? '', 'out')
  await step('certificate and key installed, hook run', async () => {
    await waitUntil('the hook', () => (existsSync(hookTrace) ? true : undefined))
  })
  const serial = await step('the certificate on disk leads to the CA\u2019s root', async () =>
    checkInstalledPair(out, ca.variables['SVC_CA_ROOT_CA_PATH'] ?? ''),
  )
  const place: Place = { directory, hostname: HOSTNAME, hub, agent, out }
  const secret = await deliverSecret(place)
  const pushed = await pushFile(place)
  const count = await step('all of it is in the audit log, and the hash chain holds', () =>
    waitUntil('the events of the three', () => checkAuditLog(hub, serial)),
  )

  say(`
Done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s:
  certificate  ${join(out, `${DELIVERY_NAME}.crt`)}
  its key      ${join(out, `${DELIVERY_NAME}.key`)} (0600)
  serial       ${serial}
  hook         ran once: ${readFileSync(hookTrace, 'utf8').trim()}
  secret       ${secret.path} (${secret.mode}), in the clear nowhere else but on the laptop
  pushed       ${pushed.path} (${pushed.mode}), there ${pushed.tookMs} ms after the hub had it
  audit log    ${count} entries, hash chain verified`)
  if (options.keep) sayWhatRuns({ hub, agent, ports, link: await makeLink(hub, ports) })
  else
    say('All of it is taken away again now; npm run demo -- --keep leaves it there, and running.')
}

/** The hub of the demo runs from its source, and serves what is beside that. */
async function buildConsole(): Promise<void> {
  await placeConsole(await packConsole())
}

interface HubPorts {
  readonly health: number
  readonly enroll: number
  readonly mtls: number
  readonly admin: number
}

/** Of the console, which works once. */
async function makeLink(hub: Variables, { admin }: HubPorts): Promise<string> {
  const { link } = await ask<{ readonly link: string }>(
    hub,
    'console',
    'link',
    '--name',
    'demo',
    '--role',
    'admin',
    '--valid-for',
    '10m',
    '--url',
    `https://localhost:${admin}`,
  )
  return link
}

async function startHub(variables: Variables): Promise<HubPorts> {
  const hub = startDaemon('svc-server', [], variables, join(directory, 'svc-server.log'))
  daemons.push(hub)
  const portOf = async (message: string): Promise<number> =>
    Number((await waitForLogLine(hub, message))['port'])
  const ports = {
    health: await portOf('health listening'),
    enroll: await portOf('enroll listening'),
    mtls: await portOf('mtls listening'),
    admin: await portOf('admin listening'),
  }
  const health = await fetch(`http://127.0.0.1:${ports.health}/health`)
  const { status } = (await health.json()) as { status: string }
  invariant(status === 'ok', 'the hub says that it is well')
  return ports
}

function installHook(agent: Variables): string {
  const hooks = join(agent['SVC_AGENT_DATA_DIR'] ?? '', 'hooks')
  const trace = join(directory, 'hook-ran')
  mkdirSync(hooks, { recursive: true, mode: 0o755 })
  const hook = join(hooks, 'post-csr-cert')
  writeFileSync(hook, `#!/bin/sh\necho "$SVC_EVENT $SVC_NOME $SVC_SERIAL" >> '${trace}'\n`)
  chmodSync(hook, 0o755)
  return trace
}

/** Answers the serial of a certificate that matches its key and is signed, through its chain, by the root. */
function checkInstalledPair(out: string, rootPath: string): string {
  const chain = parseCertificatesPem(readFileSync(join(out, `${DELIVERY_NAME}.crt`), 'utf8'))
  const key = parsePrivateKeyPem(readFileSync(join(out, `${DELIVERY_NAME}.key`), 'utf8'))
  const fault = findIssuedCertificateFault(chain, {
    publicKeySpki: key.publicKeySpki,
    commonName: HOSTNAME,
    sans: [HOSTNAME],
    roots: parseCertificatesPem(readFileSync(rootPath, 'utf8')),
    now: new Date(),
    clockSkewMsMax: 60_000,
  })
  if (fault !== undefined)
    throw new UserError('demo', `the installed certificate is wrong: ${fault}`)
  return chain[0]?.serial ?? ''
}

/** How many entries there are; undefined as long as something has not been reported. */
async function checkAuditLog(variables: Variables, serial: string): Promise<number | undefined> {
  const log = await ask<AdminReplies['listEntries'] & { ok: boolean; count: number }>(
    variables,
    'evento',
    'list',
    '--verify',
  )
  if (!log.ok) throw new UserError('demo', 'the hash chain does not hold')
  const has = (type: string, test: (payload: Record<string, unknown>) => boolean): boolean =>
    log.eventos.some(({ tipo_evento: eventType, payload }) => eventType === type && test(payload))
  if (!has('certificate_issued', (payload) => payload['serial'] === serial)) {
    throw new UserError('demo', `the issue of ${serial} is not in the audit log`)
  }
  const isReported =
    has('entrega_instalada', (payload) => payload['carga_nome'] === DELIVERY_NAME) &&
    [SECRET_NAME, PUSH_NAME].every((name) =>
      has('entrega_entregue', (payload) => payload['carga_nome'] === name),
    )
  return isReported ? log.count : undefined
}

interface WhatRuns {
  readonly hub: Variables
  readonly agent: Variables
  readonly ports: HubPorts
  readonly link: string
}

function sayWhatRuns({ hub, agent, ports, link }: WhatRuns): void {
  const exports = (variables: Variables): string =>
    writePrivate(
      variables === hub ? 'hub.env' : 'agent.env',
      Object.entries(variables)
        .map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`)
        .join(''),
    )
  const bin = join(import.meta.dirname, '../../bin')
  say(`
Left running: ${daemons.map(({ program, pid }) => `${program} (pid ${pid})`).join(', ')}
  health       http://127.0.0.1:${ports.health}/health
  enroll       http://127.0.0.1:${ports.enroll}/v1/enroll
  mutual TLS   https://localhost:${ports.mtls}
  console      https://localhost:${ports.admin}/console/
  sign in      ${link}
               (works once, for ten minutes; the page's certificate is of the CA of ${hub['SVC_CA_ROOT_CA_PATH'] ?? ''})
  logs         ${directory}/*.log

Try, in this directory:
  . ${exports(hub)}; . ${exports(agent)}; PATH=${bin}:$PATH
  svc agent list
  svc event list --verify
  svc-agent identity
  svc-agent rotate
  svc load create --type csr_cert --name second --agent ${HOSTNAME}; sleep 2; ls -l ${agent['SVC_AGENT_DATA_DIR']}/out

Stop and remove it:
  kill ${daemons.map(({ pid }) => pid).join(' ')}; rm -r ${[directory, ...directories].join(' ')}`)
}

function writePrivate(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content, { mode: 0o600 })
  return path
}

async function cleanUp(): Promise<void> {
  for (const daemon of daemons.splice(0).reverse()) await daemon.stop()
  for (const path of [directory, ...directories.splice(0)]) {
    if (path !== '') rmSync(path, { recursive: true, force: true })
  }
}

function tailOf(path: string): string {
  return existsSync(path)
    ? `${readFileSync(path, 'utf8').trim().split('\n').slice(-20).join('\n')}\n`
    : ''
}

/** Undefined when help was all that was asked for. */
function parseOptions(args: readonly string[]): Options | undefined {
  const options = {
    keep: { type: 'boolean', default: false },
    ca: { type: 'string', default: 'svc-ca' },
    store: { type: 'string' },
  } as const
  const values = parseCommandOptions({ name: 'demo', args, options, help: HELP })
  if (values === undefined) return undefined
  const { keep, ca } = values
  const store = parseTestStore(values.store)
  if (ca === 'svc-ca' || ca === 'step-ca') return { keep, ca, store }
  throw new UserError('usage', `no CA named ${ca}`, { hint: 'npm run demo -- --help' })
}
