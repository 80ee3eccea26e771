import type { Server as TlsServer } from 'node:tls'
import { handshakesOf } from './handshakes.ts'

/** Often, so that few are closed at a time. */
const LOOK_INTERVAL_MS = 50

/** A connection whose handshake is not done so long after it came is closed. docs/protocol.md LIM-8. */
export function boundHandshakes(server: TlsServer, limitMs: number): void {
  const handshakes = handshakesOf(server)
  const closeLate = (): void => {
    const untilMs = performance.now() - limitMs
    // The oldest come first.
    for (const { socket, begunMs } of handshakes.underWay()) {
      if (begunMs > untilMs) return
      socket.destroy()
    }
  }
  // tidy: a connection lives in real time, whatever a Clock says.
  const timer = setInterval(closeLate, LOOK_INTERVAL_MS).unref()
  server.once('close', () => clearInterval(timer))
}
