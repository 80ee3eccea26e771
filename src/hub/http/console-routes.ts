// The console on the admin port: the same static files for everybody, since what they show is asked for with credentials.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { CONSOLE_PATH, type ConsoleFiles } from '../../console-files/console-files.ts'
import { type ConsoleSealing, SEALING_ROUTE } from '../../protocol/admin/sealing-route.ts'
import { pathOf } from './answer-log.ts'
import type { HttpPort } from './http-port.ts'

/** For what the port says of paths that exist with another method. */
export const CONSOLE_ROUTES = [
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/console' },
  { method: 'GET', path: CONSOLE_PATH },
  SEALING_ROUTE,
]

/** Whether a request is answered without credentials: somebody who typed the address of the port, or a file of the console. */
export function isOfConsole(request: FastifyRequest): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const path = pathOf(request)
  return path === '/' || path === '/console' || path.startsWith(CONSOLE_PATH)
}

export function addConsoleRoutes({ app }: HttpPort, files: ConsoleFiles, isSealing: boolean): void {
  const sealing: ConsoleSealing = { sealing: isSealing }
  app.get(SEALING_ROUTE.path, (_request, reply) => reply.type('application/json').send(sealing))
  const toConsole = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.redirect(CONSOLE_PATH, 302)
  app.get('/', toConsole)
  app.get('/console', toConsole)
  app.get(`${CONSOLE_PATH}*`, (request, reply) => {
    const { status, headers, body } = files({
      path: pathOf(request),
      acceptEncoding: request.headers['accept-encoding'],
      ifNoneMatch: request.headers['if-none-match'],
    })
    return reply.code(status).headers(headers).send(body)
  })
}
