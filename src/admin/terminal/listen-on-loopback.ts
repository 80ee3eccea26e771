// A server of this program on loopback, for a browser of the same machine.

import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errnoCode, UserError } from '../../platform/errors.ts'

const ADDRESS = '127.0.0.1'

/** Answers the port that it has: `port`, or a free one for 0. Throws a UserError where `--port` names one that cannot be had. */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  server.listen(port, ADDRESS)
  await once(server, 'listening').catch((error: unknown) => {
    throw explainListening(error, port)
  })
  return (server.address() as AddressInfo).port
}

/** Whatever is on its way. */
export async function closeServer(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

function explainListening(error: unknown, port: number): unknown {
  const code = errnoCode(error)
  if (code === 'EADDRINUSE') {
    return new UserError('port_in_use', `--port: another program has port ${port} of ${ADDRESS}`, {
      cause: error,
      hint: 'leave --port out: svc finds one that is free',
    })
  }
  if (code !== 'EACCES') return error
  return new UserError('port_refused', `--port: only root may have port ${port}`, { cause: error })
}
