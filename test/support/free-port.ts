import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { errnoCode } from '../../src/platform/errors.ts'

// Below what Linux gives by itself (ip_local_port_range, from 32768): there, a connection of another test may take the port
// before the program has it.
const FIRST_PORT = 10_000
const END_PORT = 32_768

/** A port of 127.0.0.1 that is free; for programs that cannot choose one themselves. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(FIRST_PORT, END_PORT)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (errnoCode(error) === 'EADDRINUSE') return findFreePort()
    throw error
  }
  server.close()
  await once(server, 'close')
  return port
}
