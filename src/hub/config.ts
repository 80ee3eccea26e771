// What the hub is told by its environment, read once at boot.

import { isIP } from 'node:net'
import { type BindAddress, readBindAddress } from '../platform/bind-address.ts'
import { UserError } from '../platform/errors.ts'
import { parseDurationMs } from '../platform/durations.ts'
import type { Secret } from '../platform/secret.ts'
import { parseHostname, type Hostname } from '../protocol/identifiers.ts'
import {
  type AcmeConfig,
  type AcmeSettings,
  type CaConfig,
  type CaSettings,
  findCaKinds,
  findMissingLogin,
  parseAcmeSettings,
  parseCaSettings,
  readAcmeConfig,
  readCaConfig,
} from './ca-settings.ts'
import { ARCHIVE_AGE_MIN_MS } from './domain/log-archive.ts'
import type { RelyingParty } from './domain/passkey.ts'
import type { IdentityMatch } from './domain/decide-authentication.ts'
import { parseTrustedProxies, type IsTrustedProxy } from './http/connections/trusted-proxies.ts'
import type { HubLimits } from '../protocol/hub-limits.ts'
import { readDatabaseServers } from './database-settings.ts'
import { HUB_VARIABLES, isReadBy } from './hub-variables.ts'
import { parseHubLimits } from './limits.ts'
import {
  parseProviderSettings,
  type ProviderConfig,
  type ProviderSettings,
  readProviderConfig,
} from './openid-settings.ts'
import { findPassphraseFaults } from './passphrase-faults.ts'
import { isSecretSet, readSecret } from './read-secret.ts'
import type { DatabaseReplication } from './store/postgres/judge-database.ts'
import type { DatabaseServers } from './store/postgres/writable-connection.ts'
import type { StandbyMode } from '../protocol/standby.ts'
import { isSubjectAltName } from './domain/subject-alt-name.ts'

const METRICS_CERTIFICATES_MAX = 100_000

type Environment = Readonly<Record<string, string | undefined>>

export interface HubConfig {
  readonly vaultRoot: string
  readonly caUrl: URL
  /** Who signs identities, and all else where there is no ACME CA. */
  readonly ca: CaConfig
  /** Who signs what is delivered; undefined where `ca` does. */
  readonly acme: AcmeConfig | undefined
  readonly caRootPath: string
  readonly serverCommonName: Hostname
  /** All names of the hub: its CN first, then the others. */
  readonly serverNames: readonly string[]
  readonly healthBind: BindAddress
  readonly enrollBind: BindAddress
  /** Undefined when enrolment is served without TLS only. */
  readonly enrollTlsBind: BindAddress | undefined
  /** Where hosts enrol, if somebody said so. */
  readonly publicUrl: URL | undefined
  /** Whether somebody named the hub, or it has the name of every hub that nobody named. */
  readonly isNamed: boolean
  readonly mtlsBind: BindAddress
  /** Undefined when there is to be no admin port. */
  readonly adminBind: BindAddress | undefined
  /** Whether the admin port serves the console. */
  readonly isConsoleServed: boolean
  /** Whether the console may seal, though the hub serves it. */
  readonly isConsoleSealing: boolean
  /** Undefined where metrics are off. */
  readonly metricsBind: MetricsBind | undefined
  readonly metricsCertificates: number
  readonly renewalThresholdMs: number
  readonly identityMatch: IdentityMatch
  readonly recoveryGraceMs: number
  /** The most that a sealed file may hold. */
  readonly contentBytesMax: number
  readonly limits: HubLimits
  readonly isTrustedProxy: IsTrustedProxy
  readonly webhookCaPath: string | undefined
  /** Where people reach the console, without a slash at its end. */
  readonly consoleUrl: string | undefined
  /** By whom people sign in; undefined where only tokens and links do. */
  readonly openid: ProviderConfig | undefined
  /** The name that passkeys of sessions are for; undefined where the hub asks for none. */
  readonly confirmationParty: RelyingParty | undefined
  /** What the hub shows to syslog receivers that ask who it is. */
  readonly syslogPair: { readonly certificatePath: string; readonly keyPath: string } | undefined
  /** Undefined when the hub makes no backups by itself. */
  readonly backupSchedule: BackupSchedule | undefined
  /** A directory outside the vault for the newest checkpoint of its log. */
  readonly checkpointDirectory: string | undefined
  /** A directory outside the vault for segments of its log. */
  readonly archiveDirectory: string | undefined
  readonly databaseReplication: DatabaseReplication
  /** The machine that keeps a copy, and what happens without it. */
  /** Where its standby connects, and what the hub does without it. */
  readonly standby: { readonly bind: BindAddress; readonly mode: StandbyMode } | undefined
  /** The machine that is the hub, or was it before this one. */
  readonly standbyOf: URL | undefined
  /** Older entries of the log are archived; undefined when the hub archives nothing by itself. */
  readonly logKeepMs: number | undefined
  readonly passphrase: Secret<string>
  /** Why it is a weak one. */
  readonly passphraseFaults: readonly string[]
  /** Undefined where the vault is this hub's alone. */
  readonly database: DatabaseServers | undefined
}

export interface BackupSchedule {
  readonly directory: string
  readonly intervalMs: number
  readonly keep: number
}

/** What `svc` needs of the same table when it opens the vault itself. */
export type HubNaming = Pick<
  HubConfig,
  | 'vaultRoot'
  | 'checkpointDirectory'
  | 'archiveDirectory'
  | 'serverNames'
  | 'isNamed'
  | 'enrollBind'
  | 'enrollTlsBind'
  | 'publicUrl'
  | 'mtlsBind'
  | 'contentBytesMax'
  | 'renewalThresholdMs'
>

export interface MetricsBind {
  readonly address: BindAddress
  /** Nobody asked for this address: a hub starts without metrics when another program has it. */
  readonly isDefault: boolean
}

/** All but the secrets. */
export type HubSettings = Omit<
  HubConfig,
  'passphrase' | 'passphraseFaults' | 'ca' | 'acme' | 'openid' | 'database'
> & {
  readonly ca: CaSettings
  readonly acme: AcmeSettings | undefined
  readonly openid: ProviderSettings | undefined
}

/** Throws a UserError that names every missing variable, one a line, in the table's order. */
export function parseHubConfig(env: Environment): HubConfig {
  const missing = findMissing(env)
  if (missing.length > 0) {
    throw new UserError('config_missing', missing.map((name) => `${name} required`).join('\n'), {
      hint: 'svc-server --help lists all variables',
    })
  }
  const passphrase = readSecret(env, 'SVC_MASTER_PASSPHRASE')
  const settings = parseHubSettings(env)
  return {
    ...settings,
    passphrase,
    passphraseFaults: findPassphraseFaults(passphrase, env).map(({ message }) => message),
    ca: readCaConfig(env, settings.ca),
    acme: readAcmeConfig(env, settings.acme),
    openid: readProviderConfig(env, settings.openid),
    database: readDatabaseServers(env),
  }
}

/** In the table's order. */
export function findMissing(env: Environment): string[] {
  const kinds = findCaKinds(env)
  const missing = HUB_VARIABLES.filter(
    ({ name, required, kind, isSecret }) =>
      required &&
      isReadBy({ kind }, kinds) &&
      !(isSecret === true ? isSecretSet(env, name) : isSet(env, name)),
  ).map(({ name }) => name)
  return [...missing, ...findMissingLogin(env)]
}

/** Reads no file. Every required variable is there. */
export function parseHubSettings(env: Environment): HubSettings {
  return {
    ...parseHubNaming(env),
    ...parseStandby(env),
    caUrl: parseHttpsUrl('SVC_CA_URL', valueOf(env, 'SVC_CA_URL')),
    ca: parseCaSettings(env, (name) => valueOf(env, name)),
    acme: parseAcmeSettings(env, (name) => valueOf(env, name)),
    caRootPath: valueOf(env, 'SVC_CA_ROOT_CA_PATH'),
    serverCommonName: parseServerCommonName(env),
    healthBind: parseBindAddress('SVC_HEALTH_BIND', valueOf(env, 'SVC_HEALTH_BIND')),
    adminBind: parseAdminBind(valueOf(env, 'SVC_ADMIN_BIND')),
    isConsoleServed: parseSwitch('SVC_CONSOLE', valueOf(env, 'SVC_CONSOLE')),
    isConsoleSealing: parseSwitch('SVC_CONSOLE_SEALING', valueOf(env, 'SVC_CONSOLE_SEALING')),
    metricsBind: parseMetricsBind(env),
    metricsCertificates: parseCount('SVC_METRICS_CERTIFICATES', env, METRICS_CERTIFICATES_MAX),
    identityMatch: parseIdentityMatch(valueOf(env, 'SVC_IDENTITY_MATCH')),
    recoveryGraceMs: parseDuration('SVC_RECOVERY_GRACE', valueOf(env, 'SVC_RECOVERY_GRACE')),
    limits: parseHubLimits(env),
    isTrustedProxy: parseProxies(valueOf(env, 'SVC_TRUSTED_PROXIES')),
    webhookCaPath: isSet(env, 'SVC_WEBHOOK_CA_PATH') ? env['SVC_WEBHOOK_CA_PATH'] : undefined,
    consoleUrl: parseConsoleUrl(env),
    openid: parseProviderSettings(env, (name) => valueOf(env, name)),
    confirmationParty: parseConfirmationParty(env),
    syslogPair: parseSyslogPair(env),
    backupSchedule: parseBackupSchedule(env),
    logKeepMs: parseLogKeep(env),
    databaseReplication: parseDatabaseReplication(env),
  }
}

/** Whatever else the settings say. */
export function vaultRootOf(env: Environment): string {
  return valueOf(env, 'SVC_VAULT_ROOT')
}

export function parseHubNaming(env: Environment): HubNaming {
  const names = valueOf(env, 'SVC_SERVER_SANS')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const bad = names.find((name) => !isSubjectAltName(name))
  if (bad !== undefined) {
    throw invalid('SVC_SERVER_SANS', `${bad} is neither a DNS name nor an IP address`)
  }
  return {
    vaultRoot: valueOf(env, 'SVC_VAULT_ROOT'),
    checkpointDirectory: isSet(env, 'SVC_CHECKPOINT_PATH') ? env['SVC_CHECKPOINT_PATH'] : undefined,
    archiveDirectory: isSet(env, 'SVC_LOG_ARCHIVE_DIR') ? env['SVC_LOG_ARCHIVE_DIR'] : undefined,
    serverNames: [...new Set([parseServerCommonName(env), ...names])],
    isNamed: isSet(env, 'SVC_SERVER_CN'),
    enrollBind: parseBindAddress('SVC_ENROLL_BIND', valueOf(env, 'SVC_ENROLL_BIND')),
    enrollTlsBind: parseEnrollTlsBind(env),
    publicUrl: parsePublicUrl(env),
    mtlsBind: parseBindAddress('SVC_MTLS_BIND', valueOf(env, 'SVC_MTLS_BIND')),
    contentBytesMax: parseContentBytes(valueOf(env, 'SVC_BLOB_MAX')),
    renewalThresholdMs: parseDuration(
      'SVC_RENEWAL_THRESHOLD',
      valueOf(env, 'SVC_RENEWAL_THRESHOLD'),
    ),
  }
}

function isSet(env: Environment, name: string): boolean {
  return (env[name] ?? '') !== ''
}

function valueOf(env: Environment, name: string): string {
  const value = env[name]
  if (value !== undefined && value !== '') return value
  return HUB_VARIABLES.find((variable) => variable.name === name)?.default ?? ''
}

function invalid(name: string, why: string): UserError {
  return new UserError('config_invalid', `${name}: ${why}`)
}

function parseServerCommonName(env: Environment): Hostname {
  const text = valueOf(env, 'SVC_SERVER_CN')
  const hostname = parseHostname(text)
  if (hostname === undefined)
    throw invalid('SVC_SERVER_CN', `${text} is not a lower-case host name`)
  return hostname
}

function parseHttpsUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:') throw invalid(name, `${text} is not an https URL`)
  return url
}

/** Unlike the other variables this one may be set to nothing. docs/protocol.md ENV-40. */
function parseEnrollTlsBind(env: Environment): BindAddress | undefined {
  const name = 'SVC_ENROLL_TLS_BIND'
  if (env[name]?.trim() === '' || env[name] === 'off') return undefined
  return parseBindAddress(name, valueOf(env, name))
}

function parsePublicUrl(env: Environment): URL | undefined {
  const name = 'SVC_PUBLIC_URL'
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const url = parseHttpsUrl(name, text)
  if (`${url.username}${url.password}${url.search}${url.hash}` === '') return url
  throw invalid(name, `${text} has credentials, a query or a fragment`)
}

function parseAdminBind(text: string): BindAddress | undefined {
  return text === 'off' ? undefined : parseBindAddress('SVC_ADMIN_BIND', text)
}

function parseSwitch(name: string, text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on'
  throw invalid(name, `${text} is neither on nor off`)
}

function parseBindAddress(name: string, text: string): BindAddress {
  const address = readBindAddress(text)
  if (address !== undefined) return address
  throw invalid(name, `${text} is not an address and port such as 0.0.0.0:8443`)
}

function parseMetricsBind(env: Environment): MetricsBind | undefined {
  const name = 'SVC_METRICS_BIND'
  const text = valueOf(env, name)
  if (text === 'off') return undefined
  return { address: parseBindAddress(name, text), isDefault: !isSet(env, name) }
}

function parseCount(name: string, env: Environment, max: number): number {
  const text = valueOf(env, name)
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text)
  throw invalid(name, `${text} is not a number from 0 to ${max}`)
}

function parseLogKeep(env: Environment): number | undefined {
  const name = 'SVC_LOG_KEEP'
  if (!isSet(env, name)) return undefined
  const keepMs = parseDuration(name, valueOf(env, name))
  if (keepMs < ARCHIVE_AGE_MIN_MS) throw invalid(name, 'entries stay for 30d at least')
  if (isSet(env, 'SVC_LOG_ARCHIVE_DIR')) return keepMs
  throw invalid(name, 'SVC_LOG_ARCHIVE_DIR says where to')
}

function parseDatabaseReplication(env: Environment): DatabaseReplication {
  const name = 'SVC_DATABASE_REPLICATION'
  const text = valueOf(env, name)
  if (text === 'standby' || text === 'engine') return text
  throw invalid(name, `${text} is neither standby nor engine`)
}

const BACKUP_INTERVAL_MIN_MS = 60_000
const BACKUPS_MAX = 10_000

function parseBackupSchedule(env: Environment): BackupSchedule | undefined {
  const name = 'SVC_BACKUP_INTERVAL'
  const intervalMs = parseDuration(name, valueOf(env, name))
  if (intervalMs < BACKUP_INTERVAL_MIN_MS) throw invalid(name, 'the shortest interval is 1m')
  const keep = parseCount('SVC_BACKUP_KEEP', env, BACKUPS_MAX)
  if (keep === 0) throw invalid('SVC_BACKUP_KEEP', 'at least 1 backup stays')
  const directory = valueOf(env, 'SVC_BACKUP_DIR')
  return directory === '' ? undefined : { directory, intervalMs, keep }
}

function parseConsoleUrl(env: Environment): string | undefined {
  const name = 'SVC_CONSOLE_URL'
  if (!isSet(env, name)) return undefined
  const url = parseHttpsUrl(name, valueOf(env, name))
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw invalid(name, 'it is no more than https, a name, a port and a path')
  }
  return url.href.replace(/\/+$/, '')
}

/** A passkey is made for a name, and browsers take no address for one. */
function parseConfirmationParty(env: Environment): RelyingParty | undefined {
  const name = 'SVC_CONSOLE_CONFIRM'
  const text = valueOf(env, name)
  if (text === 'off') return undefined
  if (text !== 'passkey') throw invalid(name, `${text} is neither off nor passkey`)
  const consoleUrl = parseConsoleUrl(env)
  if (consoleUrl === undefined) {
    throw invalid(name, 'SVC_CONSOLE_URL has to say by which name browsers reach the console')
  }
  const { hostname, origin } = new URL(consoleUrl)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return { id: hostname, origin }
  throw invalid('SVC_CONSOLE_URL', `no browser makes a passkey for ${hostname}: it takes a name`)
}

function parseSyslogPair(env: Environment): HubConfig['syslogPair'] {
  const certificatePath = valueOf(env, 'SVC_SYSLOG_CERT_PATH')
  const keyPath = valueOf(env, 'SVC_SYSLOG_KEY_PATH')
  if (certificatePath !== '' && keyPath !== '') return { certificatePath, keyPath }
  if (certificatePath === keyPath) return undefined
  const missing = keyPath === '' ? 'SVC_SYSLOG_KEY_PATH' : 'SVC_SYSLOG_CERT_PATH'
  throw invalid(missing, 'certificate and key go together')
}

function parseStandby(env: Environment): Pick<HubConfig, 'standby' | 'standbyOf'> {
  const mode = valueOf(env, 'SVC_STANDBY')
  if (mode !== 'required' && mode !== 'preferred') {
    throw invalid('SVC_STANDBY', `${mode} is neither required nor preferred`)
  }
  const bind = isSet(env, 'SVC_STANDBY_BIND')
    ? parseBindAddress('SVC_STANDBY_BIND', valueOf(env, 'SVC_STANDBY_BIND'))
    : undefined
  const url = isSet(env, 'SVC_STANDBY_OF')
    ? parseHttpsUrl('SVC_STANDBY_OF', valueOf(env, 'SVC_STANDBY_OF'))
    : undefined
  if (
    url !== undefined &&
    (`${url.username}${url.password}${url.search}${url.hash}` !== '' || url.pathname !== '/')
  ) {
    throw invalid('SVC_STANDBY_OF', `${url.href} has more than a host and a port`)
  }
  if ((bind ?? url) !== undefined && isSecretSet(env, 'SVC_DATABASE_URL')) {
    const name = bind === undefined ? 'SVC_STANDBY_OF' : 'SVC_STANDBY_BIND'
    throw invalid(name, 'hubs that share a PostgreSQL need no standby')
  }
  return { standby: bind && { bind, mode }, standbyOf: url }
}

function parseIdentityMatch(text: string): IdentityMatch {
  if (text !== 'identity' && text !== 'cn') {
    throw invalid('SVC_IDENTITY_MATCH', `${text} is neither identity nor cn`)
  }
  return text
}

/** What the sealed file is sent in, to the hub and to the agents, has bounds that no setting moves. */
const CONTENT_BYTES_MAX = 8 * 1024 * 1024

function parseContentBytes(text: string): number {
  const bytes = /^\d{1,12}$/.test(text) ? Number(text) : 0
  if (bytes >= 1 && bytes <= CONTENT_BYTES_MAX) return bytes
  throw invalid('SVC_BLOB_MAX', `${text} is not a number of bytes from 1 to ${CONTENT_BYTES_MAX}`)
}

/** What is left of an environment when our secrets are taken out. */
export function withoutSecrets(env: Environment): Record<string, string | undefined> {
  const secrets = new Set(HUB_VARIABLES.filter(({ isSecret }) => isSecret).map(({ name }) => name))
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)))
}

/** `0` alone is allowed: it needs no unit. */
function parseDuration(name: string, text: string): number {
  const durationMs = text === '0' ? 0 : parseDurationMs(text)
  if (durationMs !== undefined) return durationMs
  throw invalid(name, `${text} is not a duration such as 7d or 12h`)
}

function parseProxies(text: string): IsTrustedProxy {
  const isTrusted = parseTrustedProxies(text)
  if (isTrusted !== undefined) return isTrusted
  throw invalid('SVC_TRUSTED_PROXIES', `${text} is not a list of addresses or CIDR ranges`)
}
