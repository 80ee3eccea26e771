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
  const fields = parseNetstrings(Buffer.from(text))
  const [label, seq, id, agentId, eventType, deliveryId, requestId, payloadText, ...chain] =
    fields ?? []
  const [timestamp, previousHash, chainHash, ...more] = chain
  if (label !== LABEL || chainHash === undefined || more.length > 0) return undefined
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

/** Undefined when the bytes are anything else. */
function parseNetstrings(bytes: Buffer): (string | null)[] | undefined {
  const fields: (string | null)[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] === DASH && bytes[at + 1] === COMMA) {
      fields.push(null)
      at += 2
      continue
    }
    const colon = bytes.indexOf(':', at)
    const digits = colon < 0 ? '' : bytes.toString('latin1', at, colon)
    if (!LENGTH.test(digits)) return undefined
    const end = colon + 1 + Number(digits)
    if (bytes[end] !== COMMA) return undefined
    fields.push(bytes.toString('utf8', colon + 1, end))
    at = end + 1
  }
  return fields
}

const [DASH, COMMA] = [...Buffer.from('-,')]
const LENGTH = /^(?:0|[1-9][0-9]{0,8})$/

function isText(field: string | null | undefined): field is string {
  return typeof field === 'string'
}

function netstring(text: string | null): string {
  return text === null ? '-,' : `${Buffer.byteLength(text)}:${text},`
}
