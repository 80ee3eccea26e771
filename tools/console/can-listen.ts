import { once } from 'node:events'
import { createServer } from 'node:net'
import { errnoCode } from '../../src/platform/errors.ts'

/** Whether a port of 127.0.0.1 is free. */
export async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (errnoCode(error) === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
