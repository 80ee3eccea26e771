import { readFile } from 'node:fs/promises'
import { type Checkpoint, parseCheckpoint } from '../../../audit/checkpoint.ts'
import type { ChainFault } from '../../../audit/hash-chain.ts'
import { LogVerifier } from '../../../audit/log-verifier.ts'
import { formatRecord, parseRecord, type RecordedEntry } from '../../../audit/record.ts'
import { type NoteVerifier, openNote, parseVerifierKey } from '../../../audit/signed-note.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminEntry, AdminSegment } from '../../../protocol/admin/views.ts'
import type { Progress } from '../../terminal/progress.ts'
import { readAhead } from '../read-ahead.ts'
import { readEntryPages } from './read-entries.ts'

export interface LogVerification {
  readonly ok: boolean
  /** Entries in the log. */
  readonly count: number
  /** The hash of the last good entry. */
  readonly head: string
  readonly first_bad: ChainFault | null
  /** Null when the hub has signed none yet. */
  readonly checkpoint: VerifiedCheckpoint | null
  /** Segments whose entries nobody could read: the tree has their hashes. Absent when there are none. */
  readonly missing?: readonly MissingSegment[]
}

export type MissingSegment = Pick<AdminSegment, 'file' | 'first' | 'last' | 'state'>

export interface VerifiedCheckpoint {
  readonly ok: boolean
  /** Entries that it was signed for. */
  readonly entries: number
  /** Base64. */
  readonly root: string
  /** Who signed it: `<name>+<hash>+<key>`. */
  readonly key: string
  /** Why the log is not the one that it was signed for. */
  readonly reason: string | null
}

/** What somebody kept of the log before. */
export interface KeptCheckpoint {
  /** Of the file that it was kept in. */
  readonly path: string | undefined
  /** Of the log, as somebody kept it: the hub's own word is not asked for. */
  readonly key: string | undefined
}

/** What the log is held against. */
interface Expectation {
  readonly key: string
  readonly newest: Checkpoint
  readonly kept: readonly Checkpoint[]
}

/** Checks the whole log, in constant memory. */
export async function verifyLog(
  operations: AdminOperations,
  progress: Progress,
  kept?: KeptCheckpoint,
): Promise<LogVerification> {
  const expected = await readExpectation(operations, kept)
  const missing = await findMissingSegments(operations)
  const pages = readRecordPages(operations, missing)
  return verify(pages, { progress, expected, missing }, (add, record) => {
    const entry = parseRecord(record)
    if (entry === undefined) throw new SvcError('reply_invalid', 'the hub answered no record')
    add(entry, record)
  })
}

/** The same of a whole log that is read anyway: each page is printed when it is checked. */
export async function verifyPages(
  operations: AdminOperations,
  pages: AsyncIterable<readonly AdminEntry[]>,
  progress: Progress | undefined,
  options: {
    readonly kept: KeptCheckpoint | undefined
    readonly print: (entries: readonly AdminEntry[]) => Promise<void>
  },
): Promise<LogVerification> {
  const expected = await readExpectation(operations, options.kept)
  const missing = await findMissingSegments(operations)
  return verify(pages, { progress, expected, missing, print: options.print }, (add, entry) =>
    add(toRecorded(entry)),
  )
}

/** Enough that a request for them costs little. */
const PAGE_ENTRIES = 5000

/** A hub up to 0.4.0 knows whole entries only. docs/protocol.md API-30. */
async function* readRecordPages(
  operations: AdminOperations,
  missing: readonly AdminSegment[],
): AsyncGenerator<readonly string[]> {
  const ask = (after: number) => {
    const start = endOfGap(missing, after)
    const nextGap = missing.find(({ first }) => first > start)?.first ?? Number.POSITIVE_INFINITY
    return operations.listRecords({
      after: start,
      limit: Math.min(PAGE_ENTRIES, nextGap - 1 - start),
    })
  }
  const first = await orUndefined(() => ask(0))
  if (first === undefined) {
    for await (const page of readEntryPages(operations, {})) {
      yield page.map((entry) => formatRecord(toRecorded(entry)))
    }
    return
  }
  const pages = readAhead(first, ({ next }) => (next === null ? undefined : ask(next)))
  for await (const { registros } of pages) yield registros
}

/** The last entry of the missing segments that begin after this one; without such, this one. */
function endOfGap(missing: readonly AdminSegment[], after: number): number {
  return missing.reduce((end, { first, last }) => (first === end + 1 ? last : end), after)
}

/** What has left the vault, and is not where it has to be. A hub up to 0.4.0 archives nothing. */
async function findMissingSegments(operations: AdminOperations): Promise<AdminSegment[]> {
  const missing: AdminSegment[] = []
  for (let after: number | null = 0; after !== null;) {
    const asked: { readonly after: number } = { after }
    const page = await orUndefined(() => operations.listSegments(asked))
    if (page === undefined) return []
    const { segments, removed_until: removed } = page
    missing.push(...segments.filter(({ first, state }) => first <= removed && state === 'missing'))
    after = page.next
  }
  return missing
}

interface Verifying<Item> {
  readonly progress: Progress | undefined
  readonly expected: Expectation | undefined
  readonly missing: readonly AdminSegment[]
  readonly print?: (items: readonly Item[]) => Promise<void>
}

async function verify<Item>(
  pages: AsyncIterable<readonly Item[]>,
  { progress, expected, missing, print }: Verifying<Item>,
  addTo: (add: LogVerifier['add'], item: Item) => void,
): Promise<LogVerification> {
  const verifier = new LogVerifier(expected ? [expected.newest, ...expected.kept] : [])
  const gaps = [...missing]
  const skipGaps = (): void => {
    while (gaps[0]?.first === verifier.count + 1) {
      const { last, tree, hash_atual: hash } = gaps.shift() ?? invalidGap()
      const hashes = tree.map((text) => Buffer.from(text, 'base64'))
      verifier.skipTo(last, hashes, hash)
    }
  }
  const add: LogVerifier['add'] = (entry, record) => {
    skipGaps()
    verifier.add(entry, record)
  }
  for await (const page of pages) {
    for (const item of page) addTo(add, item)
    await print?.(page)
    progress?.show(`verifying the log: ${verifier.count} entries`)
  }
  skipGaps()
  progress?.clear()
  const { chainFault, count, head } = verifier
  const reason = verifier.findTreeFault() ?? null
  const checkpoint = expected && {
    ok: reason === null,
    entries: expected.newest.size,
    root: expected.newest.root.toString('base64'),
    key: expected.key,
    reason,
  }
  return {
    ok: chainFault === undefined && reason === null,
    count,
    head,
    first_bad: chainFault ?? null,
    checkpoint: checkpoint ?? null,
    ...(missing.length > 0 && {
      missing: missing.map(({ file, first, last, state }) => ({ file, first, last, state })),
    }),
  }
}

function invalidGap(): never {
  throw new SvcError('reply_invalid', 'the hub answered segments in no order')
}

/** A hub up to 0.4.0 signs nothing. */
async function readExpectation(
  operations: AdminOperations,
  kept: KeptCheckpoint | undefined,
): Promise<Expectation | undefined> {
  const signed = await orUndefined(() => operations.showCheckpoint({}))
  if (signed === undefined || signed.checkpoint === null || signed.key === null) {
    if (kept === undefined) return undefined
    throw new UserError('checkpoint_missing', 'the hub has signed no checkpoint', {
      hint: 'a running hub signs the first one within a second; upgrade a hub older than 0.5.0',
    })
  }
  const verifier = parseVerifierKey(kept?.key ?? signed.key)
  const newest = verifier && open(signed.checkpoint, verifier)
  if (verifier === undefined || newest === undefined) {
    throw new UserError(
      'checkpoint_invalid',
      'the checkpoint of the hub is not signed with this key',
      {
        hint: 'svc checkpoint --key prints the key of the hub; if it is another one than before, find out why',
      },
    )
  }
  const earlier = kept?.path === undefined ? [] : [await openKept(kept.path, verifier)]
  return { key: kept?.key ?? signed.key, newest, kept: earlier }
}

async function openKept(path: string, verifier: NoteVerifier): Promise<Checkpoint> {
  const checkpoint = open(await readFile(path, 'utf8'), verifier)
  if (checkpoint !== undefined) return checkpoint
  throw new UserError(
    'checkpoint_invalid',
    `${path} is no checkpoint that ${verifier.name} signed`,
    {
      hint: 'svc checkpoint prints one; after svc unseal --accept-loss a log has another name',
    },
  )
}

function open(note: string, verifier: NoteVerifier): Checkpoint | undefined {
  const opened = openNote(note, [verifier])
  const checkpoint = opened && parseCheckpoint(opened.text)
  return checkpoint?.origin === verifier.name ? checkpoint : undefined
}

/** Undefined of a hub that does not know the operation. */
async function orUndefined<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof SvcError && error.code === 'route_not_found') return undefined
    throw error
  }
}

export function toRecorded(entry: AdminEntry): RecordedEntry {
  return {
    seq: entry.seq,
    id: entry.id,
    agentId: entry.agente_id,
    eventType: entry.tipo_evento,
    deliveryId: entry.entrega_id,
    requestId: entry.request_id,
    payloadText: entry.payload_text,
    timestamp: entry.timestamp,
    previousHash: entry.hash_anterior,
    hash: entry.hash_atual,
  }
}

export function describeVerification(verification: LogVerification): string {
  const { count, head, first_bad, checkpoint, missing = [] } = verification
  if (first_bad !== null) return `hash chain broken at entry ${first_bad.seq}: ${first_bad.reason}`
  if (checkpoint?.ok === false) return `log not as it was signed: ${checkpoint.reason}`
  const chain = [`hash chain ok: ${count} entries, head ${head}`]
  if (checkpoint !== null) {
    chain.push(`checkpoint ok: ${checkpoint.entries} entries, root ${checkpoint.root}`)
  }
  const unread = missing.map(
    ({ file, first, last }) =>
      `not read: entries ${first} to ${last}, of which only the hashes are known; their segment is missing: ${file}`,
  )
  return [...chain, ...unread].join('\n')
}

/** Call it when everything is printed. */
export function failIfBroken(verification: LogVerification): void {
  if (verification.ok) return
  const isChain = verification.first_bad !== null
  const message = describeVerification(verification)
  throw new UserError(isChain ? 'chain_broken' : 'log_rewritten', message, {
    hint: isChain
      ? 'nothing from that entry on can be trusted; compare with a backup'
      : 'somebody changed the log after it was signed; compare with a backup',
  })
}
