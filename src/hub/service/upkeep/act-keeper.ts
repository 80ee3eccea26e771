// Acts that a restore must not forget are copied from the log to a place outside the vault, before the checkpoint that covers them
// is. The log is durable and ordered, so a kill loses nothing: the next start goes on from what stands there. docs/protocol.md BKP-15.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { parseRecord, type RecordedEntry } from '../../../audit/record.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import { REMEMBERED_TYPES, RememberedAct } from '../../domain/remembered-act.ts'
import type { StoreReader } from '../../store/store.ts'
import { type ActSegment, beginSegment, openSegment, signSegment } from '../act-segment.ts'

/** Where segments are. Each is replaced as a whole, until it is full. */
export interface ActFiles {
  /** In the order of epoch and first entry. */
  list(): Promise<readonly ActFileName[]>
  read(name: ActFileName): Promise<string | undefined>
  write(name: ActFileName, note: string): Promise<void>
  remove(name: ActFileName): Promise<void>
}

export type ActFileName = Pick<ActSegment, 'epoch' | 'after'>

export interface ActKeeper {
  /** All acts up to the end of this tree. Throws what the place throws. */
  keep(this: void, tree: LogTree): Promise<void>
}

type Reader = Pick<StoreReader, 'listRecords' | 'listAccessTokens' | 'findTokensByPrefix'>

/** With the longest names they are below the 64 Ki characters that a note may have. */
export const SEGMENT_ACTS_MAX = 50
/** 100,000 acts: older ones go. */
const SEGMENTS_MAX = 2000
/** How many entries back the list begins where there is none yet. */
const BEGINNING_ENTRIES = 100_000
/** So many take a millisecond, and of the longest entries some more; everybody else has a turn in between. */
const SLICE_ENTRIES = 100

export function createActKeeper(reader: Reader, files: ActFiles): ActKeeper {
  let current: ActSegment | undefined
  return {
    keep: async (tree) => {
      const { size } = tree.frontier
      let segment = current?.origin === tree.origin ? current : await findCurrent(files, tree)
      while (segment.until < size) {
        const next = await grow(reader, segment, size)
        // What is full is written once, and whatever is newest at the end.
        if (next.after !== segment.after) await files.write(segment, signSegment(segment, tree))
        segment = next
        await nextTurn()
      }
      await files.write(segment, signSegment(segment, tree))
      if (segment.after !== current?.after) await prune(files)
      current = segment
    },
  }
}

/** The newest that stands there, when it is of this log and whole; else a new one. */
async function findCurrent(files: ActFiles, tree: LogTree): Promise<ActSegment> {
  const last = (await files.list()).findLast(({ epoch }) => epoch === tree.epoch)
  const note = last && (await files.read(last))
  const kept = note === undefined ? undefined : openSegment(note, tree)
  const { size } = tree.frontier
  if (kept?.origin === tree.origin && kept.until <= size) return kept
  const { base } = beginSegment(tree, 0)
  return beginSegment(tree, Math.max(Math.min(base, size), size - BEGINNING_ENTRIES))
}

/** With the acts of the next slice, or the first one after it. */
async function grow(reader: Reader, segment: ActSegment, size: number): Promise<ActSegment> {
  const { until, acts } = segment
  const limit = Math.min(SLICE_ENTRIES, size - until)
  const found: RememberedAct[] = []
  for (const record of await reader.listRecords(until, limit)) {
    const entry = parseRecord(record)
    const act = entry && (await toAct(reader, entry))
    if (act !== undefined) found.push(act)
  }
  const room = SEGMENT_ACTS_MAX - acts.length
  if (found.length <= room) return { ...segment, until: until + limit, acts: [...acts, ...found] }
  // The slice is read again for the rest of it.
  const last = found[room - 1]
  if (last !== undefined)
    return { ...segment, until: last.seq, acts: [...acts, ...found.slice(0, room)] }
  return { ...segment, after: until, acts: [] }
}

async function prune(files: ActFiles): Promise<void> {
  const names = await files.list()
  for (const name of names.slice(0, Math.max(0, names.length - SEGMENTS_MAX))) {
    await files.remove(name)
  }
}

const Payload = Type.Object({
  agente_id: Type.Optional(Type.String()),
  hostname: Type.Optional(Type.String()),
  role: Type.Optional(Type.String()),
  token_id: Type.Optional(Type.String({ pattern: '^[0-9a-f]{16}$' })),
  join_rule_id: Type.Optional(Type.String({ pattern: '^[0-9a-f]{16}$' })),
  admin_token_id: Type.Optional(Type.String({ pattern: '^[0-9a-f]{16}$' })),
  /** Of a fleet that was applied. */
  changes: Type.Optional(
    Type.Array(
      Type.Object({
        kind: Type.Optional(Type.String()),
        action: Type.Optional(Type.String()),
        join_rule_id: Type.Optional(Type.String()),
      }),
    ),
  ),
})
type Payload = Static<typeof Payload>

/** Of the hub itself: agents may send events of any type. Undefined for an act that lacks what a restore needs. */
async function toAct(reader: Reader, entry: RecordedEntry): Promise<RememberedAct | undefined> {
  const { seq, agentId, eventType: type, timestamp: at } = entry
  if (agentId !== null || !(REMEMBERED_TYPES as readonly string[]).includes(type)) return undefined
  const payload: unknown = JSON.parse(entry.payloadText)
  if (!Check(Payload, payload)) return undefined
  const { agente_id, hostname, role, join_rule_id: join_rule } = payload
  const token = await findHash(reader, type, payload)
  const join_rules = endedRules(type, payload)
  const act = { seq, at, type, agente_id, hostname, role, token, join_rule, join_rules }
  const said: unknown = Object.fromEntries(
    Object.entries(act).filter(([, value]) => value !== undefined),
  )
  return Check(RememberedAct, said) ? said : undefined
}

/** A fleet that ended none has nothing for a restore. */
function endedRules(type: string, { changes = [] }: Payload): string[] | undefined {
  if (type !== HubEventType.fleetApplied) return undefined
  const ended = changes.filter(({ kind, action }) => kind === 'join_rule' && action === 'remove')
  return ended.flatMap(({ join_rule_id: id }) => id ?? [])
}

/** The log has the beginning of it. */
async function findHash(
  reader: Reader,
  type: string,
  { token_id: token, admin_token_id: accessToken }: Payload,
): Promise<string | undefined> {
  if (type === HubEventType.accessTokenRevoked) {
    const tokens = accessToken === undefined ? [] : await reader.listAccessTokens()
    return tokens.find(({ hash }) => hash.startsWith(accessToken ?? ''))?.hash
  }
  return token === undefined ? undefined : (await reader.findTokensByPrefix(token))[0]?.hash
}
