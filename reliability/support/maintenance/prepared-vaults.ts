// Vaults for commands to be killed in: prepared once, and copied for each try. With what is in their log, record by record, so that
// nothing of it can get lost or change unseen.

import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fillVault } from '../../../fleet/vault-filler.ts'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import { unsealVault } from '../../../src/hub/vault/vault.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { invariant } from '../../../src/platform/errors.ts'
import { Secret } from '../../../src/platform/secret.ts'
import { initCheapVault } from '../../../test/support/cheap-vault.ts'
import { hubEnvironment, PASSPHRASE } from '../../../test/support/hub.ts'
import {
  type RunningProgram,
  runProgram,
  startProgram,
  type Variables,
  waitUntil,
} from '../../../test/support/processes.ts'

/** Two thirds of them are older than 30 days. */
const SIZES = { agents: 10, certificates: 40, entries: 4000 }
const ARCHIVED_MIN = 2304
const SIGNED_MS_MAX = 120_000

export interface Places {
  readonly root: string
  readonly vault: string
  readonly segments: string
  readonly backup: string
  /** Where a command makes another vault. */
  readonly other: string
}

export interface PreparedVaults {
  readonly fresh: string
  /** Its old entries are in segments, and a backup of it lies beside it. */
  readonly archived: string
  readonly caEnvironment: Variables
  /** Of the entries that both have. */
  readonly digest: string
}

export function placesIn(root: string): Places {
  return {
    root,
    vault: join(root, 'vault'),
    segments: join(root, 'segments'),
    backup: join(root, 'made.svcbackup'),
    other: join(root, 'other'),
  }
}

export function environmentOf(
  { vault, segments }: Pick<Places, 'vault' | 'segments'>,
  caEnvironment: Variables,
): Variables {
  return hubEnvironment(vault, {
    caEnvironment,
    environment: { SVC_LOG_ARCHIVE_DIR: segments, SVC_LIMIT_FREE_SPACE: '0' },
  })
}

export async function prepareVaults(
  directory: string,
  caEnvironment: Variables,
): Promise<PreparedVaults> {
  const fresh = placesIn(join(directory, 'fresh'))
  await mkdir(fresh.segments, { recursive: true, mode: 0o700 })
  const vault = await initCheapVault(fresh.vault, new Secret(PASSPHRASE))
  // tidy: the vault's past ends now.
  fillVault(vault, SIZES, new Date(), () => undefined)
  const environment = environmentOf(fresh, caEnvironment)
  const hub = await startHub(environment)
  await waitUntil('the log to be signed', () => isSigned(environment), SIGNED_MS_MAX)
  hub.kill('SIGTERM')
  await hub.ended
  const digest = await digestOf(fresh, PASSPHRASE)
  invariant(digest !== undefined, 'the vault has its log')
  const archived = placesIn(join(directory, 'archived'))
  await cp(fresh.root, archived.root, { recursive: true })
  for (const args of [
    ['evento', 'archive', '--before', '30d'],
    ['backup', archived.backup],
  ]) {
    const { status, stderr } = await runProgram('svc', args, environmentOf(archived, caEnvironment))
    if (status !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  }
  return { fresh: fresh.root, archived: archived.root, caEnvironment, digest }
}

/** A copy for one try; the last one makes room for it. */
export async function copyVault(from: string, to: string): Promise<Places> {
  const places = placesIn(to)
  // What is mounted there stays.
  for (const name of await readdir(to).catch((): string[] => [])) {
    await rm(join(to, name), { recursive: true })
  }
  await cp(from, to, { recursive: true })
  return places
}

export async function startHub(environment: Variables): Promise<RunningProgram> {
  const hub = startProgram('svc-server', [], environment)
  await waitUntil('the hub to listen', () => {
    if (hub.hasEnded()) throw new Error(`the hub ended: ${hub.stderr()}`)
    return hub.stderr().includes('"msg":"mtls listening"') || undefined
  })
  return hub
}

async function isSigned(environment: Variables): Promise<true | undefined> {
  const args = ['evento', 'archive', '--before', '30d', '--dry-run', '--json']
  const { stdout } = await runProgram('svc', args, environment)
  return Number(/"ate": ?(\d+)/.exec(stdout)?.[1] ?? 0) >= ARCHIVED_MIN || undefined
}

/** Of the first entries of its log, read from vault and segments as a hub reads them; undefined when some are missing. */
export async function digestOf(
  { vault, segments }: Pick<Places, 'vault' | 'segments'>,
  passphrase: string,
): Promise<string | undefined> {
  const opened = await unsealVault(vault, new Secret(passphrase))
  const store = await openVaultStore(opened, { clock: systemClock, archiveDirectory: segments })
  try {
    const hash = createHash('sha256')
    const records = await store.reader.listRecords(0, SIZES.entries)
    for (const record of records) hash.update(`${record.length} ${record}`)
    return records.length === SIZES.entries ? hash.digest('hex') : undefined
  } finally {
    await store.close()
  }
}
