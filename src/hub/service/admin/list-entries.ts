import { ENTRY_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { toAdminEntry } from '../admin-views.ts'
import { parseTime } from '../read-page.ts'
import { chooseEntries } from './choose-entries.ts'
import { type EntryWindow, readChosen } from './read-chosen.ts'

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
  const entries =
    choice === undefined
      ? await readWhole(reader, window)
      : await readChosen(reader, choice, window)
  const next = entries.length < limit ? undefined : entries.at(-1)?.seq
  const indexedFrom = choice?.isOfActs === true ? await reader.findIndexedFrom() : 1
  return {
    eventos: entries.map(toAdminEntry),
    next: next ?? null,
    ...(indexedFrom > 1 && { indexed_from: indexedFrom }),
  }
}

type Request = AdminRequest<'listEntries'>

function refuseContradictions({ tipo, tipos, agente, about, actor }: Request): void {
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
