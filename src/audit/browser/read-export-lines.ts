// The lines of an export: docs/protocol.md CHN-12, CHN-30.

import { type Bytes, decode, encode, fromBase64, sha256, toHex } from './bytes.ts'
import { ExportFault } from './export-fault.ts'

const FORMAT = 'svc-evento-export-v1'
const LABEL = 'svc-evento-v1'

export interface Head {
  readonly after: number
  readonly until: number
  readonly checkpoint: string
  readonly key: string
  readonly left: readonly Bytes[]
  readonly right: readonly Bytes[]
}

export function readHead(line: string): Head {
  const { after, until, checkpoint, key, left, right } = (parseJson(line) ?? {}) as Record<
    string,
    unknown
  >
  const again = JSON.stringify({ format: FORMAT, after, until, checkpoint, key, left, right })
  const areCounts = isCount(after) && isCount(until) && after <= until
  const hashes = [left, right].map(readHashes)
  const [leftHashes, rightHashes] = hashes
  if (
    again !== line ||
    !areCounts ||
    typeof checkpoint !== 'string' ||
    typeof key !== 'string' ||
    leftHashes === undefined ||
    rightHashes === undefined
  ) {
    throw new ExportFault('the first line is not that of an export of the log')
  }
  return { after, until, checkpoint, key, left: leftHashes, right: rightHashes }
}

function readHashes(value: unknown): Bytes[] | undefined {
  if (!Array.isArray(value)) return undefined
  const hashes = value.map((text) => (typeof text === 'string' ? fromBase64(text) : undefined))
  return hashes.every((hash) => hash?.length === 32) ? (hashes as Bytes[]) : undefined
}

export interface Entry {
  readonly seq: string
  readonly timestamp: string
  readonly previousHash: string
  readonly hash: string
  readonly madeHash: string
}

export async function readEntry(
  line: string,
  number: number,
): Promise<Entry & { readonly leaf: Bytes }> {
  const record = parseJson(line)
  if (typeof record !== 'string' || JSON.stringify(record) !== line) {
    throw new ExportFault('it is no record', number)
  }
  return readRecord(record, number)
}

/** CHN-12. */
export async function readRecord(
  record: string,
  number: number,
): Promise<Entry & { readonly leaf: Bytes }> {
  // As a leaf of the tree, with its zero in front.
  const bytes = /\p{Surrogate}/u.test(record) ? undefined : encode(`\0${record}`)
  const fields = bytes && parseNetstrings(bytes.subarray(1))
  if (bytes === undefined || fields?.length !== 11 || fields[0] !== LABEL) {
    throw new ExportFault('it is no record', number)
  }
  const [, seq, id, , type, , , payload, timestamp, previousHash, hash] = fields
  if ([seq, id, type, payload, timestamp, previousHash, hash].includes(null)) {
    throw new ExportFault('it is no record', number)
  }
  const chained = encode(`${previousHash}${payload}${timestamp}`)
  const [made, leaf] = await Promise.all([sha256(chained), sha256(bytes)])
  return {
    seq: `${seq}`,
    timestamp: `${timestamp}`,
    previousHash: `${previousHash}`,
    hash: `${hash}`,
    madeHash: toHex(made),
    leaf,
  }
}

function parseNetstrings(bytes: Bytes): (string | null)[] | undefined {
  const [dash, comma, colon] = [0x2d, 0x2c, 0x3a]
  const fields: (string | null)[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] === dash && bytes[at + 1] === comma) {
      fields.push(null)
      at += 2
      continue
    }
    const start = bytes.indexOf(colon, at) + 1
    const digits =
      start === 0 || start - at > 10 ? '' : (decode(bytes.subarray(at, start - 1)) ?? '')
    if (!/^(?:0|[1-9][0-9]*)$/.test(digits)) return undefined
    const end = start + Number(digits)
    if (bytes[end] !== comma) return undefined
    const text = decode(bytes.subarray(start, end))
    if (text === undefined) return undefined
    fields.push(text)
    at = end + 1
  }
  return fields
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
