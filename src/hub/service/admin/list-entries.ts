import { ArchiveError, type UnreadRange } from '../../../archive/archive-error.ts'
import { ENTRY_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { toAdminEntry } from '../admin-views.ts'
import { parseTime } from '../read-page.ts'
import { chooseEntries } from './choose-entries.ts'
import { type EntryWindow, readChosen } from './read-chosen.ts'
import type { FoundEntries } from './scan-archive.ts'

/** docs/protocol.md API-15, API-31, API-60. */
export const listEntries: Read<'listEntries'> = async (reader, request) => {
  refuseContradictions(request)
  const limit = request.last ?? request.limit ?? ENTRY_PAGE_MAX
  const choice = await chooseEntries(reader, request)
  const window: EntryWindow = {
    ...(await findBounds(reader, request)),
    isNewestFirst: request.last !== undefined,
    limit,
  }
  const missing: UnreadRange[] = []
  const read = async (within: EntryWindow): Promise<FoundEntries> =>
    choice === undefined
      ? { entries: await readWhole(reader, within), lookedTo: undefined }
      : readChosen(reader, choice, within)
  const { entries, lookedTo } = await readAround(read, window, missing)
  const next = placeOfNext(entries, lookedTo, window)
  const indexedFrom = choice?.isOfActs === true ? await reader.findIndexedFrom() : 1
  return {
    eventos: await withHostnames(reader, entries),
    next: next ?? null,
    ...(window.isNewestFirst && lookedTo !== undefined && { before: lookedTo }),
    ...(indexedFrom > 1 && { indexed_from: indexedFrom }),
    ...(missing.length > 0 && { missing }),
    ...(choice !== undefined && (await nameArchived(reader, window))),
    ...(isOnlyRoutineLeftOut(request) &&
      missing.length === 0 && {
        hidden: await countHidden(reader, window, entries, next, lookedTo),
      }),
  }
}

/** Undefined where nothing follows. */
function placeOfNext(
  entries: readonly AuditEntry[],
  lookedTo: number | undefined,
  { isNewestFirst, limit }: EntryWindow,
): number | undefined {
  if (lookedTo === undefined) return entries.length < limit ? undefined : entries.at(-1)?.seq
  return isNewestFirst ? (entries.at(-1)?.seq ?? lookedTo) : lookedTo
}

async function withHostnames(
  reader: StoreReader,
  entries: readonly AuditEntry[],
): Promise<AdminEntry[]> {
  const ids = new Set(entries.map(({ agentId }) => agentId).filter((id) => id !== null))
  const agents = await reader.findAgents([...ids])
  const hostnames = new Map(agents.map(({ id, hostname }) => [id, hostname]))
  return entries.map((entry) =>
    toAdminEntry(entry, (entry.agentId && hostnames.get(entry.agentId)) ?? null),
  )
}

/** What lies in a segment that is not there is left out, and named. docs/protocol.md ARC-7. */
async function readAround(
  read: (window: EntryWindow) => Promise<FoundEntries>,
  window: EntryWindow,
  missing: UnreadRange[],
): Promise<FoundEntries> {
  try {
    return await read(window)
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.range === undefined) throw error
    const { first, last } = error.range
    missing.push(error.range)
    const { afterSeq, beforeSeq = Number.MAX_SAFE_INTEGER, isNewestFirst, limit } = window
    const older = { ...window, beforeSeq: Math.min(beforeSeq, first) }
    const newer = { ...window, afterSeq: Math.max(afterSeq, last) }
    // Up to the gap there are fewer than were asked for.
    const near = await read(isNewestFirst ? newer : older)
    if (near.lookedTo !== undefined) return near
    const far = { ...(isNewestFirst ? older : newer), limit: limit - near.entries.length }
    const { entries, lookedTo } = await readAround(read, far, missing)
    const all = isNewestFirst ? [...entries, ...near.entries] : [...near.entries, ...entries]
    return { entries: all, lookedTo }
  }
}

function isOnlyRoutineLeftOut(request: Request): boolean {
  const { routine, tipo, tipos, agente, about, actor, by } = request
  return routine === false && (tipo ?? tipos ?? agente ?? about ?? actor ?? by) === undefined
}

/** Numbers have no gaps: what lies in the range of a page and is not in the page was left out. */
async function countHidden(
  reader: StoreReader,
  { afterSeq, beforeSeq = Number.MAX_SAFE_INTEGER, isNewestFirst }: EntryWindow,
  entries: readonly AuditEntry[],
  next: number | undefined,
  lookedTo: number | undefined,
): Promise<number> {
  const end = Math.min((await reader.findChainEnd())?.seq ?? 0, beforeSeq - 1)
  const isFull = next !== undefined
  const first = isNewestFirst && isFull ? (lookedTo ?? entries[0]?.seq ?? 0) : afterSeq + 1
  const last = !isNewestFirst && isFull ? next : end
  return Math.max(0, last - first + 1 - entries.length)
}

/** What no index knows was looked at entry by entry. */
async function nameArchived(
  reader: StoreReader,
  { afterSeq }: EntryWindow,
): Promise<{ archived_until: number } | undefined> {
  const archived = (await reader.findLastSegment())?.last ?? 0
  return archived > afterSeq ? { archived_until: archived } : undefined
}

type Request = AdminRequest<'listEntries'>

function refuseContradictions({ tipo, tipos, agente, about, actor, by }: Request): void {
  if (by !== undefined && (actor ?? agente) !== undefined) {
    throw new AdminRefusal('request_invalid', 'by goes neither with actor nor with agente')
  }
  if (tipo !== undefined && tipos !== undefined) {
    throw new AdminRefusal('request_invalid', 'tipo and tipos do not go together')
  }
  if (agente !== undefined && (about ?? actor) !== undefined) {
    throw new AdminRefusal(
      'request_invalid',
      'agente is what an agent sent, and goes neither with about nor with actor',
    )
  }
}

/** Timestamps never decrease, so times are numbers of entries. */
async function findBounds(
  reader: StoreReader,
  { after = 0, before, since, until }: Request,
): Promise<Pick<EntryWindow, 'afterSeq' | 'beforeSeq'>> {
  const seqAt = async (time: string): Promise<number> =>
    (await reader.findFirstSeqSince(parseTime(time))) ?? Number.MAX_SAFE_INTEGER
  const sinceSeq = since === undefined ? 0 : (await seqAt(since)) - 1
  const bounds = [before ?? Number.MAX_SAFE_INTEGER]
  if (until !== undefined) bounds.push(await seqAt(until))
  return { afterSeq: Math.max(after, sinceSeq), beforeSeq: Math.min(...bounds) }
}

async function readWhole(reader: StoreReader, window: EntryWindow): Promise<AuditEntry[]> {
  const { afterSeq, beforeSeq, isNewestFirst, limit } = window
  const range = { afterSeq, beforeSeq }
  if (isNewestFirst) return reader.listLastEntries(range, limit)
  return reader.listEntries({ ...range, limit })
}
