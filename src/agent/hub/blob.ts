// The content of a cargo that is a file, as the hub hands it out: bounded, and held against the digest that comes with it.

import { hash } from 'node:crypto'
import type { ReplyHeaders } from './request.ts'

export interface Blob {
  readonly bytes: Uint8Array
  /** Of the bytes that came, lower-case hex. */
  readonly sha256: string
  /** Whether these are the bytes that the hub meant to send. */
  readonly isIntact: boolean
}

/** Far above what a hub takes from its operators. */
export const BLOB_BYTES_MAX = 16 * 1024 * 1024
/** Room for the largest one over a slow line. */
export const BLOB_TIMEOUT_MS = 120_000
export const BLOB_TYPE = 'application/octet-stream'

/** One member of a dictionary of RFC 9530. */
const SHA256_MEMBER = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):\s*(?=$|,)/

/** Undefined when the reply says nothing of its digest: then it is not the hub that answered. */
export function decodeBlob(bytes: Buffer, headers: ReplyHeaders): Blob | undefined {
  const header = headers['repr-digest']
  const [, promised] =
    SHA256_MEMBER.exec(Array.isArray(header) ? header.join(',') : (header ?? '')) ?? []
  if (promised === undefined) return undefined
  const digest = hash('sha256', bytes, 'buffer')
  return {
    bytes,
    sha256: digest.toString('hex'),
    isIntact: digest.equals(Buffer.from(promised, 'base64')),
  }
}
