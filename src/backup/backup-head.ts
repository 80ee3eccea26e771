// The head of a backup: what it is of, and what is needed, besides the passphrase, to open it. Nothing in it is secret.
//
//   8 bytes    SVCBKUP1
//   4 bytes    length of the text that follows, big-endian
//   n bytes    JSON, UTF-8: the fields of BackupHead
//   32 bytes   SHA-256 of everything before: tells damage from a passphrase that does not fit
//   32 bytes   HMAC-SHA256 of everything before, under a key from the data key: tells who wrote it
//
// docs/protocol.md BKP-2.

import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { isUuid } from '../protocol/identifiers.ts'
import { BackupError } from './backup-error.ts'

export interface BackupHead {
  readonly backupId: string
  readonly vaultId: string
  /** RFC 3339. */
  readonly createdAt: string
  readonly actor: string
  /** Version of the program that made it. */
  readonly program: string
  readonly store: BackedUpStore
  readonly log: BackedUpLog
  /** Of the keys of this backup, lower-case hex. */
  readonly salt: string
  /** The text of `config.json`, with the wrapped data key. */
  readonly config: string
}

export interface BackedUpStore {
  /** Which kind of store reads the content. */
  readonly kind: string
  /** Of its tables. */
  readonly version: number
  readonly bytes: number
}

/** Where the audit log ended. */
export interface BackedUpLog {
  readonly entries: number
  readonly hash: string
  /** Of the last entry; null in an empty log. */
  readonly timestamp: string | null
  /** The newest that the hub had signed; null of a vault that had none yet. */
  readonly checkpoint: string | null
}

export const BACKUP_MAGIC: Buffer = Buffer.from('SVCBKUP1')
export const BACKUP_SALT_BYTES = 32
const FORMAT = 1
const LENGTH_BYTES = 4
/** Of the text; a configuration has at most 16 KiB. */
const TEXT_BYTES_MAX = 128 * 1024
const DIGEST_BYTES = 32
export const HEAD_BYTES_MIN: number = BACKUP_MAGIC.length + LENGTH_BYTES

export function encodeBackupHead(head: BackupHead, key: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify({ format: FORMAT, ...head }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  const described = Buffer.concat([BACKUP_MAGIC, length, text])
  const summed = Buffer.concat([described, digestOf(described)])
  return Buffer.concat([summed, macOf(summed, key)])
}

/** How many bytes the whole head has, by its first HEAD_BYTES_MIN bytes. */
export function countHeadBytes(start: Buffer, name: string): number {
  if (!start.subarray(0, BACKUP_MAGIC.length).equals(BACKUP_MAGIC)) {
    throw new BackupError('backup_unknown', `${name} is not a backup of a vault`, {
      hint: 'svc backup makes one',
    })
  }
  const textBytes = start.readUInt32BE(BACKUP_MAGIC.length)
  if (textBytes > TEXT_BYTES_MAX) throw damagedHead(name)
  return HEAD_BYTES_MIN + textBytes + 2 * DIGEST_BYTES
}

/** The fields of a whole head, which only its MAC makes believable. */
export function parseBackupHead(bytes: Buffer, name: string): BackupHead {
  const described = bytes.subarray(0, bytes.length - 2 * DIGEST_BYTES)
  const digest = bytes.subarray(described.length, described.length + DIGEST_BYTES)
  if (!digestOf(described).equals(digest)) throw damagedHead(name)
  const fields = parseJson(described.subarray(HEAD_BYTES_MIN).toString('utf8'))
  const format = fields['format']
  if (typeof format === 'number' && format > FORMAT) {
    throw new BackupError(
      'backup_newer',
      `${name} has format ${format}, this program knows format ${FORMAT}`,
      { hint: `use the newer version of the program: ${String(fields['program'])} wrote it` },
    )
  }
  const head = readHead(fields)
  if (format !== FORMAT || head === undefined) throw damagedHead(name)
  return head
}

/** The config that the head carries leads to the key that the head was written under, or somebody put the two together. */
export function requireHeadMac(bytes: Buffer, key: Buffer, name: string): void {
  const summed = bytes.subarray(0, bytes.length - DIGEST_BYTES)
  if (timingSafeEqual(macOf(summed, key), bytes.subarray(summed.length))) return
  throw new BackupError(
    'backup_damaged',
    `the head of ${name} was not written by the vault that its config.json opens`,
    { hint: 'somebody changed it, or put it together from two backups; take another backup' },
  )
}

function digestOf(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer')
}

function macOf(bytes: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).digest()
}

function damagedHead(name: string): BackupError {
  return new BackupError('backup_damaged', `the head of ${name} is damaged`, {
    hint: 'take another backup, or another copy of this one',
  })
}

type Fields = Readonly<Record<string, unknown>>

function parseJson(text: string): Fields {
  try {
    return asFields(JSON.parse(text))
  } catch {
    return {}
  }
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function readHead(fields: Fields): BackupHead | undefined {
  const { backupId, vaultId, createdAt, actor, program, salt, config } = fields
  const store = readStore(asFields(fields['store']))
  const log = readLog(asFields(fields['log']))
  if (store === undefined || log === undefined) return undefined
  if (!isInstant(createdAt) || !isText(actor) || !isText(program) || !isText(config))
    return undefined
  if (!isText(backupId) || !isUuid(backupId)) return undefined
  if (!isText(vaultId) || !isUuid(vaultId)) return undefined
  if (!isHex(salt, BACKUP_SALT_BYTES)) return undefined
  return { backupId, vaultId, createdAt, actor, program, store, log, salt, config }
}

function readStore({ kind, version, bytes }: Fields): BackedUpStore | undefined {
  if (!isText(kind) || !isCount(version) || !isCount(bytes)) return undefined
  return { kind, version, bytes }
}

function readLog({ entries, hash: end, timestamp, checkpoint }: Fields): BackedUpLog | undefined {
  if (!isCount(entries) || !isHex(end, DIGEST_BYTES)) return undefined
  if (timestamp !== null && !isText(timestamp)) return undefined
  if (checkpoint !== null && !isText(checkpoint)) return undefined
  return { entries, hash: end, timestamp, checkpoint }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** As it was written, so that everybody can count with it: also who has no key, and cannot know who wrote it. */
function isInstant(value: unknown): value is string {
  const instant = new Date(isText(value) ? value : Number.NaN)
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === value
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isHex(value: unknown, bytes: number): value is string {
  return isText(value) && value.length === bytes * 2 && /^[0-9a-f]*$/.test(value)
}
