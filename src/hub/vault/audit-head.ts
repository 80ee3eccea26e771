// The authenticated head of the audit log, outside the database: number and hash of the last entry, under a MAC. SQLite
// drops a damaged end of its write-ahead log in silence, and anyone can put yesterday's database back; against the head
// the log is seen to be shorter, or another one. docs/protocol.md CHN-9.
//
// Two slots of one file are written in turn, so that one of them is whole whatever happens to the other. The head is
// written after each commit and not synced: it may lag behind the log, it never leads.

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import type { Secret } from '../../platform/secret.ts'

export interface AuditHead {
  readonly seq: number
  /** Lower-case hex. */
  readonly hash: string
}

export interface AuditHeadFile {
  /** The newest head that is whole; undefined when no head is. */
  read(): AuditHead | undefined
  write(head: AuditHead): void
  /** Forgets every other head, newer ones too, and is durable: for the first one, and for a loss that was accepted. */
  reset(head: AuditHead): void
  close(): void
}

const MAGIC = Buffer.from('SVCHEAD1')
const SEQ_OFFSET = MAGIC.length
const HASH_OFFSET = SEQ_OFFSET + 8
const MAC_OFFSET = HASH_OFFSET + 32
const SLOT_BYTES = MAC_OFFSET + 32
/** Slots stand in different sectors: a torn write reaches one of them. */
const SLOT_DISTANCE_BYTES = 4096
const SLOTS = 2
const KEY_PURPOSE = 'svc audit head v1'

/** The file is made, at its full size, when it is not there. */
export function openAuditHeadFile(path: string, dataKey: Secret<Buffer>): AuditHeadFile {
  const key = Buffer.from(hkdfSync('sha256', dataKey.reveal(), '', KEY_PURPOSE, 32))
  const descriptor = openSync(
    path,
    constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  )
  preallocate(descriptor)
  const slots = Array.from({ length: SLOTS }, (_, index) => readSlot(descriptor, index, key))
  let newest = newestOf(slots)
  let nextSlot = newest === undefined ? 0 : (slots.indexOf(newest) + 1) % SLOTS
  const write = (head: AuditHead): void => {
    writeSync(descriptor, encodeSlot(head, key), 0, SLOT_BYTES, nextSlot * SLOT_DISTANCE_BYTES)
    newest = head
    nextSlot = (nextSlot + 1) % SLOTS
  }
  return {
    read: () => newest,
    write,
    reset: (head) => {
      for (let slot = 0; slot < SLOTS; slot += 1) write(head)
      // The first head of all must not be gone after a power cut: a log without one is refused.
      fsyncSync(descriptor)
    },
    close: () => closeSync(descriptor),
  }
}

function preallocate(descriptor: number): void {
  const lastByte = Buffer.alloc(1)
  const end = SLOTS * SLOT_DISTANCE_BYTES - 1
  if (readSync(descriptor, lastByte, 0, 1, end) === 1) return
  // Zeros, written out: space that is only promised could be gone when a head needs it.
  const zeros = Buffer.alloc(SLOTS * SLOT_DISTANCE_BYTES)
  const present = Buffer.alloc(zeros.length)
  const length = readSync(descriptor, present, 0, present.length, 0)
  present.copy(zeros, 0, 0, length)
  writeSync(descriptor, zeros, 0, zeros.length, 0)
  fsyncSync(descriptor)
}

function readSlot(descriptor: number, index: number, key: Buffer): AuditHead | undefined {
  const slot = Buffer.alloc(SLOT_BYTES)
  readSync(descriptor, slot, 0, SLOT_BYTES, index * SLOT_DISTANCE_BYTES)
  if (!slot.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  if (!timingSafeEqual(slot.subarray(MAC_OFFSET), macOf(slot, key))) return undefined
  return {
    seq: Number(slot.readBigUInt64BE(SEQ_OFFSET)),
    hash: slot.subarray(HASH_OFFSET, MAC_OFFSET).toString('hex'),
  }
}

function encodeSlot({ seq, hash }: AuditHead, key: Buffer): Buffer {
  const slot = Buffer.alloc(SLOT_BYTES)
  MAGIC.copy(slot)
  slot.writeBigUInt64BE(BigInt(seq), SEQ_OFFSET)
  slot.write(hash, HASH_OFFSET, 'hex')
  macOf(slot, key).copy(slot, MAC_OFFSET)
  return slot
}

function macOf(slot: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(slot.subarray(0, MAC_OFFSET)).digest()
}

function newestOf(slots: readonly (AuditHead | undefined)[]): AuditHead | undefined {
  return slots.reduce(
    (best, slot) => (slot && (!best || slot.seq > best.seq) ? slot : best),
    undefined,
  )
}
