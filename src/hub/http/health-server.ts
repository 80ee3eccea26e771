import type { Logger } from '../../platform/logger.ts'
import { ROUTES } from '../../protocol/routes.ts'
import type { HealthReplyBody } from '../../protocol/schemas.ts'
import { createHttpPort, type HttpPort } from './http-port.ts'

export function createHealthServer(options: { log: Logger; version: string }): HttpPort {
  const port = createHttpPort({ port: 'health', log: options.log })
  const reply: HealthReplyBody = { status: 'ok', version: options.version }
  port.app.get(ROUTES.health.path, async () => reply)
  return port
}
