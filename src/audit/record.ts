// The record of an entry: one text that covers every column of it, whose hash is a leaf of the log's tree. docs/protocol.md CHN-12.

import { hash } from 'node:crypto'
import type { ChainedEntry } from './hash-chain.ts'

/** An entry of the log with all that a row of it has. */
export interface RecordedEntry extends ChainedEntry {
  readonly id: string
  /** Null for the hub's own acts. */
  readonly agentId: string | null
  readonly eventType: string
  readonly deliveryId: string | null
  readonly requestId: string | null
}

/** First in every record: a hash of anything else can never be taken for one of an entry. */
const LABEL = 'svc-evento-v1'
const FIELD_COUNT = 11

/**
 * Each field in its order, as a netstring: its length in bytes, a colon, the UTF-8 text, a comma; `-,` for one that is null. So no
 * two entries have the same record.
 */
export function formatRecord(entry: RecordedEntry): string {
  return (
    netstring(LABEL) +
    netstring(String(entry.seq)) +
    netstring(entry.id) +
    netstring(entry.agentId) +
    netstring(entry.eventType) +
    netstring(entry.deliveryId) +
    netstring(entry.requestId) +
    netstring(entry.payloadText) +
    netstring(entry.timestamp) +
    netstring(entry.previousHash) +
    netstring(entry.hash)
  )
}

/** Undefined when the text is not a record. */
export function parseRecord(text: string): RecordedEntry | undefined {
  const fields = parseNetstrings(text)
  if (fields?.length !== FIELD_COUNT) return undefined
  const [label, seq, id, agentId, eventType, deliveryId, requestId, payloadText] = fields
  const [timestamp, previousHash, chainHash] = fields.slice(8)
  if (label !== LABEL || !isText(chainHash)) return undefined
  if (!isText(seq) || !isText(id) || !isText(eventType) || !isText(payloadText)) return undefined
  if (!isText(timestamp) || !isText(previousHash) || !isText(chainHash)) return undefined
  if (agentId === undefined || deliveryId === undefined || requestId === undefined) return undefined
  const count = Number(seq)
  if (String(count) !== seq || !Number.isSafeInteger(count)) return undefined
  const chained = { seq: count, payloadText, timestamp, previousHash, hash: chainHash }
  return { ...chained, id, agentId, eventType, deliveryId, requestId }
}

/** The leaf of an entry: RFC 6962, 2.1. 32 bytes. */
export function hashRecord(record: string): Buffer {
  return hash('sha256', `\0${record}`, 'buffer')
}

/** Undefined when the text is anything else, or has more fields than a record. */
function parseNetstrings(text: string): (string | null)[] | undefined {
  // Lengths are in bytes, which are the characters where all are ASCII. Where not, each byte is made a character here: a log of
  // ten million entries is read field by field, and to cut a string costs a fifth of what it costs to decode bytes.
  const isAscii = Buffer.byteLength(text) === text.length
  const bytes = isAscii ? text : Buffer.from(text).toString('latin1')
  const fields: (string | null)[] = []
  for (let at = 0; at < bytes.length;) {
    if (fields.length === FIELD_COUNT) return undefined
    if (bytes.startsWith('-,', at)) {
      fields.push(null)
      at += 2
      continue
    }
    const colon = findColon(bytes, at)
    const end = colon + 1 + Number(bytes.slice(at, colon))
    if (colon < 0 || bytes[end] !== ',') return undefined
    const field = bytes.slice(colon + 1, end)
    fields.push(isAscii ? field : Buffer.from(field, 'latin1').toString())
    at = end + 1
  }
  return fields
}

const LENGTH_DIGITS_MAX = 9
const [ZERO, NINE, COLON] = [0x30, 0x39, 0x3a]

/** Where the length that begins at `start` ends; -1 when none does, or it is not written in the one way. */
function findColon(bytes: string, start: number): number {
  let at = start
  while (at - start <= LENGTH_DIGITS_MAX) {
    const code = bytes.charCodeAt(at)
    if (code === COLON) break
    if (!(code >= ZERO && code <= NINE)) return -1
    at += 1
  }
  const digits = at - start
  const isOne = digits > 0 && digits <= LENGTH_DIGITS_MAX
  return isOne && (digits === 1 || bytes.charCodeAt(start) !== ZERO) ? at : -1
}

function isText(field: string | null | undefined): field is string {
  return typeof field === 'string'
}

function netstring(text: string | null): string {
  return text === null ? '-,' : `${Buffer.byteLength(text)}:${text},`
}
