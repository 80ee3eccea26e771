import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { SeqRange, StoreReader } from '../../store/store.ts'
import type { EntryChoice, EntryWay } from './choose-entries.ts'
import { type FoundEntries, scanArchive } from './scan-archive.ts'

/** `limit`: so many matching ones. */
export type EntryWindow = SeqRange

/** So many are looked at in one turn of the event loop, whatever matches. */
const STEP_ENTRIES = 500
/** For one page, in the vault: some 50 ms. */
export const LOOKED_MAX = 10_000

/** Oldest first, from the archive and from the vault. Throws ArchiveError. */
export async function readChosen(
  reader: StoreReader,
  choice: EntryChoice,
  window: EntryWindow,
): Promise<FoundEntries> {
  const { isNewestFirst, limit } = window
  const archived = await findArchivedUntil(reader)
  const inVault = { ...window, afterSeq: Math.max(window.afterSeq, archived) }
  if (!isNewestFirst) {
    const old = await scanArchive(reader, choice, window, archived)
    if (old.lookedTo !== undefined || old.entries.length >= limit) return old
    const left = limit - old.entries.length
    const young = await readIndexed(reader, choice, { ...inVault, limit: left })
    return { ...young, entries: [...old.entries, ...young.entries] }
  }
  const young = await readIndexed(reader, choice, inVault)
  if (young.lookedTo !== undefined || young.entries.length >= limit) return young
  const left = { ...window, limit: limit - young.entries.length }
  const old = await scanArchive(reader, choice, left, archived)
  return { ...old, entries: [...old.entries.toReversed(), ...young.entries] }
}

async function findArchivedUntil(reader: StoreReader): Promise<number> {
  return (await reader.findLastSegment())?.last ?? 0
}

/** Oldest first. A rare type among the entries of a busy agent is looked for entry by entry, with turns for everybody else. */
async function readIndexed(
  reader: StoreReader,
  choice: EntryChoice,
  window: EntryWindow,
): Promise<FoundEntries> {
  const found: AuditEntry[] = []
  let { afterSeq, beforeSeq } = window
  const { isNewestFirst, limit } = window
  const isWhole = choice.matches === undefined && choice.otherwise === undefined
  let lookedTo: number | undefined
  for (let looked = 0; ;) {
    const size = isWhole ? limit : STEP_ENTRIES
    const range = { afterSeq, beforeSeq, isNewestFirst, limit: size }
    const { seqs, matches } = await takeStep(reader, choice, range)
    const entries = await reader.findEntries(seqs)
    found.push(...(matches === undefined ? entries : entries.filter(matches)))
    const last = seqs.at(-1)
    if (last === undefined || seqs.length < size || found.length >= limit) break
    looked += seqs.length
    if (looked >= LOOKED_MAX) {
      lookedTo = last
      break
    }
    if (isNewestFirst) beforeSeq = last
    else afterSeq = last
    await nextTurn()
  }
  const wanted = found.slice(0, limit)
  return { entries: isNewestFirst ? wanted.reverse() : wanted, lookedTo }
}

interface Step {
  /** In the order of the range. */
  readonly seqs: readonly number[]
  readonly matches: EntryWay['matches']
}

/** Of two ways the one that gets further: what is rare in one may be all that there is of the other. */
async function takeStep(
  reader: StoreReader,
  { otherwise, ...way }: EntryChoice,
  range: SeqRange,
): Promise<Step> {
  const step = await stepOf(reader, way, range)
  if (otherwise === undefined || step.seqs.length < range.limit) return step
  const other = await stepOf(reader, otherwise, range)
  if (other.seqs.length < range.limit) return other
  const [end, otherEnd] = [step, other].map(({ seqs }) => seqs.at(-1) ?? 0) as [number, number]
  const isOtherFurther = range.isNewestFirst ? otherEnd < end : otherEnd > end
  return isOtherFurther ? other : step
}

async function stepOf(reader: StoreReader, way: EntryWay, range: SeqRange): Promise<Step> {
  return { seqs: await mergeSources(reader, way.sources, range), matches: way.matches }
}

/** The first of all of them are among the first of each. */
async function mergeSources(
  reader: StoreReader,
  sources: EntryChoice['sources'],
  range: SeqRange,
): Promise<number[]> {
  const [first, ...others] = await Promise.all(
    sources.map((source) => reader.listEntrySeqs(source, range)),
  )
  if (first === undefined || others.length === 0) return first ?? []
  const seqs = [...new Set([...first, ...others.flat()])]
  const order = range.isNewestFirst ? -1 : 1
  return seqs.toSorted((one, other) => (one - other) * order).slice(0, range.limit)
}
