import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Blob } from '../service/agent/find-blob.ts'
import { sendRefusal } from './error-response.ts'

const CHUNK_BYTES = 64 * 1024

/** Answers GET and HEAD, and a validator that still holds. docs/protocol.md BLB. */
export async function sendBlob(
  request: FastifyRequest,
  reply: FastifyReply,
  blob: Blob | undefined,
): Promise<FastifyReply> {
  if (blob === undefined) return sendRefusal(reply, 'blob_not_found')
  const { sha256, byteCount } = blob.summary
  if (isKnown(request.headers['if-none-match'], etagOf(sha256))) {
    return reply.code(304).header('etag', etagOf(sha256)).send()
  }
  if (request.method === 'HEAD') return describe(reply, sha256, byteCount).send()
  const content = await blob.read()
  if (content === undefined) return sendRefusal(reply, 'blob_not_found')
  return describe(reply, content.sha256, content.bytes.length).send(
    // A slow reader keeps a piece of the file in its connection's buffers, not the whole file.
    Readable.from(piecesOf(content.bytes), { objectMode: false, highWaterMark: CHUNK_BYTES }),
  )
}

function describe(reply: FastifyReply, sha256: string, byteCount: number): FastifyReply {
  // RFC 9530.
  const digest = Buffer.from(sha256, 'hex').toString('base64')
  return reply
    .type('application/octet-stream')
    .header('content-length', byteCount)
    .header('etag', etagOf(sha256))
    .header('repr-digest', `sha-256=:${digest}:`)
}

function etagOf(sha256: string): string {
  return `"${sha256}"`
}

/** A list of validators, or `*` for any: RFC 9110 13.1.2, where weak ones compare like strong ones. */
function isKnown(header: string | undefined, etag: string): boolean {
  const validators = (header ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''))
  return validators.includes(etag) || validators.includes('*')
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    yield bytes.subarray(start, start + CHUNK_BYTES)
  }
}
