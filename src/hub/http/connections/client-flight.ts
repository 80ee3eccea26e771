// What a TLS client says until its certificate is there, read along before OpenSSL gets it. OpenSSL verifies every signature
// of whatever chain a client sends, and each may cost what the client likes, so chains are bounded here. docs/protocol.md
// LIM-30. Records: RFC 8446 5.1, messages: 4 and RFC 5246 7.4.

import {
  CHAIN_BYTES_MAX,
  CHAIN_CERTIFICATES_MAX,
  findChainFault,
} from '../../../pki/chain-bounds.ts'
import type { OpenRecord } from './record-opener.ts'

/** What may go on to TLS, which is complete records; or why nothing may. */
export type FlightVerdict =
  | { readonly ok: true; readonly bytes: Buffer; readonly isOver: boolean }
  | { readonly ok: false; readonly reason: string }

export interface ClientFlight {
  take(chunk: Buffer): FlightVerdict
  /** From here on records are encrypted, and a certificate comes as TLS 1.3 has it. */
  useKey(open: OpenRecord): void
}

const RECORD_HEADER_BYTES = 5
const MESSAGE_HEADER_BYTES = 4
const Record = { changeCipherSpec: 20, alert: 21, handshake: 22, encrypted: 23 } as const
const Message = { clientHello: 1, certificate: 11 } as const
/** RFC 8446 5.2. */
const RECORD_BODY_BYTES_MAX = 16_384 + 256
/** Besides the certificates, what a Certificate message has of lengths and extensions. */
const MESSAGE_BYTES_MAX = CHAIN_BYTES_MAX + 1024
/** Two hellos, where the first one named no group that we know, and the certificate; each may come in many small records. */
const FLIGHT_BYTES_MAX = 64 * 1024
/** Twice as many as the largest chain takes in the smallest records that a client can agree on: 512 bytes, RFC 6066. */
const FLIGHT_RECORDS_MAX = 64

/** What a record, or a message, comes to: `over` when a chain is there that may be verified. */
type Step = 'more' | 'over' | { readonly fault: string }

const TOO_EARLY: Step = { fault: 'application data before the handshake was done' }

export function createClientFlight(): ClientFlight {
  let open: OpenRecord | undefined
  let held: Buffer = Buffer.alloc(0)
  let flightBytes = 0
  let flightRecords = 0
  const messages = createMessageReader()

  const judge = (header: Buffer, body: Buffer): Step => {
    const type = header[0]
    if (type === Record.changeCipherSpec || type === Record.alert) return 'more'
    if (open === undefined) {
      return type === Record.handshake ? messages.take(body, false) : TOO_EARLY
    }
    const opened = type === Record.encrypted ? open(header, body) : undefined
    if (opened === undefined) return { fault: 'a record of another kind than agreed' }
    if (opened.type === Record.alert) return 'more'
    return opened.type === Record.handshake ? messages.take(opened.content, true) : TOO_EARLY
  }
  return {
    useKey: (opener) => {
      open = opener
    },
    take: (chunk) => {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      let at = 0
      for (;;) {
        const bodyAt = at + RECORD_HEADER_BYTES
        if (bytes.length < bodyAt) break
        const bodyBytes = bytes.readUInt16BE(at + 3)
        if (bodyBytes > RECORD_BODY_BYTES_MAX) return refused('bytes that are not TLS')
        const end = bodyAt + bodyBytes
        if (bytes.length < end) break
        flightRecords += 1
        if (flightRecords > FLIGHT_RECORDS_MAX) return refused('a handshake in crumbs')
        const step = judge(bytes.subarray(at, bodyAt), bytes.subarray(bodyAt, end))
        if (step === 'over') return { ok: true, bytes, isOver: true }
        if (step !== 'more') return refused(step.fault)
        at = end
      }
      // Counted only now: bytes after the certificate, in the same chunk, do not belong to it.
      flightBytes += chunk.length
      if (flightBytes > FLIGHT_BYTES_MAX) return refused('a handshake without an end')
      held = Buffer.from(bytes.subarray(at))
      return { ok: true, bytes: bytes.subarray(0, at), isOver: false }
    },
  }
}

function refused(reason: string): FlightVerdict {
  return { ok: false, reason }
}

/** Messages may be cut into records anywhere. */
function createMessageReader() {
  let held: Buffer = Buffer.alloc(0)
  /** What is left of a hello. */
  let skipBytes = 0
  return {
    take: (content: Buffer, isTls13: boolean): Step => {
      const skipped = Math.min(skipBytes, content.length)
      skipBytes -= skipped
      held = Buffer.concat([held, content.subarray(skipped)])
      while (held.length >= MESSAGE_HEADER_BYTES) {
        const [type, messageBytes] = [held[0], held.readUIntBE(1, 3)]
        const end = MESSAGE_HEADER_BYTES + messageBytes
        if (type === Message.clientHello) {
          skipBytes = Math.max(0, end - held.length)
          held = held.subarray(end)
          continue
        }
        // A client that was asked for its certificate says that first, even when it has none.
        if (type !== Message.certificate) return { fault: 'a message that is not a certificate' }
        if (messageBytes > MESSAGE_BYTES_MAX) {
          return { fault: `a chain of more than ${CHAIN_BYTES_MAX} bytes` }
        }
        return held.length < end
          ? 'more'
          : judgeCertificates(held.subarray(MESSAGE_HEADER_BYTES, end), isTls13)
      }
      return 'more'
    },
  }
}

function judgeCertificates(message: Buffer, isTls13: boolean): Step {
  // In TLS 1.3 a context comes first; one that is not empty is for certificates that are asked for after the handshake.
  const chain = isTls13
    ? message[0] === 0
      ? readChain(message.subarray(1), true)
      : undefined
    : readChain(message, false)
  const fault = chain === undefined ? 'a malformed certificate message' : findChainFault(chain)
  return fault === undefined ? 'over' : { fault }
}

/** A list of certificates: three bytes of length before the list, and three before each certificate. */
function readChain(list: Buffer, hasExtensions: boolean): Buffer[] | undefined {
  if (list.length < 3 || list.readUIntBE(0, 3) !== list.length - 3) return undefined
  const certificates: Buffer[] = []
  let at = 3
  // One more than may be: that it is one too many is for others to say.
  while (at < list.length && certificates.length <= CHAIN_CERTIFICATES_MAX) {
    if (at + 3 > list.length) return undefined
    const start = at + 3
    const end = start + list.readUIntBE(at, 3)
    if (end > list.length) return undefined
    certificates.push(list.subarray(start, end))
    at = end
    if (!hasExtensions) continue
    if (end + 2 > list.length) return undefined
    at = end + 2 + list.readUInt16BE(end)
    if (at > list.length) return undefined
  }
  return certificates
}
