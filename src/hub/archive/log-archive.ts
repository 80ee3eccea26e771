// Old entries move from the vault into segments, in steps that each end somewhere safe: the next segment is written, read again, and
// recorded; or some entries that a segment has are removed. Whatever stops it, each entry is in the vault or in a segment that was
// verified, and the next step goes on from there. docs/protocol.md ARC-5, ARC-6.

import { hkdfSync } from 'node:crypto'
import { access, constants, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ArchiveError } from '../../archive/archive-error.ts'
import { GENESIS_HASH } from '../../audit/hash-chain.ts'
import type { Clock } from '../../platform/clock.ts'
import { describeError, errnoCode, invariant } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import { isPartialFile } from '../../platform/stream-to-file.ts'
import { HubEventType } from '../../protocol/words.ts'
import {
  ARCHIVE_AGE_MIN_MS,
  type ArchiveProgress,
  decideArchivableUntil,
  endOfNextSegment,
  type LogArchiver,
  type SegmentState,
} from '../domain/log-archive.ts'
import type { LogSegment } from '../domain/log-segment.ts'
import { recordHubAct } from '../service/hub-acts.ts'
import type { Store, StoreReader, WriteCompany } from '../store/store.ts'
import { openSegmentFile } from './segment-file.ts'
import { writeSegment } from './write-segment.ts'

/** So many are removed in one commit, which takes two milliseconds; everybody else has longer until the next one. */
const SLICE_ENTRIES = 32
const PAUSE_MS = 5
/** Entries that a crash brings back are removed once more. */
const IN_PASSING: WriteCompany = { isExpected: () => false, isInPassing: true }
/** Of one step. */
const REMOVED_MAX = 4096
const KEY_BYTES = 32
const FORCE = { force: true } as const
const KEY_PURPOSE = 'svc log archive v1'

export interface LogArchiveOptions {
  readonly store: Store
  readonly vaultId: string
  readonly dataKey: Secret<Buffer>
  /** Undefined where nobody set one. */
  readonly directory: string | undefined
  readonly clock: Clock
}

export function createLogArchiver(options: LogArchiveOptions): LogArchiver {
  let isBusy = false
  return {
    findState: (segment) => findState(options, segment),
    findTarget: (before) => findTarget(options, before),
    step: async (before, actor) => {
      if (isBusy) throw new ArchiveError('archive_running', 'another archiving is under way')
      isBusy = true
      try {
        return await step(options, before, actor)
      } finally {
        isBusy = false
      }
    },
  }
}

async function findState(
  { directory }: LogArchiveOptions,
  { file, bytes }: LogSegment,
): Promise<SegmentState> {
  if (directory === undefined) return 'missing'
  try {
    const path = join(directory, file)
    await access(path, constants.R_OK)
    return (await stat(path)).size === bytes ? 'present' : 'damaged'
  } catch (error) {
    if (errnoCode(error) === undefined) throw error
    return 'missing'
  }
}

async function step(
  options: LogArchiveOptions,
  before: Date,
  actor: string,
): Promise<ArchiveProgress> {
  const { reader } = options.store
  const directory = requireDirectory(options)
  const target = await findTarget(options, before)
  const first = await reader.findFirstSeq()
  const last = await reader.findLastSegment()
  if (first !== undefined && last !== undefined && first <= last.last) {
    await removeEntries(options, directory, first)
  } else if ((last?.last ?? 0) < target) {
    await archiveNext({ options, directory, last, target, actor })
  }
  return describeProgress(reader, target)
}

async function describeProgress(reader: StoreReader, target: number): Promise<ArchiveProgress> {
  const first = await reader.findFirstSeq()
  const archivedUntil = (await reader.findLastSegment())?.last ?? 0
  const removedUntil = Math.min(archivedUntil, (first ?? 1) - 1)
  const isDone = archivedUntil >= target && removedUntil === archivedUntil
  return { archivedUntil, removedUntil, target, isDone }
}

async function findTarget({ store, clock }: LogArchiveOptions, before: Date): Promise<number> {
  const { reader } = store
  const youngMs = clock.now().getTime() - ARCHIVE_AGE_MIN_MS
  const webhooks = await reader.webhooks.list()
  const cursors = webhooks.flatMap(({ disabledAt, progress }) =>
    disabledAt === null ? [progress.cursorSeq] : [],
  )
  return decideArchivableUntil({
    firstAfter: await reader.findFirstSeqSince(before),
    firstYoung: await reader.findFirstSeqSince(new Date(Math.max(0, youngMs))),
    signed: (await reader.findLogTree())?.frontier.size ?? 0,
    lastSeq: (await reader.findChainEnd())?.seq ?? 0,
    webhookSeq: cursors.length === 0 ? undefined : Math.min(...cursors),
  })
}

function requireDirectory({ directory }: LogArchiveOptions): string {
  if (directory !== undefined) return directory
  throw new ArchiveError('archive_unset', 'SVC_LOG_ARCHIVE_DIR is not set', {
    hint: 'set it to a directory for segments of the audit log, and start the hub again',
  })
}

interface NextSegment {
  readonly options: LogArchiveOptions
  readonly directory: string
  readonly last: LogSegment | undefined
  readonly target: number
  readonly actor: string
}

async function archiveNext(next: NextSegment): Promise<void> {
  const { options, directory, last, actor } = next
  const { store, vaultId, clock } = options
  const archived = last?.last ?? 0
  const isAnothers = async (reader: StoreReader): Promise<boolean> =>
    (await reader.findLastSegment())?.last !== last?.last
  let segment: LogSegment | undefined
  try {
    const written = await writeNext(next)
    segment = written
    await store.write(async (writer) => {
      if (await isAnothers(writer)) return
      await writer.insertSegment(written)
      const { file, first, last: until, hash } = written
      const payload = { actor, arquivo: file, desde: first, ate: until, hash_atual: hash }
      await recordHubAct(writer, clock.now(), HubEventType.logArchived, payload)
    })
  } catch (error) {
    // Another hub that shares the vault has recorded these entries meanwhile, and tidied.
    if (!(error instanceof ArchiveError) || !(await isAnothers(store.reader))) throw error
  }
  const recorded = await store.reader.findSegment(archived + 1)
  if (recorded === undefined) return
  if (segment !== undefined && segment.file !== recorded.file) {
    await rm(join(directory, segment.file), FORCE)
  }
  await tidy(directory, vaultId, recorded)
}

async function writeNext({ options, directory, last, target }: NextSegment): Promise<LogSegment> {
  const { store, vaultId, clock } = options
  const { reader } = store
  // Before the work on its content is begun.
  await list(directory)
  const archiveKey = await findKey(options)
  const tree = await reader.findLogTree()
  invariant(tree !== undefined, 'only what was signed is archived')
  const archived = last?.last ?? 0
  return writeSegment({
    reader,
    vaultId,
    directory,
    archiveKey,
    tree,
    previousHash: last?.hash ?? GENESIS_HASH,
    first: archived + 1,
    lastMax: endOfNextSegment(archived, target),
    now: clock.now(),
    pause: () => clock.sleep(PAUSE_MS),
  })
}

/** One key for all segments, in the database: a vault whose data key changes goes on reading them. */
async function findKey({ store, dataKey }: LogArchiveOptions): Promise<Secret<Buffer>> {
  const known = await store.reader.findArchiveKey()
  if (known !== undefined) return known
  const made = new Secret(
    Buffer.from(hkdfSync('sha256', dataKey.reveal(), '', KEY_PURPOSE, KEY_BYTES)),
  )
  // Of another hub that shares the vault it is the same.
  await store.write(async (writer) => {
    if ((await writer.findArchiveKey()) === undefined) await writer.insertArchiveKey(made)
  })
  return made
}

/** The directory may have gone since the segment was written: nothing is removed that only the vault has then. */
async function removeEntries(
  { store, clock }: LogArchiveOptions,
  directory: string,
  first: number,
): Promise<void> {
  const { reader } = store
  const segment = await reader.findSegment(first)
  const archiveKey = await reader.findArchiveKey()
  invariant(segment !== undefined && archiveKey !== undefined, 'a segment has the entry')
  const file = await openSegmentFile(join(directory, segment.file), archiveKey, segment)
  await file.close()
  const left = Math.min(REMOVED_MAX, segment.last - first + 1)
  for (let removed = 0; removed < left;) {
    const limit = Math.min(SLICE_ENTRIES, left - removed)
    const gone = await store.write((writer) => writer.removeArchived(limit), IN_PASSING)
    // Another hub has removed the others.
    if (gone === 0) return
    removed += gone
    await clock.sleep(PAUSE_MS)
  }
}

/** What is left of the writing of a segment that is recorded: by a crash, or by a hub that was slower. */
async function tidy(directory: string, vaultId: string, recorded: LogSegment): Promise<void> {
  const start = `${vaultId}-${String(recorded.first).padStart(12, '0')}-`
  for (const name of await list(directory)) {
    if (name.startsWith(start) && isPartialFile(name)) await rm(join(directory, name), FORCE)
  }
}

async function list(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    throw new ArchiveError(
      'archive_unusable',
      `cannot read ${directory}: ${describeError(error)}`,
      {
        cause: error,
        hint: 'SVC_LOG_ARCHIVE_DIR names a directory with room in which the hub may write',
      },
    )
  }
}
