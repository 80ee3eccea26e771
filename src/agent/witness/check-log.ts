// Whether what the hub shows of its log goes on from what the agent has seen. docs/protocol.md CHN-23 to CHN-25.

import { openEpoch } from '../../audit/epoch-statement.ts'
import { type SizedRoot, verifyConsistency } from '../../audit/merkle-proofs.ts'
import { formatVerifierKey, type NoteVerifier, parseVerifierKey } from '../../audit/signed-note.ts'
import { invariant } from '../../platform/errors.ts'
import type { HubClient } from '../hub/client.ts'
import type { HubRefusal } from '../hub/request.ts'
import type { LogReply } from '../hub/wire.ts'
import {
  beginWitness,
  checkpointOf,
  follow,
  lookAhead,
  type LogWitness,
  openSigned,
  renamed,
  type SignedCheckpoint,
} from './log-witness.ts'

export type WitnessedHub = Pick<HubClient, 'fetchLog' | 'proveConsistency'>

export type LogFinding =
  | {
      readonly kind: 'good'
      readonly witness: LogWitness
      /** That the log goes on in, and with how many entries it began. */
      readonly epoch: Pick<SignedCheckpoint, 'origin' | 'size'> | undefined
    }
  | {
      readonly kind: 'alarm'
      readonly reason: string
      readonly shown: string
      readonly epochs: readonly string[]
    }
  /** Nothing is known yet; it is asked again. */
  | { readonly kind: 'not answered'; readonly refusal: HubRefusal }

const INTERVAL_MS = 3_600_000
const WRONG_KEY = 'the checkpoint is not signed with the key of the log'
const NO_GROWTH = 'the log does not go on from what the agent has seen'

/** `shown` came with an answer. Asks the hub for a proof once an hour, and whenever something is wrong. Throws HubUnreachableError. */
export async function checkLog(
  witness: LogWitness | undefined,
  shown: string,
  hub: WitnessedHub,
  now: Date,
): Promise<LogFinding> {
  if (witness === undefined) return meetLog(hub, now)
  const verifier = parseVerifierKey(witness.key)
  invariant(verifier !== undefined, 'it was read from the hub once')
  const kept = openSigned(witness.newest.note, verifier)
  invariant(kept !== undefined, 'it was checked before it was kept')
  const ahead = witness.ahead && openSigned(witness.ahead.note, verifier)
  const known = ahead === undefined ? [kept] : [kept, ahead]
  const seen = openSigned(shown, verifier)
  if (seen !== undefined && findFaultOf(known, seen) === undefined) {
    const agoMs = now.getTime() - Date.parse(witness.checked_at)
    const isDue = agoMs >= INTERVAL_MS || agoMs < 0
    const isNewer = seen.size > (ahead ?? kept).size
    if (!isDue) return good(isNewer ? lookAhead(witness, shown, now) : witness)
    if (seen.size === kept.size) return good(witness)
    const growth = await proveGrowth(hub, known, seen)
    if (growth === 'proven') return good(follow(witness, shown, now))
    if (growth !== 'disproven') return { kind: 'not answered', refusal: growth }
  }
  // Answers may have come in another order than they were sent in: the hub is asked itself before anything is said.
  const outcome = await hub.fetchLog()
  if (!outcome.ok) return { kind: 'not answered', refusal: outcome }
  return recheck({ witness, verifier, known, hub, now }, outcome.value)
}

interface Checking {
  readonly witness: LogWitness
  readonly verifier: NoteVerifier
  /** All that it has to go on from, the shortest first. */
  readonly known: readonly SizedRoot[]
  readonly hub: WitnessedHub
  readonly now: Date
}

async function recheck(checking: Checking, reply: LogReply): Promise<LogFinding> {
  const { witness, verifier, known, hub, now } = checking
  const shown = reply.checkpoint
  const alarm = (reason: string): LogFinding => ({
    kind: 'alarm',
    reason,
    shown,
    epochs: reply.epochs,
  })
  const seen = openSigned(shown, verifier)
  if (seen === undefined) return (await followEpochs(checking, reply)) ?? alarm(WRONG_KEY)
  const fault = findFaultOf(known, seen)
  if (fault !== undefined) return alarm(fault)
  const growth = await proveGrowth(hub, known, seen)
  if (growth === 'disproven') return alarm(NO_GROWTH)
  if (growth !== 'proven') return { kind: 'not answered', refusal: growth }
  return good(follow(witness, shown, now))
}

/** Undefined when no epoch leads from the log that the agent knows to the one that it is shown. */
async function followEpochs(
  { witness, verifier, known: knownBefore, hub, now }: Checking,
  reply: LogReply,
): Promise<LogFinding | undefined> {
  const alarm = (reason: string): LogFinding => ({
    kind: 'alarm',
    reason,
    shown: reply.checkpoint,
    epochs: reply.epochs,
  })
  let [known, key]: [readonly SizedRoot[], NoteVerifier] = [knownBefore, verifier]
  for (const note of reply.epochs) {
    const statement = openEpoch(note, key)
    if (statement === undefined) continue
    const { last, base, origin } = statement
    const fault = findFaultOf(known, last)
    if (fault !== undefined) return alarm(`of the log that ended: ${fault}`)
    const within = known.filter(({ size }) => size <= base.size)
    const from = within.length > 0 ? within : findEarlier(witness, base.size)
    const growth = await proveGrowth(hub, from, base)
    if (growth === 'disproven') return alarm(NO_GROWTH)
    if (growth !== 'proven') return { kind: 'not answered', refusal: growth }
    known = [base]
    key = renamed(key, origin)
  }
  const seen = openSigned(reply.checkpoint, key)
  if (seen === undefined || key === verifier) return undefined
  const fault = findFaultOf(known, seen)
  if (fault !== undefined) return alarm(fault)
  const growth = await proveGrowth(hub, known, seen)
  if (growth === 'disproven') return alarm(NO_GROWTH)
  if (growth !== 'proven') return { kind: 'not answered', refusal: growth }
  const at = now.toISOString()
  const baseSize = known.at(-1)?.size ?? 0
  const earlier = witness.earlier.filter(
    ({ note }) => (checkpointOf(note)?.size ?? Infinity) <= baseSize,
  )
  const newest = { note: seen.note, at }
  const next = { key: formatVerifierKey(key), newest, earlier, checked_at: at }
  // Not of the newest checkpoint: what is reported once more after a kill has to be the same.
  return { kind: 'good', witness: next, epoch: { origin: seen.origin, size: baseSize } }
}

/** The key that the hub shows first is the key of the log from then on. */
async function meetLog(hub: WitnessedHub, now: Date): Promise<LogFinding> {
  const outcome = await hub.fetchLog()
  if (!outcome.ok) return { kind: 'not answered', refusal: outcome }
  const { key, checkpoint: shown, epochs } = outcome.value
  const witness = beginWitness(key, shown, now)
  return witness === undefined ? { kind: 'alarm', reason: WRONG_KEY, shown, epochs } : good(witness)
}

function good(witness: LogWitness): LogFinding {
  return { kind: 'good', witness, epoch: undefined }
}

/** Why the second cannot be of a log that had the first. */
function findFault(first: SizedRoot, second: SizedRoot): string | undefined {
  if (second.size < first.size) return `the log has ${second.size} entries, and had ${first.size}`
  if (second.size === first.size && !second.root.equals(first.root)) {
    return `the log has other entries than before among its first ${first.size}`
  }
  return undefined
}

function findFaultOf(known: readonly SizedRoot[], second: SizedRoot): string | undefined {
  return known.map((first) => findFault(first, second)).findLast((fault) => fault !== undefined)
}

/** From each of them. */
async function proveGrowth(
  hub: WitnessedHub,
  known: readonly SizedRoot[],
  to: SizedRoot,
): Promise<'proven' | 'disproven' | HubRefusal> {
  for (const from of known) {
    const growth = await proveGrowthFrom(hub, from, to)
    if (growth !== 'proven') return growth
  }
  return 'proven'
}

async function proveGrowthFrom(
  hub: WitnessedHub,
  from: SizedRoot,
  to: SizedRoot,
): Promise<'proven' | 'disproven' | HubRefusal> {
  if (from.size === 0 || from.size === to.size) {
    return verifyConsistency(from, to, []) ? 'proven' : 'disproven'
  }
  const outcome = await hub.proveConsistency(from.size, to.size)
  if (outcome.ok) return verifyConsistency(from, to, outcome.value) ? 'proven' : 'disproven'
  // It has signed a log of this size, and says that there never was one.
  return outcome.code === 'request_invalid' ? 'disproven' : outcome
}

/** The longest of at most so many entries, if there is one. */
function findEarlier({ earlier }: LogWitness, sizeMax: number): readonly SizedRoot[] {
  return earlier
    .flatMap(({ note }) => checkpointOf(note) ?? [])
    .filter(({ size }) => size <= sizeMax)
    .slice(-1)
}
