// What a witness keeps of a log: the newest checkpoint that it has checked, and some from before. docs/protocol.md CHN-23.

import { type Static, Type } from 'typebox'
import { type Checkpoint, parseCheckpoint } from '../../audit/checkpoint.ts'
import {
  type NoteVerifier,
  noteVerifier,
  openNote,
  parseVerifierKey,
} from '../../audit/signed-note.ts'
import type { SizedRoot } from '../../audit/merkle-proofs.ts'
import { LIMITS } from '../../protocol/limits.ts'

/** Whole, as evidence. */
export const SeenCheckpoint = Type.Object({
  note: Type.String(),
  /** When the agent saw it first, by its own clock. */
  at: Type.String(),
})
export type SeenCheckpoint = Static<typeof SeenCheckpoint>

export const LogWitness = Type.Object({
  /** As the hub showed it first: `<name>+<hash>+<key>`. */
  key: Type.String(),
  newest: SeenCheckpoint,
  /** Oldest first: of the last two days at least an hour apart, of the time before a day. */
  earlier: Type.Array(SeenCheckpoint),
  /** When the hub last proved that its log goes on from what the agent had seen. */
  checked_at: Type.String(),
  /** The longest that the hub has shown since, signed: the proof is not due yet. */
  ahead: Type.Optional(SeenCheckpoint),
  /** Since when the hub answers and proves nothing, and how often the agent noticed. */
  unproven: Type.Optional(Type.Object({ since: Type.String(), times: Type.Number() })),
})
export type LogWitness = Static<typeof LogWitness>

/** A checkpoint that a key has signed. */
export interface SignedCheckpoint extends SizedRoot {
  readonly origin: string
  readonly note: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Of older ones there is one of each day, of these one of each hour. */
const RECENT_MS = 2 * DAY_MS
const RECENT_MAX = 50
const DAYS_MAX = 30
/** A hub that was down in between has not been silent all the time. */
const UNPROVEN_TIMES_MAX = 24

/** Undefined when this key has not signed it under its own name. */
export function openSigned(note: string, verifier: NoteVerifier): SignedCheckpoint | undefined {
  // Many times what a hub signs: whatever it shows, the file of a witness stays small.
  const isBounded = note.length <= LIMITS.logNoteCharactersMax
  const opened = isBounded ? openNote(note, [verifier]) : undefined
  const checkpoint = opened && parseCheckpoint(opened.text)
  return checkpoint?.origin === verifier.name ? { ...checkpoint, note } : undefined
}

/** Undefined when the hub says nothing that can be checked. */
export function beginWitness(key: string, note: string, now: Date): LogWitness | undefined {
  const verifier = parseVerifierKey(key)
  if (verifier === undefined || openSigned(note, verifier) === undefined) return undefined
  const at = now.toISOString()
  return { key, newest: { note, at }, earlier: [], checked_at: at }
}

/** Whether everything in it can be used: a file may be damaged and have the right form. */
export function isSound({ key, newest, ahead }: LogWitness): boolean {
  const verifier = parseVerifierKey(key)
  if (verifier === undefined || openSigned(newest.note, verifier) === undefined) return false
  return ahead === undefined || openSigned(ahead.note, verifier) !== undefined
}

/** The next newest one, which was checked against the ones before. */
export function follow({ key, newest, earlier }: LogWitness, note: string, now: Date): LogWitness {
  const at = now.toISOString()
  return { key, newest: { note, at }, earlier: thinOut([...earlier, newest]), checked_at: at }
}

/**
 * A log that was restored goes on from somewhere between two of them, and only what came before the first is held against it: of the last
 * days, from which a backup is, there are more.
 */
function thinOut(all: readonly SeenCheckpoint[]): SeenCheckpoint[] {
  const endMs = Date.parse(all.at(-1)?.at ?? '')
  const kept: SeenCheckpoint[] = []
  for (const [index, one] of all.entries()) {
    const atMs = Date.parse(one.at)
    const sinceMs = atMs - Date.parse(kept.at(-1)?.at ?? '')
    const spacingMs = endMs - atMs <= RECENT_MS ? HOUR_MS : DAY_MS
    // A clock that was ahead for a while ends nothing, and the first one stays.
    if (!(sinceMs >= 0 && sinceMs < spacingMs) || index === 0) kept.push(one)
  }
  const older = kept.filter(({ at }) => endMs - Date.parse(at) > RECENT_MS).slice(-DAYS_MAX)
  const recent = kept.filter(({ at }) => endMs - Date.parse(at) <= RECENT_MS).slice(-RECENT_MAX)
  return [...older, ...recent]
}

/** With one that is longer than all that it has, and not proven yet. */
export function lookAhead(witness: LogWitness, note: string, now: Date): LogWitness {
  return { ...proven(witness), ahead: { note, at: now.toISOString() } }
}

/** Of a hub that proves again what it is asked for. */
export function proven({ unproven: _unproven, ...witness }: LogWitness): LogWitness {
  return witness
}

/** Of a hub that answers, and again neither shows nor proves its log. */
export function noteUnproven(witness: LogWitness, now: Date): LogWitness {
  const { since, times } = witness.unproven ?? { since: '', times: 0 }
  const isSince = Date.parse(since) <= now.getTime()
  return { ...witness, unproven: { since: isSince ? since : now.toISOString(), times: times + 1 } }
}

/** For a day, in which the hub answered. */
export function isUnprovenTooLong({ unproven }: LogWitness, now: Date): boolean {
  if (unproven === undefined || unproven.times < UNPROVEN_TIMES_MAX) return false
  return now.getTime() - Date.parse(unproven.since) >= DAY_MS
}

/** Of a note that was checked before it was kept. */
export function checkpointOf(note: string): Checkpoint | undefined {
  return parseCheckpoint(`${note.split('\n\n')[0]}\n`)
}

/** The same key under the name of another epoch of the log. */
export function renamed({ publicKey }: NoteVerifier, origin: string): NoteVerifier {
  return noteVerifier(origin, publicKey)
}
