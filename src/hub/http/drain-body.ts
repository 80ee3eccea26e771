import type { IncomingMessage } from 'node:http'

const DRAINED_BYTES_MAX = 1024 * 1024

/**
 * Reads and drops what is left of a refused body, so that the client reads our answer instead of finding the connection
 * reset. Answers whether the body came to its end within a MiB; if not, the connection has to be closed.
 */
export async function drainBody(request: IncomingMessage): Promise<boolean> {
  if (request.complete || request.readableEnded || request.destroyed) return true
  return new Promise((resolve) => {
    let drainedBytes = 0
    const settle = (isComplete: boolean): void => {
      request.off('data', onData)
      request.pause()
      resolve(isComplete)
    }
    const onData = (chunk: Buffer): void => {
      drainedBytes += chunk.length
      if (drainedBytes > DRAINED_BYTES_MAX) settle(false)
    }
    request.on('data', onData)
    request.once('end', () => settle(true))
    request.once('close', () => settle(false))
    request.once('error', () => settle(false))
    request.resume()
  })
}
