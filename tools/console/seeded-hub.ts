// A hub from its source whose vault holds a fleet in trouble, with a CA of its own, all in this process: for people, and for pictures.

import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillTroubledVault } from '../../fleet/troubled-vault.ts'
import type { TroubledOptions } from '../../fleet/troubled-plan.ts'
import { createCaDirectory, loadCaDirectory } from '../../src/dev-ca/ca-directory.ts'
import { hubSettingsOf } from '../../src/dev-ca/hub-settings.ts'
import { serveDevCa } from '../../src/dev-ca/serve.ts'
import { bootHub } from '../../src/hub/boot.ts'
import { parseHubConfig } from '../../src/hub/config.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { UserError } from '../../src/platform/errors.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import { parseLogFilter } from '../../src/platform/log-filter.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminReplies, AdminRequest } from '../../src/protocol/admin/operations.ts'
import { SIGN_IN_PATH } from '../../src/protocol/admin/sessions.ts'
import { initCheapVault } from '../../test/support/cheap-vault.ts'
import { callAdmin } from '../../test/support/hub.ts'

/** The vault holds nothing that anybody needs. */
const PASSPHRASE = 'seeded and thrown away'
const CA_LIFE_MS = 24 * 3_600_000

export interface SeededHubOptions extends Omit<TroubledOptions, 'now' | 'rootSha256'> {
  /** Of the admin port; one that is free. */
  readonly port: number
  /** Kept, and used as it is when it is there; without it the vault is thrown away. */
  readonly keptDirectory?: string | undefined
  readonly clock: Clock
  progress(this: void, text: string): void
}

export interface SeededHub extends AsyncDisposable {
  readonly url: string
  readonly directory: string
  readonly rootPath: string
  readonly logPath: string
  /** A link that signs in once. */
  makeLink(request: AdminRequest<'createSignInLink'>): Promise<string>
}

export async function startSeededHub(options: SeededHubOptions): Promise<SeededHub> {
  const { keptDirectory, clock, port, progress } = options
  await using opened = new AsyncDisposableStack()
  const directory = keptDirectory ?? mkdtempSync(join(tmpdir(), 'cartorio-console-'))
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (keptDirectory === undefined) opened.defer(() => rm(directory, { recursive: true }))

  const logPath = join(directory, 'hub.log')
  const log = createWriteStream(logPath, { mode: 0o600 })
  opened.defer(() => void log.end())
  const filter = parseLogFilter('info')
  if (filter === undefined) throw new UserError('console', 'info is a filter')
  const logging = createLogging({ filter, format: 'json', destination: log })

  const ca = await startCa(join(directory, 'ca'), clock)
  opened.defer(() => ca.stop())
  const vaultRoot = join(directory, 'vault')
  if (!existsSync(vaultRoot)) {
    const vault = await initCheapVault(vaultRoot, new Secret(PASSPHRASE))
    const [root] = parseCertificatesPem(readFileSync(ca.variables.SVC_CA_ROOT_CA_PATH, 'utf8'))
    const rootSha256 = root?.sha256 ?? ''
    await fillTroubledVault(vault, { ...options, now: clock.now(), rootSha256 }, progress)
  }
  const config = parseHubConfig({
    ...ca.variables,
    SVC_VAULT_ROOT: vaultRoot,
    SVC_MASTER_PASSPHRASE: PASSPHRASE,
    SVC_SERVER_CN: 'localhost',
    SVC_HEALTH_BIND: '127.0.0.1:0',
    SVC_ENROLL_BIND: '127.0.0.1:0',
    SVC_ENROLL_TLS_BIND: 'off',
    SVC_MTLS_BIND: '127.0.0.1:0',
    SVC_METRICS_BIND: 'off',
    SVC_ADMIN_BIND: `127.0.0.1:${port}`,
  })
  const stopping = new AbortController()
  const hub = await bootHub(config, logging, stopping.signal, clock)
  opened.defer(() => hub.close())
  const kept = opened.move()
  const socketPath = join(vaultRoot, 'admin.sock')
  const url = `https://localhost:${port}`
  return {
    url,
    directory,
    logPath,
    rootPath: ca.variables.SVC_CA_ROOT_CA_PATH,
    makeLink: async (request) => {
      const ask = <Reply>(
        method: 'GET' | 'POST',
        path: string,
        body: object = {},
      ): Promise<Reply> => callAdmin<Reply>(socketPath, method, path, body)
      if (request.role !== undefined) {
        // A vault that was used before has the token of that time.
        const listed = await ask<AdminReplies['listAccessTokens']>('GET', '/v1/admin/admin-tokens')
        const old = listed.admin_tokens.filter(({ name }) => name === request.name)
        for (const { id } of old) await ask('POST', '/v1/admin/admin-tokens/revoke', { token: id })
      }
      const { code } = await ask<AdminReplies['createSignInLink']>(
        'POST',
        '/v1/admin/sign-in-links',
        request,
      )
      return `${url}${SIGN_IN_PATH}#code=${code}`
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function startCa(directory: string, clock: Clock) {
  if (!existsSync(directory)) {
    await createCaDirectory(
      directory,
      {
        name: 'Cartorio Seeded',
        provisionerName: 'cartorio',
        dnsNames: ['localhost', '127.0.0.1'],
        listen: '127.0.0.1:0',
        certDurationMs: CA_LIFE_MS,
      },
      clock,
    )
  }
  const logger = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('ca')
  const stopping = new AbortController()
  const { signal } = stopping
  const served = await serveDevCa({
    directory,
    listen: undefined,
    clock,
    serverClock: systemClock,
    logger,
    signal,
  })
  const settings = hubSettingsOf(directory, await loadCaDirectory(directory))
  return {
    variables: { ...settings, SVC_CA_URL: served.url },
    stop: () => {
      stopping.abort()
      return served.ended
    },
  }
}
