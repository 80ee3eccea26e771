// One byte of a vault changed, and what the hub's own way of opening it says to that.

import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import type { Store } from '../../../src/hub/store/store.ts'
import { vaultFiles } from '../../../src/hub/vault/vault-files.ts'
import { unsealVault, type UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { invariant, SvcError } from '../../../src/platform/errors.ts'
import { Secret } from '../../../src/platform/secret.ts'
import { PASSPHRASE } from '../../../test/support/hub.ts'

export type DamagedFile = 'db.enc' | 'db.enc-wal' | 'config.json' | 'audit.head'

export interface DamageTally {
  flips: number
  /** The hub does not start. */
  refusedAtStart: number
  /** The hub would start, as it does not read that page then; `svc unseal` says so. */
  refusedByUnseal: number
  /** Nothing is missing and nothing is different. */
  harmless: number
  readonly broken: string[]
}

export interface DamagedVault {
  /** Changes this byte by these bits, and puts it back. */
  flip(file: DamagedFile, offset: number, mask: number): Promise<void>
  sizeOf(file: DamagedFile): number
  readonly tally: DamageTally
}

const FILES: readonly DamagedFile[] = ['config.json', 'db.enc', 'db.enc-wal', 'audit.head']
/** Of the others a byte may do nothing: of the audit head there are two, and a log may end in what nobody waits for. */
const CHECKED_WHOLE: ReadonlySet<DamagedFile> = new Set(['config.json', 'db.enc'])
/** What an operator reads says which file it is, or which entries are gone. */
/** More than a vault of this row has. */
const ROWS_MAX = 1_000_000
const CLEAR =
  /(?:db\.enc|config\.json).*(?:damaged|not a database|format \d+|bytes)|first missing entry: \d+/

export async function damageVault(vault: UnsealedVault): Promise<DamagedVault> {
  const originals = new Map(FILES.map((file) => [file, read(vault, file)]))
  const content = await readContent(vault)
  restore(vault, originals)
  const tally = {
    flips: 0,
    refusedAtStart: 0,
    refusedByUnseal: 0,
    harmless: 0,
    broken: [] as string[],
  }
  const sizeOf = (file: DamagedFile): number => originals.get(file)?.length ?? 0
  const flip = async (file: DamagedFile, offset: number, mask: number): Promise<void> => {
    const original = originals.get(file)
    invariant(original !== undefined && offset < original.length && mask !== 0, 'there is a byte')
    const damaged = new Map(originals).set(file, flipped(original, offset, mask))
    writeByte(pathOf(vault, file), offset, (original[offset] ?? 0) ^ mask)
    const breaks = (what: string): void => {
      tally.broken.push(`${file}, byte ${offset} xor ${mask}: ${what}`)
    }
    tally.flips += 1
    const failure = await failureOf(() => openAsHub(vault, file === 'config.json'))
    if (failure === undefined) {
      await judgeOpened(file, breaks)
    } else {
      tally.refusedAtStart += 1
      judgeRefusal(failure, breaks)
      for (const [name, bytes] of damaged) {
        if (bytes !== undefined && !read(vault, name)?.equals(bytes))
          breaks(`${name} was rewritten`)
      }
    }
    restore(vault, originals)
  }
  const judgeOpened = async (file: DamagedFile, breaks: (what: string) => void): Promise<void> => {
    const failure = await failureOf(() => openAsHub(vault, false, true))
    if (failure !== undefined) {
      tally.refusedByUnseal += 1
      judgeRefusal(failure, breaks)
    } else if ((await readContent(vault).catch(String)) !== content) {
      breaks('not noticed, and reads otherwise')
    } else if (CHECKED_WHOLE.has(file)) {
      breaks('not noticed')
    } else {
      tally.harmless += 1
    }
  }
  return { flip, sizeOf, tally }
}

/** As boot does, and as `svc unseal` does; only a damaged config.json needs the passphrase once more. */
async function openAsHub(
  vault: UnsealedVault,
  needsUnsealing: boolean,
  checkPages = false,
): Promise<void> {
  if (needsUnsealing) await unsealVault(vault.root, new Secret(PASSPHRASE))
  const store = await openVaultStore(vault, { clock: systemClock, checkPages })
  await store.close()
}

async function failureOf(work: () => Promise<void>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

function judgeRefusal(failure: unknown, breaks: (what: string) => void): void {
  const isClear = failure instanceof SvcError && CLEAR.test(failure.message)
  if (!isClear) breaks(`refused with ${String(failure)}`)
}

/** A digest of all that a hub with this vault could tell. */
async function readContent(vault: UnsealedVault): Promise<string> {
  const store = await openVaultStore(vault, { clock: systemClock })
  try {
    const digest = createHash('sha256')
    const { reader } = store
    const all = { limit: ROWS_MAX }
    const lists = [reader.pageAgents(all), reader.pageTokens(all), reader.pageCargoes(all)]
    for (const list of await Promise.all(lists)) digest.update(JSON.stringify(list))
    digest.update(JSON.stringify(await reader.pageDeliveries(all)))
    for await (const page of entryPages(store)) digest.update(page)
    return digest.digest('hex')
  } finally {
    await store.close()
  }
}

async function* entryPages({ reader }: Store): AsyncGenerator<string> {
  for (let afterSeq = 0; ;) {
    const entries = await reader.listEntries({ afterSeq, limit: 500 })
    const last = entries.at(-1)
    if (last === undefined) return
    yield JSON.stringify(entries)
    afterSeq = last.seq
  }
}

function pathOf({ root }: UnsealedVault, file: DamagedFile): string {
  const { database, config, auditHead } = vaultFiles(root)
  if (file === 'db.enc') return database
  if (file === 'db.enc-wal') return `${database}-wal`
  return file === 'config.json' ? config : auditHead
}

/** Undefined when it is not there: a hub that was stopped leaves no write-ahead log. */
function read(vault: UnsealedVault, file: DamagedFile): Buffer | undefined {
  try {
    return readFileSync(pathOf(vault, file))
  } catch {
    return undefined
  }
}

/** Only what is different is written. */
function restore(
  vault: UnsealedVault,
  originals: ReadonlyMap<DamagedFile, Buffer | undefined>,
): void {
  rmSync(`${vault.databasePath}-shm`, { force: true })
  for (const [file, bytes] of originals) {
    const present = read(vault, file)
    if (bytes === undefined) rmSync(pathOf(vault, file), { force: true })
    else if (present?.equals(bytes) !== true) writeFileSync(pathOf(vault, file), bytes)
  }
}

function flipped(bytes: Buffer, offset: number, mask: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[offset] = (copy[offset] ?? 0) ^ mask
  return copy
}

function writeByte(path: string, offset: number, value: number): void {
  const descriptor = openSync(path, constants.O_WRONLY)
  writeSync(descriptor, Buffer.of(value), 0, 1, offset)
  closeSync(descriptor)
}
