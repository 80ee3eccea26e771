// `svc-server --check`: what a start would find, and what a start cannot see at once, in seconds. docs/protocol.md BOOT-32.

import { systemClock } from '../platform/clock.ts'
import { becomeOwnerOf } from '../platform/become-owner.ts'
import { formatDurationMs } from '../platform/durations.ts'
import { describeError, SvcError } from '../platform/errors.ts'
import { SILENT_LOGGER } from '../platform/silent-logger.ts'
import { findUnknownVariables } from '../protocol/variable-names.ts'
import type { AcmeAuthority } from './ca/acme/acme-client.ts'
import { tryAcme } from './ca/acme/try-acme.ts'
import type { OpenBaoPki } from './ca/openbao/openbao-client.ts'
import { tryOpenBao } from './ca/openbao/try-openbao.ts'
import { tryAuthority, type TrialResult } from './ca/try-authority.ts'
import { type Finding, findNames, findPorts, findSecretFiles, findVault } from './check-places.ts'
import { type HubConfig, parseHubConfig } from './config.ts'
import type { AcmeConfig } from './ca-settings.ts'
import { acmeAuthority, openBaoPki } from './connect-to-ca.ts'
import { findDatabaseFaults } from './find-database-faults.ts'
import { openProvider } from './open-openid.ts'
import { createAddressLookup } from './outbound/address-lookup.ts'
import { callHub } from './standby/call-hub.ts'
import { standbyTls } from './standby/standby-tls.ts'
import type { UnsealedVault } from './vault/vault.ts'
import { readRootFile, readWebhookRoots } from './root-file.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The CA takes a token that begins a minute later by its clock, and one that ended five minutes ago by the hub's. */
const CLOCK_AHEAD_MS_MAX = 60_000
const CLOCK_BEHIND_MS_MAX = 300_000
const CLOCK_WARNING_MS = 30_000
const DATABASE_MS_MAX = 4000
const HUB_MS_MAX = 4000

/** Each finding as soon as it is there. As root it becomes the vault's owner for good. */
export async function* checkHub(env: Environment): AsyncGenerator<Finding> {
  let config: HubConfig
  try {
    config = parseHubConfig(env)
  } catch (error) {
    for (const message of describeError(error).split('\n')) {
      yield { check: 'settings', status: 'failed', message, variable: variableIn(message) }
    }
    return
  }
  for (const variable of findUnknownVariables(env)) {
    yield { check: 'settings', status: 'warning', message: 'no such setting', variable }
  }
  yield { check: 'settings', status: 'ok', message: 'every required setting is there' }
  yield* findSecretFiles(env)
  const failed = await tryTo('vault', 'SVC_VAULT_ROOT', async () => becomeOwnerOf(config.vaultRoot))
  if (failed !== undefined) yield failed
  const { findings, isHubRunning, copy } = await findVault(config)
  yield* findings
  if (copy !== undefined && !isHubRunning) yield* findHub(copy, config)
  yield* findPorts(config, isHubRunning)
  yield* findNames(config)
  yield* findDatabase(config)
  yield* findAuthority(config)
  yield* findProvider(config)
}

/** A start does not need it. */
async function* findProvider({ openid, consoleUrl }: HubConfig): AsyncGenerator<Finding> {
  if (openid === undefined) return
  const variable = 'SVC_OIDC_ISSUER'
  let why: string | undefined
  const unreadable = await tryTo('openid', 'SVC_OIDC_CA_PATH', async () => {
    const provider = await openProvider(openid, systemClock, createAddressLookup())
    const looked = await provider.look()
    if (!looked.ok) why = looked.reason
  })
  if (unreadable !== undefined) yield unreadable
  else if (why !== undefined) {
    yield { check: 'openid', status: 'warning', message: `${openid.issuer}: ${why}`, variable }
  } else yield { check: 'openid', status: 'ok', message: `${openid.issuer} answers` }
  if (consoleUrl === undefined) {
    const message = 'only svc login can use the OpenID provider: it cannot send browsers back'
    yield { check: 'openid', status: 'warning', message, variable: 'SVC_CONSOLE_URL' }
  }
}

/** As the standby that would start here. */
async function* findHub(
  { dataKey, vaultId }: UnsealedVault,
  { standbyOf: hub }: Pick<HubConfig, 'standbyOf'>,
): AsyncGenerator<Finding> {
  const variable = 'SVC_STANDBY_OF'
  if (hub === undefined) {
    const message = 'the vault is the copy of a standby: which hub is it of?'
    yield { check: 'standby', status: 'failed', message, variable }
    return
  }
  const failed = await tryTo('standby', variable, async () => {
    const tls = standbyTls(dataKey, vaultId, 'standby')
    const socket = await callHub({ hub, tls }, AbortSignal.timeout(HUB_MS_MAX))
    socket.destroy()
  })
  // Once started, it tries again until the hub is there.
  if (failed) yield { ...failed, status: 'warning', message: `${hub.origin}: ${failed.message}` }
  else yield { check: 'standby', status: 'ok', message: `${hub.origin} is the hub of this vault` }
}

async function* findDatabase({
  database,
  databaseReplication: replication,
}: HubConfig): AsyncGenerator<Finding> {
  if (database === undefined) return
  const { name, findings } = await findDatabaseFaults(database, {
    now: () => systemClock.now(),
    replication,
    signal: AbortSignal.timeout(DATABASE_MS_MAX),
  })
  for (const { fault, status, message } of findings) {
    const variable = fault === 'no_standby' ? 'SVC_DATABASE_REPLICATION' : 'SVC_DATABASE_URL'
    yield { check: 'database', status, message, variable }
  }
  if (findings.every(({ status }) => status !== 'failed')) {
    yield { check: 'database', status: 'ok', message: `${name} can have the hub’s journal` }
  }
}

async function* findAuthority(config: HubConfig): AsyncGenerator<Finding> {
  const { webhookCaPath, caRootPath } = config
  const webhooks = await tryTo('files', 'SVC_WEBHOOK_CA_PATH', () =>
    readWebhookRoots(webhookCaPath),
  )
  if (webhooks !== undefined) yield webhooks
  let rootPem = ''
  const unreadable = await tryTo('files', 'SVC_CA_ROOT_CA_PATH', async () => {
    const now = systemClock.now()
    const roots = await readRootFile(caRootPath)
    if (roots.every(({ notAfter, notBefore }) => notAfter <= now || notBefore > now)) {
      throw new Error(`no root in ${caRootPath} is valid now`)
    }
    rootPem = roots.map(({ pem }) => pem).join('')
  })
  if (unreadable !== undefined) {
    yield unreadable
    return
  }
  yield* tryCa(config, rootPem)
  if (config.acme !== undefined) yield* tryDeliveries(config.acme, rootPem)
}

async function* tryDeliveries(acme: AcmeConfig, rootPem: string): AsyncGenerator<Finding> {
  const variable = 'SVC_ACME_TLS_ROOT_PATH'
  let authority: AcmeAuthority | undefined
  const unreadable = await tryTo('files', variable, async () => {
    authority = await acmeAuthority(acme)
  })
  if (unreadable !== undefined) yield unreadable
  if (authority === undefined) return
  const { hookPath, directoryUrl } = acme
  const surroundings = { rootPem, clock: systemClock, logger: SILENT_LOGGER }
  const failure = await tryAcme({ ...authority, hookPath, ...surroundings })
  yield* judgeTrial(
    { failure, clockAheadMs: undefined },
    `${directoryUrl.href} has the hub’s account`,
  )
}

async function* tryCa({ ca, caUrl }: HubConfig, rootPem: string): AsyncGenerator<Finding> {
  if (ca.kind === 'step') {
    const clock = systemClock
    const trial = await tryAuthority({ ...ca, caUrl, rootPem, clock })
    yield* judgeTrial(trial, `${caUrl.href} takes the hub’s tokens`)
    return
  }
  const variable = 'SVC_CA_TLS_ROOT_PATH'
  let pki: OpenBaoPki | undefined
  const unreadable = await tryTo('files', variable, async () => {
    pki = await openBaoPki(ca, caUrl)
  })
  if (unreadable !== undefined) yield unreadable
  if (pki === undefined) return
  const trial = await tryOpenBao({ ...pki, rootPem, clock: systemClock })
  for (const message of trial.roleFaults) {
    yield { check: 'ca', status: 'warning', message, variable: 'SVC_OPENBAO_ROLE' }
  }
  const { clockAheadMs } = trial
  // Its tokens are no matter of the clock, and what it signs too early or too late is refused when it comes.
  if (clockAheadMs !== undefined && Math.abs(clockAheadMs) > CLOCK_WARNING_MS) {
    yield { ...judgeClock(clockAheadMs), status: 'warning' }
  }
  const taken = `${caUrl.href} takes the hub’s token for the role ${ca.role}`
  yield* judgeTrial({ ...trial, clockAheadMs: undefined }, taken)
}

function* judgeTrial({ failure, clockAheadMs }: TrialResult, taken: string): Generator<Finding> {
  if (clockAheadMs !== undefined) yield judgeClock(clockAheadMs)
  if (failure === undefined) {
    const message = `${taken}; it was asked for nothing that it would sign`
    yield { check: 'ca', status: 'ok', message }
  } else {
    const { message, variable } = failure
    yield { check: 'ca', status: 'failed', message, variable }
  }
}

function judgeClock(aheadMs: number): Finding {
  const by = formatDurationMs(Math.ceil(Math.abs(aheadMs) / 1000) * 1000)
  const message = `the hub’s clock is ${by} ${aheadMs < 0 ? 'behind' : 'ahead of'} the clock of the CA`
  if (aheadMs > CLOCK_AHEAD_MS_MAX || -aheadMs > CLOCK_BEHIND_MS_MAX) {
    return { check: 'clock', status: 'failed', message: `${message}: the CA refuses its tokens` }
  }
  const isNear = Math.abs(aheadMs) <= CLOCK_WARNING_MS
  return isNear
    ? { check: 'clock', status: 'ok', message: 'hub and CA agree on the time' }
    : { check: 'clock', status: 'warning', message }
}

/** What it finds when the work fails. */
async function tryTo(
  check: Finding['check'],
  variable: string,
  work: () => Promise<unknown>,
): Promise<Finding | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const hint = error instanceof SvcError && error.hint !== undefined ? ` (${error.hint})` : ''
    return { check, status: 'failed', message: `${error.message}${hint}`, variable }
  }
}

function variableIn(message: string): string | undefined {
  return /\bSVC_[A-Z_]+/.exec(message)?.[0]
}
