// The settings as a hub would read them, and the files that they name; nothing of a secret leaves here but what is wrong with it.
// docs/protocol.md DOC-7, DOC-8.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  findMissing,
  type HubConfig,
  type HubSettings,
  parseHubSettings,
} from '../../hub/config.ts'
import { readDatabaseServers, readDatabaseUrl } from '../../hub/database-settings.ts'
import { parseProvisionerKey, type ProvisionerKey } from '../../hub/ca/provisioner-key.ts'
import { findCaKinds } from '../../hub/ca-settings.ts'
import { HUB_VARIABLES, isReadBy } from '../../hub/hub-variables.ts'
import { findPassphraseFaults } from '../../hub/passphrase-faults.ts'
import { isSecretSet, readSecret } from '../../hub/read-secret.ts'
import { describeError, errnoCode, SvcError } from '../../platform/errors.ts'
import { nearMatches } from '../../platform/near-matches.ts'
import { describeStrangers, findPathHands } from '../../platform/path-hands.ts'
import { parseSettings, SETTINGS_BYTES_MAX } from '../../platform/settings-file.ts'
import { readSmallFile } from '../../platform/small-file.ts'
import { findUnknownVariables, VARIABLE_NAMES } from '../../protocol/variable-names.ts'
import type { FileFacts, SettingFault, SettingsFacts } from '../scene.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What is known when the process has its first rights: before it becomes the vault's owner. */
export interface ReadSettings {
  /** Undefined when they are missing or wrong. */
  readonly settings: HubSettings | undefined
  /** Undefined for who may not read it, and when it is wrong. */
  readonly provisionerKey: Pick<ProvisionerKey, 'x' | 'y'> | undefined
  /** Undefined where there is none, for who may not read its URL, and when that is wrong. */
  readonly database: HubConfig['database']
  /** Files that the URL of the database names. */
  readonly databaseFiles: readonly NamedFile[]
  readonly facts: SettingsFacts
}

type NamedFile = Pick<FileFacts, 'variable' | 'path' | 'use'>

const SECRETS = HUB_VARIABLES.filter(({ isSecret }) => isSecret)
/** Where container runtimes put secrets, with modes that mean nothing there. */
const RUNTIME_SECRETS = '/run/secrets/'
const DEFAULT_THRESHOLD_MS = 6 * 3_600_000

/** `failure`: why the file of the settings was not read. */
export function readSettings(
  env: Environment,
  path: string,
  failure: Error | undefined,
): ReadSettings {
  const faults: SettingFault[] = []
  const note = (error: unknown): void => {
    if (!(error instanceof SvcError)) throw error
    const message = describeError(error)
    faults.push({ message, variable: /\bSVC_[A-Z_]+/.exec(message)?.[0] })
  }
  if (failure !== undefined) note(failure)
  for (const name of findMissing(env)) {
    faults.push({ message: `${name} is not set`, variable: name })
  }
  let settings: HubSettings | undefined
  if (faults.length === 0) {
    try {
      settings = parseHubSettings(env)
    } catch (error) {
      note(error)
    }
  }
  const { key, passphraseFaults, database, databaseFiles } = readSecrets(env, note)
  return {
    settings,
    provisionerKey: key,
    database,
    databaseFiles,
    facts: {
      path,
      faults,
      unknown: findUnknownVariables(env).map((name) => ({
        name,
        near: nearMatches(name, VARIABLE_NAMES)[0],
      })),
      passphraseFaults,
      isNamed: settings?.isNamed ?? true,
      serverNames: settings?.serverNames ?? [],
      renewalThresholdMs: settings?.renewalThresholdMs ?? DEFAULT_THRESHOLD_MS,
      backupIntervalMs: settings?.backupSchedule?.intervalMs,
      connectionsMax: finite(settings?.limits.connections),
    },
  }
}

function finite(limit: number | undefined): number | undefined {
  return limit !== undefined && Number.isFinite(limit) ? limit : undefined
}

/** That a file is not there, or open to others, is for `files`; that this user may not read it is no fault. */
function readSecrets(
  env: Environment,
  note: (error: unknown) => void,
): {
  readonly key: ReadSettings['provisionerKey']
  readonly passphraseFaults: string[]
  readonly database: ReadSettings['database']
  readonly databaseFiles: NamedFile[]
} {
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      const cause = error instanceof Error ? errnoCode(error.cause) : undefined
      if (cause !== 'EACCES' && cause !== 'ENOENT') note(error)
      return undefined
    }
  }
  const read = <T>(
    name: string,
    use: (text: ReturnType<typeof readSecret>) => T,
  ): T | undefined => {
    if (!isSecretSet(env, name)) return undefined
    return attempt(() => use(readSecret(env, name)))
  }
  const key = read('SVC_CA_PROVISIONER_KEY', (text) => {
    const { x, y } = parseProvisionerKey(text.reveal()).reveal()
    return { x, y }
  })
  const faults = read('SVC_MASTER_PASSPHRASE', (text) =>
    findPassphraseFaults(text, {}).map(({ message }) => message),
  )
  const databaseUrl = attempt(() => readDatabaseUrl(env))
  // What is wrong with the URL itself was said.
  const database = databaseUrl && attempt(() => readDatabaseServers(env))
  return {
    key,
    passphraseFaults: faults ?? [],
    database,
    databaseFiles: filesOf(databaseUrl),
  }
}

function filesOf(url: ReturnType<typeof readDatabaseUrl>): NamedFile[] {
  const variable = 'SVC_DATABASE_URL'
  const { rootsPath, client } = url?.tls ?? {}
  return [
    ...(rootsPath === undefined ? [] : [{ variable, path: rootsPath, use: 'trust' as const }]),
    ...(client === undefined ? [] : [{ variable, path: client.keyPath, use: 'secret' as const }]),
  ]
}

export function lookAtFiles(
  env: Environment,
  settingsPath: string,
  databaseFiles: readonly NamedFile[],
): FileFacts[] {
  const credentials = env['CREDENTIALS_DIRECTORY']
  const isHandedOver = (path: string): boolean =>
    path.startsWith(RUNTIME_SECRETS) ||
    (credentials !== undefined && path.startsWith(`${credentials}/`))
  // A package names the file of the key that a step-ca needs, also where there is none.
  const kinds = findCaKinds(env)
  const secrets = SECRETS.filter((secret) => isReadBy(secret, kinds)).map(({ name }) => ({
    variable: `${name}_FILE`,
    path: env[`${name}_FILE`] ?? '',
    use: 'secret' as const,
  }))
  const trust = [
    'SVC_CA_ROOT_CA_PATH',
    'SVC_CA_TLS_ROOT_PATH',
    'SVC_ACME_TLS_ROOT_PATH',
    'SVC_WEBHOOK_CA_PATH',
  ].map((variable) => ({
    variable,
    path: env[variable] ?? '',
    use: 'trust' as const,
  }))
  const named = [...secrets, ...trust, ...databaseFiles].filter(
    ({ path, use }) => path !== '' && !(use === 'secret' && isHandedOver(path)),
  )
  return [
    {
      ...describeFile(settingsPath),
      variable: undefined,
      use: 'settings',
      holds: findHeld(settingsPath),
    },
    ...named.map(({ variable, path, use }) => ({
      ...describeFile(path),
      variable,
      use,
      holds: [],
    })),
  ]
}

function describeFile(named: string): Pick<FileFacts, 'path' | 'mode' | 'uid' | 'stranger'> {
  const path = resolve(named)
  const stats = statSync(path, { throwIfNoEntry: false })
  const stranger = stats === undefined ? undefined : describeStrangers(findPathHands(path))
  return { path, mode: stats?.mode, uid: stats?.uid ?? 0, stranger }
}

/** The secrets that stand in the settings themselves. */
function findHeld(path: string): string[] {
  try {
    const settings = parseSettings(readSmallFile(path, SETTINGS_BYTES_MAX).text, path)
    return SECRETS.map(({ name }) => name).filter((name) => (settings[name] ?? '') !== '')
  } catch {
    // What is wrong with it, if anything, was said when it was read.
    return []
  }
}
