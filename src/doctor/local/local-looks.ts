// What `svc doctor` sees of a hub on this machine, whether it runs or not. Nothing is written, no lock is taken, no port is bound.
// docs/protocol.md DOC-3.

import { request } from 'node:http'
import { isIP } from 'node:net'
import type { HubSettings } from '../../hub/config.ts'
import { measureDisk } from '../../hub/facts/measure-disk.ts'
import { probeCa } from '../../hub/probe-ca.ts'
import { readRootFile } from '../../hub/root-file.ts'
import { readRole } from '../../hub/standby/standby-role.ts'
import { errnoCode } from '../../platform/errors.ts'
import type { StandbyStatus } from '../../protocol/standby.ts'
import { DEFAULT_HUB_LIMITS } from '../../protocol/hub-limits.ts'
import type { LocalLooks } from '../compose-scene.ts'
import { Unchecked } from '../finding.ts'
import { runBounded } from './bounded-child.ts'
import { isSecretSet } from '../../hub/read-secret.ts'
import { lookAtDatabase } from './look-at-database.ts'
import { lookAtBackups, lookAtDirectory } from './look-at-directory.ts'
import { lookAtMachine, lookAtUnit } from './look-at-machine.ts'
import { lookAtListeners, lookupByChild, lookUpNames } from './look-at-network.ts'
import { lookAtPublicUrl } from './look-at-public-url.ts'
import { lookAtFiles, type ReadSettings } from './look-at-settings.ts'
import { lookAtCertificates, lookAtVault } from './look-at-vault.ts'

export interface LocalOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly settingsPath: string
  readonly read: ReadSettings
  readonly vaultRoot: string
  /** Rejects with Unchecked when a look at the vault's directory would never end. */
  readonly vaultAnswers: Promise<unknown>
  /** Also when root must not work in it. */
  readonly vaultIsThere: Promise<unknown>
  /** Undefined when no svc-server runs here. */
  readonly standbyStatus: () => Promise<StandbyStatus | undefined>
  readonly now: () => Date
}

const TOUCH_MS_MAX = 2500
const CA_MS_MAX = 3500
const READYZ_MS_MAX = 2000
const READYZ_BYTES_MAX = 64 * 1024

export function openLocalLooks(options: LocalOptions): LocalLooks {
  const { env, settingsPath, read, vaultRoot, vaultAnswers, vaultIsThere, now } = options
  const need = (): HubSettings => {
    if (read.settings !== undefined) return read.settings
    throw new Unchecked('the settings have to be right first', { isExpected: true })
  }
  return {
    settings: async () => read.facts,
    secrets: async () => lookAtFiles(env, settingsPath, read.databaseFiles),
    // Who else can replace it, which keeps root from working in it, is for this look to say.
    vault: async () => {
      await vaultAnswers
      await vaultIsThere.catch(() => undefined)
      return lookAtVault(vaultRoot)
    },
    unit: lookAtUnit,
    machine: async () => lookAtMachine(),
    listeners: async () => lookAtListeners(need()),
    names: async () => lookUpNames(need()),
    publicUrl: async () => {
      const { publicUrl, caRootPath } = need()
      return publicUrl && lookAtPublicUrl(publicUrl, await readRoots(caRootPath))
    },
    checkpointDirectory: async () => {
      const { checkpointDirectory } = need()
      await vaultIsThere
      return checkpointDirectory === undefined
        ? undefined
        : lookAtDirectory(checkpointDirectory, vaultRoot)
    },
    backups: async () => {
      const { backupSchedule } = need()
      await vaultIsThere
      return backupSchedule && lookAtBackups(backupSchedule, vaultRoot, now())
    },
    database: async () => {
      if (!isSecretSet(env, 'SVC_DATABASE_URL')) return undefined
      const { databaseReplication } = need()
      if (read.database === undefined) throw whyNoDatabase(read.facts.faults)
      // A Unix socket knows the hub by the user that it runs as.
      await vaultIsThere.catch(() => undefined)
      return lookAtDatabase(read.database, databaseReplication, now)
    },
    standby: async () => {
      await vaultIsThere
      const found = readRole(vaultRoot)?.role
      const role = found ?? (read.settings?.standby === undefined ? undefined : 'hub')
      return role && { role, status: await options.standbyStatus() }
    },
    disk: async () => {
      await vaultIsThere
      const { freeSpaceBytes } = read.settings?.limits ?? DEFAULT_HUB_LIMITS
      try {
        const facts = await measureDisk(vaultRoot, freeSpaceBytes)
        return { ...facts, growth_bytes_per_day: null }
      } catch (error) {
        if (errnoCode(error) !== 'ENOENT') throw error
        throw new Unchecked(`${vaultRoot} is not there`, { isExpected: true })
      }
    },
    authority: async () => {
      const settings = need()
      return probeCa(settings.ca, read.provisionerKey, {
        caUrl: settings.caUrl,
        rootPem: await readRoots(settings.caRootPath),
        now,
        signal: AbortSignal.timeout(CA_MS_MAX),
        lookup: lookupByChild,
      })
    },
    certificates: async () => {
      const { caRootPath } = need()
      await vaultIsThere
      return lookAtCertificates(vaultRoot, caRootPath)
    },
  }
}

/** A URL that is wrong is a finding of the settings. */
function whyNoDatabase(faults: ReadSettings['facts']['faults']): Unchecked {
  const isSaid = faults.some(({ variable }) => variable?.startsWith('SVC_DATABASE_URL'))
  return isSaid
    ? new Unchecked('SVC_DATABASE_URL has to be right first', { isExpected: true })
    : new Unchecked('the file of SVC_DATABASE_URL, or one that it names, cannot be read')
}

async function readRoots(path: string): Promise<string> {
  return (await readRootFile(path)).map(({ pem }) => pem).join('')
}

/** A look at a directory whose file system is gone never ends: the first is another process's. */
export async function touchVault(root: string, path?: string): Promise<void> {
  const { status } = await runBounded('stat', ['-f', '-L', '--', root], TOUCH_MS_MAX, path)
  if (status !== undefined) return
  throw new Unchecked(
    `the file system of ${root} does not answer: a hub that uses it hangs (findmnt says what it is)`,
  )
}

/** What a hub lacks that waits for its first certificate: its metrics port answers already. */
export async function askReadiness(settings: HubSettings | undefined): Promise<string[]> {
  const bind = settings?.metricsBind?.address
  if (bind === undefined || bind.port === 0) return []
  const host = bind.host === '0.0.0.0' || bind.host === '::' ? '127.0.0.1' : bind.host
  const text = await get(`http://${isIP(host) === 6 ? `[${host}]` : host}:${bind.port}/readyz`)
  try {
    const { subsystems } = JSON.parse(text) as {
      subsystems?: Readonly<Record<string, { status?: unknown; reason?: unknown }>>
    }
    return Object.entries(subsystems ?? {}).flatMap(([name, { status, reason }]) =>
      status === 'ready' ? [] : [`${name}: ${String(reason)}`],
    )
  } catch {
    // Something else answers there, or nothing.
    return []
  }
}

function get(url: string): Promise<string> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(READYZ_MS_MAX)
    const outgoing = request(url, { agent: false, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        if (text.length < READYZ_BYTES_MAX) text += part
      })
      response.once('error', () => resolve(''))
      response.once('end', () => resolve(text))
    })
    outgoing.once('error', () => resolve(''))
    outgoing.end()
  })
}
