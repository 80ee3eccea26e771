// Clients that never stop: each makes one full TLS handshake after the other, checks the chain up to the root and the
// name, asks for a page, and counts. Half of them speak TLS 1.2.

import { connect } from 'node:tls'
import { systemClock } from '../../../src/platform/clock.ts'
import { SITE } from './service-host.ts'

export interface TlsLoadCount {
  /** Those that ended with the page. */
  readonly handshakes: number
  readonly failures: readonly string[]
  /** All certificates that were seen. */
  readonly serials: ReadonlySet<string>
}

export interface TlsLoad {
  readonly count: TlsLoadCount
  /** Resolves when the last handshake under way has ended. */
  stop(): Promise<TlsLoadCount>
}

const CLIENTS = 6
/** Every one in a while lets the server, and the agent that it shares two cores with, have their turn. */
const PAUSE_MS = 8
const ATTEMPT_MS = 20_000
const REQUEST = `GET / HTTP/1.1\r\nHost: ${SITE}\r\nConnection: close\r\n\r\n`

export function startTlsLoad(port: number, rootPem: string): TlsLoad {
  const count = { handshakes: 0, failures: [] as string[], serials: new Set<string>() }
  const stopping = new AbortController()

  async function keepAsking(maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        count.serials.add(await askOnce(port, rootPem, maxVersion))
        count.handshakes += 1
      } catch (error) {
        count.failures.push(`${new Date().toISOString()} ${maxVersion}: ${String(error)}`)
      }
      await systemClock.sleep(PAUSE_MS)
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    keepAsking(index % 2 === 0 ? 'TLSv1.3' : 'TLSv1.2'),
  )
  return {
    count,
    async stop() {
      stopping.abort()
      await Promise.all(clients)
      return count
    },
  }
}

/** The serial that was shown. */
function askOnce(
  port: number,
  rootPem: string,
  maxVersion: 'TLSv1.2' | 'TLSv1.3',
): Promise<string> {
  return new Promise((resolve, reject) => {
    let serial = ''
    let reply = ''
    const socket = connect({ host: '127.0.0.1', port, servername: SITE, ca: rootPem, maxVersion })
    const fail = (error: Error): void => {
      const when = serial === '' ? 'handshake' : 'request'
      socket.destroy()
      reject(new Error(`${when}: ${error.message}`))
    }
    socket.setTimeout(ATTEMPT_MS, () => fail(new Error('no answer')))
    socket.on('error', fail)
    socket.on('secureConnect', () => {
      serial = socket.getPeerX509Certificate()?.serialNumber.toLowerCase() ?? ''
      if (socket.isSessionReused()) fail(new Error('an earlier session was resumed'))
      else socket.write(REQUEST)
    })
    socket.on('data', (chunk: Buffer) => {
      reply += chunk.toString('latin1')
    })
    socket.on('close', () => {
      if (reply.startsWith('HTTP/1.1 200')) resolve(serial)
      else fail(new Error(`closed after ${JSON.stringify(reply.slice(0, 40))}`))
    })
  })
}
