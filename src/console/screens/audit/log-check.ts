// The check of the log in this browser: from the anchor, or from the first entry on, and then each entry as it arrives. One for the whole
// page, whichever screen shows it. docs/protocol.md CHN-12 to CHN-15.

import { signal } from '@preact/signals'
import { openCheckpoint, readKey } from '../../../audit/browser/open-checkpoint.ts'
import { ExportFault } from '../../../audit/browser/export-fault.ts'
import {
  followRecords,
  LOG_BEGIN,
  type RecordFault,
  type RecordFollower,
} from '../../../audit/browser/follow-records.ts'
import { readRecord } from '../../../audit/browser/read-export-lines.ts'
import { ask } from '../../api/client.ts'
import { hubNowMs } from '../../api/clock.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { stretched, waitAfterRing } from '../../api/pace.ts'
import { onForget } from '../../api/session.ts'
import { onRing } from '../../api/stream.ts'
import { type Anchor, forgetAnchor, keepAnchor, readAnchor } from './anchor.ts'
import { addToDays, type DayCount, sumDays } from './day-counts.ts'
import {
  type CheckedSoFar,
  type Finding,
  judgeAnchor,
  startsUnasked,
} from './decide-log-verdict.ts'

type Head = NonNullable<AdminReplies['showCheckpoint']['head']>

export interface LogCheck extends CheckedSoFar {
  readonly anchor: Anchor | undefined
  /** The anchor that this check began with, and that the log has. */
  readonly compared: Anchor | undefined
  /** What the hub says of its log. */
  readonly key: string | undefined
  readonly head: Head | undefined
  readonly checkpoint: string | undefined
  /** The tree had its root when it had so many entries. */
  readonly signedUntil: number
  /** What this browser lacks to check signatures. */
  readonly canVerifySignature: boolean
  readonly days: readonly DayCount[]
  readonly computedUntil: string | undefined
  /** Spent on hashing and reading, of the entries that were computed now. */
  readonly spentMs: number
  readonly error: Error | undefined
}

const NOTHING: LogCheck = {
  phase: 'waiting',
  anchor: undefined,
  compared: undefined,
  from: 0,
  count: 0,
  total: undefined,
  finding: undefined,
  key: undefined,
  head: undefined,
  checkpoint: undefined,
  signedUntil: 0,
  canVerifySignature: true,
  days: [],
  computedUntil: undefined,
  spentMs: 0,
  error: undefined,
}

export const logCheck = signal<LogCheck>(NOTHING)

/** Parsed within a moment, and hashed in a second or less. */
const PAGE_RECORDS = 2000
const SHOWN_EVERY_MS = 120
/** Between a doorbell and the check of what it rang for. */
const CHECK_MS = 2000
const SIGNED_AFTER_MS = 2000

/** What goes on; with another one, the earlier one ends. */
interface Run {
  readonly follower: RecordFollower
  readonly days: Map<string, number>
  readonly anchor: Anchor | undefined
  isStopped: boolean
  shownAtMs: number
  /** A signature was waited for when the check had come so far. */
  awaited: number
}

let run: Run | undefined
/** The one that asks or hashes right now. */
let busy: Run | undefined
let hasRung = false
let isBegun = false
let isFollowing = false

/** The next person's check begins by itself, where a screen begins. */
onForget((isScreenKept) => {
  if (isScreenKept) return
  stopChecking()
  run = undefined
  busy = undefined
  hasRung = false
  isBegun = false
  logCheck.value = NOTHING
})

/** Once for each page: what is new since the anchor is checked unasked, where that takes seconds. */
export function beginLogCheck(): void {
  if (isBegun) return
  isBegun = true
  void start('anchor', { isAsked: false })
  if (isFollowing) return
  isFollowing = true
  let timer: ReturnType<typeof setTimeout> | undefined
  onRing(() => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        void followNewest()
      },
      waitAfterRing(stretched(CHECK_MS)),
    )
  })
}

/** From the anchor on, or, where there is none, from the first entry on. */
export function checkSinceAnchor(): void {
  void start('anchor', { isAsked: true })
}

export function checkAll(): void {
  void start('begin', { isAsked: true })
}

/** Goes on where the check was stopped. */
export function goOnChecking(): void {
  if (run === undefined) return checkSinceAnchor()
  run.isStopped = false
  void carryOn(run)
}

/** What was kept is another log, and somebody has found out why: all of this one is computed. */
export function dropAnchor(): void {
  forgetAnchor()
  void start('begin', { isAsked: true })
}

export function stopChecking(): void {
  if (run !== undefined) run.isStopped = true
}

/** What was computed until now is what the next check goes on from. */
export function keepCheckedAsAnchor(): void {
  const { key, from, anchor, days, finding } = logCheck.value
  if (run === undefined || key === undefined || finding !== undefined) return
  const keptAt = new Date(hubNowMs()).toISOString()
  const kept: Anchor = {
    key,
    place: run.follower.place,
    keptAt,
    wholeAt: from === 0 ? keptAt : (anchor?.wholeAt ?? keptAt),
    days: sumDays(from === 0 ? [] : (anchor?.days ?? []), days),
  }
  keepAnchor(kept)
  show({ anchor: kept })
}

async function start(
  from: 'anchor' | 'begin',
  { isAsked }: { readonly isAsked: boolean },
): Promise<void> {
  stopChecking()
  run = undefined
  const anchor = readAnchor()
  const follower = followRecords(from === 'anchor' ? (anchor?.place ?? LOG_BEGIN) : LOG_BEGIN)
  if (follower === undefined) return
  const begun: Run = {
    follower,
    days: new Map(),
    anchor,
    isStopped: false,
    shownAtMs: 0,
    awaited: 0,
  }
  run = begun
  const { count } = follower
  logCheck.value = {
    ...NOTHING,
    anchor,
    from: count,
    count,
    phase: isAsked ? 'running' : 'waiting',
  }
  await guard(begun, async () => {
    if (anchor !== undefined) follower.expectHash(anchor.place.seq, anchor.place.hash)
    // The anchor first: a log that was put in its place has another tree, too.
    const found =
      (await lookAtHub(begun)) ?? (await lookAtAnchor(anchor)) ?? (await lookAtSignature(begun))
    if (run !== begun) return
    if (found !== undefined) return show({ finding: found, phase: 'done' })
    show({ compared: anchor })
    const left = (logCheck.value.total ?? 0) - follower.count
    if (isAsked || startsUnasked(left)) await readOn(begun)
  })
}

async function carryOn(begun: Run): Promise<void> {
  show({ phase: 'running' })
  await guard(begun, () => readOn(begun))
}

/** Each new entry, after a check that came to its end. */
async function followNewest(): Promise<void> {
  hasRung = true
  const { phase, finding } = logCheck.value
  if (busy !== undefined || run === undefined || finding !== undefined) return
  if (phase !== 'done' && phase !== 'failed' && phase !== 'waiting') return
  const begun = run
  hasRung = false
  await guard(begun, async () => {
    const found = (await lookAtHub(begun)) ?? (await lookAtSignature(begun))
    if (run !== begun) return
    if (found !== undefined) return show({ finding: found })
    if (phase === 'waiting') return
    await readOn(begun)
  })
}

/** What fails is said, and the check stays where it is. */
async function guard(begun: Run, work: () => Promise<void>): Promise<void> {
  busy = begun
  try {
    await work()
  } catch (error) {
    if (run === begun) show({ phase: 'failed', error: error as Error })
  }
  if (busy !== begun) return
  busy = undefined
  if (hasRung) await followNewest()
}

/** What the hub says its log is now. */
async function lookAtHub({ anchor }: Run): Promise<Finding | undefined> {
  const { checkpoint, key, head = null } = await ask('showCheckpoint', {})
  show({
    key: key ?? undefined,
    head: head ?? undefined,
    checkpoint: checkpoint ?? undefined,
    total: head?.seq ?? 0,
  })
  if (anchor === undefined || key === null || anchor.key === key) return undefined
  return { kind: 'key', was: anchor.key, is: key }
}

/** The root that the hub signed is what the tree has to have when it has come there. */
async function lookAtSignature({ follower }: Run): Promise<Finding | undefined> {
  const { checkpoint, key } = logCheck.value
  if (checkpoint === undefined || key === undefined) return undefined
  try {
    const { size, root } = await openCheckpoint(checkpoint, await readKey(key))
    if (size >= follower.count) return toFinding(await follower.expectRoot(size, root))
  } catch (error) {
    if (error instanceof ExportFault) return { kind: 'signature' }
    // Ed25519 in crypto.subtle: Chrome 137, Firefox 129, Safari 17.
    if (!(error instanceof DOMException)) throw error
    show({ canVerifySignature: false })
  }
  return undefined
}

async function lookAtAnchor(anchor: Anchor | undefined): Promise<Finding | undefined> {
  const { key, total = 0 } = logCheck.value
  if (anchor === undefined || key === undefined) return undefined
  const { seq } = anchor.place
  const [record] =
    total < seq ? [] : (await ask('listRecords', { after: seq - 1, limit: 1 })).registros
  return judgeAnchor(anchor, { key, total, hashThere: await hashIn(record, seq) })
}

/** What the record says; whether that is true, the chain shows. */
async function hashIn(record: string | undefined, seq: number): Promise<string | undefined> {
  if (record === undefined) return undefined
  try {
    return (await readRecord(record, seq)).hash
  } catch (error) {
    if (error instanceof ExportFault) return undefined
    throw error
  }
}

/** The next page is on its way while this one is hashed. */
async function readOn(begun: Run): Promise<void> {
  const { follower } = begun
  show({ phase: 'running', error: undefined })
  let next = askRecords(follower.count)
  for (;;) {
    const beganAtMs = performance.now()
    const { registros, next: after } = await next
    if (run !== begun || begun.isStopped) break
    if (after !== null) next = askRecords(after)
    const fault = await follower.add(
      registros,
      (timestamp) => note(begun, timestamp),
      () => run !== begun || begun.isStopped,
    )
    if (run !== begun) break
    show({ spentMs: logCheck.value.spentMs + performance.now() - beganAtMs })
    if (fault !== undefined) {
      showProgress(begun)
      return show({ finding: toFinding(fault), phase: 'done' })
    }
    if (begun.isStopped || after === null) break
  }
  next.catch(() => undefined)
  if (run !== begun) return
  showProgress(begun)
  show({ phase: begun.isStopped ? 'stopped' : 'done' })
  // The first whole check is the first thing to go on from.
  if (!begun.isStopped && logCheck.value.anchor === undefined && follower.count > 0) {
    keepCheckedAsAnchor()
  }
  lookForSignature(begun)
}

/** The hub signs within a second, and no doorbell rings for that. */
function lookForSignature(begun: Run): void {
  const { count } = begun.follower
  if (begun.isStopped || logCheck.value.signedUntil >= count || begun.awaited === count) return
  begun.awaited = count
  setTimeout(() => {
    if (run === begun) void followNewest()
  }, SIGNED_AFTER_MS)
}

function askRecords(after: number): Promise<AdminReplies['listRecords']> {
  return ask('listRecords', { after, limit: PAGE_RECORDS })
}

function toFinding(fault: RecordFault | undefined): Finding | undefined {
  if (fault?.kind !== 'kept') return fault
  return { kind: 'rewritten', has: logCheck.value.total ?? fault.seq }
}

function note(begun: Run, timestamp: string): void {
  addToDays(begun.days, timestamp)
  if (performance.now() - begun.shownAtMs < SHOWN_EVERY_MS) return
  begun.shownAtMs = performance.now()
  if (run === begun) showProgress(begun)
}

function showProgress({ follower, days }: Run): void {
  const { count, place } = follower
  show({
    count,
    days: [...days],
    computedUntil: place.timestamp === '' ? undefined : place.timestamp,
    total: Math.max(count, logCheck.value.total ?? 0),
    signedUntil: follower.lastRootSize ?? logCheck.value.signedUntil,
  })
}

function show(changes: Partial<LogCheck>): void {
  logCheck.value = { ...logCheck.value, ...changes }
}
