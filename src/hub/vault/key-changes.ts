// What config.json says from the first change of the vault's keys on: which change was the last, and the recovery keys that open
// the vault beside the passphrase. All of it, and all else in config.json, is under a MAC of the data key: a person who can
// write the file and has no key can neither add a recovery key nor swap one. docs/protocol.md KEY-3.

import { parseRecipient, type Recipient } from '../../protocol/identifiers.ts'
import { HubEventType } from '../../protocol/words.ts'
import { type Fields, readHex, readInteger, readObject, readText } from './config-fields.ts'

/** As the audit log names them. */
export type KeyChangeType = (typeof TYPES)[number]

const TYPES = [
  HubEventType.passphraseChanged,
  HubEventType.recoveryKeyAdded,
  HubEventType.recoveryKeyRemoved,
  HubEventType.vaultRekeyed,
] as const

/** The last change, as the audit log tells it. */
export interface KeyChange {
  readonly type: KeyChangeType
  readonly at: Date
  /** Of the recovery key that was added or removed, or that opened the vault; null when the passphrase did. */
  readonly recoveryKey: string | null
  /** Of that key. */
  readonly fingerprint: string | null
}

/** The data key, sealed for one recipient of the age format. */
export interface RecoverySlot {
  readonly name: string
  readonly recipient: Recipient
  readonly createdAt: Date
  readonly sealed: Buffer
}

export interface VaultKeys {
  /** How often the keys changed. */
  readonly generation: number
  readonly change: KeyChange
  readonly recovery: readonly RecoverySlot[]
}

/** Of both: as many as fit into a config.json that version 0.4.0 reads far enough to say that it is newer. */
export const RECOVERY_KEYS_MAX = 3
export const MAC_BYTES = 32
const SEALED_BYTES_MAX = 1800
const GENERATION = { min: 1, max: 1_000_000_000 } as const
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const KNOWN_TYPES: ReadonlySet<unknown> = new Set(TYPES)

export function isRecoveryKeyName(text: string): boolean {
  return NAME.test(text)
}

export function keyFields({ generation, change, recovery }: VaultKeys): object {
  return {
    generation,
    last_change: {
      type: change.type,
      at: change.at.toISOString(),
      recovery_key: change.recoveryKey,
      fingerprint: change.fingerprint,
    },
    recovery_keys: recovery.map(({ name, recipient, createdAt, sealed }) => ({
      name,
      recipient,
      created_at: createdAt.toISOString(),
      sealed: sealed.toString('base64'),
    })),
  }
}

export function readKeys(
  root: Fields,
): { readonly keys: VaultKeys; readonly mac: Buffer } | undefined {
  const generation = readInteger(root['generation'], GENERATION)
  const change = readChange(readObject(root['last_change']))
  const slots = root['recovery_keys']
  const mac = readHex(root['mac'], MAC_BYTES)
  if (generation === undefined || change === undefined || mac === undefined) return undefined
  if (!Array.isArray(slots) || slots.length > RECOVERY_KEYS_MAX) return undefined
  const recovery = slots.map((slot: unknown) => readSlot(readObject(slot)))
  if (!recovery.every((slot) => slot !== undefined)) return undefined
  return { keys: { generation, change, recovery }, mac }
}

function readChange(fields: Fields): KeyChange | undefined {
  const type = fields['type']
  const at = readInstant(fields['at'])
  const recoveryKey = readNullable(fields['recovery_key'], NAME)
  const fingerprint = readNullable(fields['fingerprint'], FINGERPRINT)
  if (!KNOWN_TYPES.has(type) || at === undefined) return undefined
  if (recoveryKey === undefined || fingerprint === undefined) return undefined
  return { type: type as KeyChangeType, at, recoveryKey, fingerprint }
}

function readSlot(fields: Fields): RecoverySlot | undefined {
  const name = readText(fields['name'], NAME)
  const text = fields['recipient']
  const recipient = typeof text === 'string' ? parseRecipient(text) : undefined
  const createdAt = readInstant(fields['created_at'])
  const sealed = Buffer.from(readText(fields['sealed'], BASE64) ?? '', 'base64')
  if (name === undefined || recipient === undefined || createdAt === undefined) return undefined
  return sealed.length === 0 || sealed.length > SEALED_BYTES_MAX
    ? undefined
    : { name, recipient, createdAt, sealed }
}

function readInstant(value: unknown): Date | undefined {
  const instant = new Date(readText(value, INSTANT) ?? Number.NaN)
  return Number.isNaN(instant.getTime()) ? undefined : instant
}

function readNullable(value: unknown, form: RegExp): string | null | undefined {
  return value === null ? null : readText(value, form)
}
