import { MessageChannel } from 'node:worker_threads'

/**
 * Resolves in the phase of the event loop in which sockets are read; promises of timers and of setImmediate resolve in
 * others. TLS must begin there with a hello that has been read before: what Node's TLS writes is pending until the phase of
 * setImmediate, and the alert of a handshake that fails while it is so is never sent.
 */
export const readPhase: () => Promise<void> = createReadPhase()

function createReadPhase(): () => Promise<void> {
  const waiting: (() => void)[] = []
  const { port1, port2 } = new MessageChannel()
  port2.on('message', () => waiting.shift()?.()).unref()
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      port1.postMessage(undefined)
    })
}
