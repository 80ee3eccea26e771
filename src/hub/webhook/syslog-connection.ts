// Syslog has no answers (RFC 5425). But TLS and TCP have an end: the hub sends, says that this was all, and waits until the receiver
// ends its side too. A receiver that has not read all that came does not end, it resets. So each batch has a connection of its
// own, and is delivered once that has ended well. A receiver that ended before anything came to it has read nothing and resets nothing
// in time: what it said then arrives within the round trip that the hub waits between the last byte and its end.

import { readFile } from 'node:fs/promises'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { SvcError } from '../../platform/errors.ts'
import type { Receiver } from '../domain/receiver.ts'
import type { AddressLookup } from '../outbound/address-lookup.ts'

export interface SyslogConnection {
  /** Throws unless the receiver has read all. */
  send(text: string, signal: AbortSignal): Promise<void>
}

export interface SyslogOptions {
  readonly receiver: Extract<Receiver, { readonly format: 'syslog' }>
  readonly rootsPem: readonly string[]
  readonly lookup: AddressLookup
  /** What the hub shows to receivers that ask who it is; the files are read for each connection, since they are renewed. */
  readonly ownPair?: OwnPair | undefined
}

export interface OwnPair {
  readonly certificatePath: string
  readonly keyPath: string
}

const ROUND_TRIP_MS_MIN = 50
const ROUND_TRIP_MS_MAX = 1000

export function openSyslogConnection(options: SyslogOptions): SyslogConnection {
  const { receiver, rootsPem, lookup, ownPair } = options
  const { host, port } = receiver
  return {
    send: async (text, signal) => {
      const { connect } = await import('node:tls')
      const { isIP } = await import('node:net')
      const own = ownPair && (await readPair(ownPair))
      signal.throwIfAborted()
      const connectOptions: ConnectionOptions = {
        host,
        port,
        ...(isIP(host) === 0 && { servername: host }),
        ca: [...rootsPem],
        minVersion: 'TLSv1.2',
        lookup: lookup.forProtocol('https:'),
        ...own,
      }
      await writeAll(connect(connectOptions), text, signal)
    },
  }
}

function writeAll(socket: TLSSocket, text: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begunAt = performance.now()
    let ending: NodeJS.Timeout | undefined
    let isAllSent = false
    let hasEnded = false
    const abort = (): void => void socket.destroy(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    const end = (): void => {
      isAllSent = true
      socket.end()
    }
    socket.once('secureConnect', () => {
      // TCP and TLS have taken two of them; the next one may take longer.
      const connectMs = performance.now() - begunAt
      const roundTripMs = Math.min(ROUND_TRIP_MS_MAX, Math.max(ROUND_TRIP_MS_MIN, connectMs))
      socket.write(text, () => {
        // tidy: a round trip is real time, whatever a Clock says.
        ending = setTimeout(end, roundTripMs)
      })
    })
    // Whatever a receiver says is dropped; how long it may talk, the signal says.
    socket.resume()
    socket.once('end', () => {
      hasEnded = isAllSent
      if (!isAllSent) socket.destroy(tooEarly())
    })
    // Not once: an alert of TLS may come beside the end, and an error that nobody hears ends the hub.
    socket.on('error', reject)
    socket.once('close', () => {
      signal.removeEventListener('abort', abort)
      clearTimeout(ending)
      if (hasEnded) resolve()
      else reject(tooEarly())
    })
  })
}

function tooEarly(): SvcError {
  return new SvcError('receiver_closed', 'the receiver closed the connection before it had all')
}

async function readPair({
  certificatePath,
  keyPath,
}: OwnPair): Promise<{ cert: Buffer; key: Buffer }> {
  return { cert: await readFile(certificatePath), key: await readFile(keyPath) }
}
