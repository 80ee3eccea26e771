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
  /** Oldest first, at least a day apart. */
  earlier: Type.Array(SeenCheckpoint),
  /** When the hub last proved that its log goes on from what the agent had seen. */
  checked_at: Type.String(),
})
export type LogWitness = Static<typeof LogWitness>

/** A checkpoint that a key has signed. */
export interface SignedCheckpoint extends SizedRoot {
  readonly origin: string
  readonly note: string
}

const EARLIER_MAX = 30
const DAY_MS = 86_400_000

/** Undefined when this key has not signed it under its own name. */
export function openSigned(note: string, verifier: NoteVerifier): SignedCheckpoint | undefined {
  const opened = openNote(note, [verifier])
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

/** The next newest one, which was checked against the one before. */
export function follow(witness: LogWitness, note: string, now: Date): LogWitness {
  const { newest, earlier } = witness
  const at = now.toISOString()
  const last = earlier.at(-1)
  const isDue = last === undefined || Date.parse(newest.at) - Date.parse(last.at) >= DAY_MS
  return {
    ...witness,
    newest: { note, at },
    earlier: isDue ? [...earlier, newest].slice(-EARLIER_MAX) : earlier,
    checked_at: at,
  }
}

/** Of a note that was checked before it was kept. */
export function checkpointOf(note: string): Checkpoint | undefined {
  return parseCheckpoint(`${note.split('\n\n')[0]}\n`)
}

/** The same key under the name of another epoch of the log. */
export function renamed({ publicKey }: NoteVerifier, origin: string): NoteVerifier {
  return noteVerifier(origin, publicKey)
}
