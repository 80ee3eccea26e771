// A standby connects to its hub, and again whenever the connection is gone; the hub asks on it. docs/protocol.md STB-4.

import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Clock } from '../../platform/clock.ts'
import { describeConnectionFailure } from '../../platform/connection-failure.ts'
import { describeError } from '../../platform/errors.ts'
import type { StandbyTls } from './standby-tls.ts'

export interface HubCallOptions {
  readonly hub: URL
  readonly tls: StandbyTls
  readonly clock: Clock
  /** Serves what the hub asks. */
  readonly take: (socket: TLSSocket) => void
  /** Whether the hub ever asked anything on it. */
  readonly wasAsked: (socket: TLSSocket) => boolean
  /** Why the hub is not connected; told once for each reason in a row. */
  readonly onFailure: (reason: string) => void
}

const CONNECT_MS = 5000
const RETRY_MS = 1000
/** A connection that lasted was a good one: what ended it is over soon. */
const LASTED_MS = 5000
const SOON_MS = 100

/** Resolves when the signal aborts. */
export async function keepCalling(options: HubCallOptions, signal: AbortSignal): Promise<void> {
  const { take, wasAsked, onFailure, clock } = options
  let last: string | undefined
  const note = (reason: string): void => {
    if (reason !== last) onFailure(reason)
    last = reason
  }
  while (!signal.aborted) {
    let waitMs = RETRY_MS
    try {
      const socket = await callHub(options, signal)
      // tidy: connections last in real time, whatever a Clock says.
      const beganMs = performance.now()
      take(socket)
      await closed(socket, signal)
      // tidy: as above.
      if (performance.now() - beganMs > LASTED_MS) {
        waitMs = SOON_MS
        last = undefined
      }
      if (!signal.aborted) note(describeEnd(socket, wasAsked(socket)))
    } catch (error) {
      if (signal.aborted) return
      note(describeError(error))
    }
    // The signal ends the wait.
    await clock.sleep(waitMs, signal).catch(() => undefined)
  }
}

function describeEnd(socket: TLSSocket, wasAsked: boolean): string {
  if (!socket.readableEnded && socket.errored === null) return 'the hub said nothing any more'
  return wasAsked
    ? 'the hub closed the connection'
    : 'the hub closed the connection and asked nothing: it has another standby, or stops'
}

/** Closes it when the signal aborts. */
async function closed(socket: TLSSocket, signal: AbortSignal): Promise<void> {
  const end = (): void => void socket.destroy()
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  // Whatever it ends with.
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  signal.removeEventListener('abort', end)
}

/** Connected and known. The caller closes it. Throws an error that says in a few words why there is none. */
export async function callHub(
  { hub, tls }: Pick<HubCallOptions, 'hub' | 'tls'>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const socket = connect({
    ...tls,
    host: hub.hostname.replace(/^\[|\]$/g, ''),
    port: hub.port === '' ? 443 : Number(hub.port),
    minVersion: 'TLSv1.3',
    // Its name is no matter: no other certificate is trusted.
    servername: '',
    checkServerIdentity: () => undefined,
  })
  const timeout = AbortSignal.timeout(CONNECT_MS)
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.any([signal, timeout]) })
  } catch (error) {
    socket.destroy()
    const why = timeout.aborted
      ? `timeout: no answer for ${CONNECT_MS} ms`
      : describeConnectionFailure(error)
    throw new Error(why, { cause: error })
  }
  // What ends it its user sees.
  return socket.on('error', () => undefined)
}
