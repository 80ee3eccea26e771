import { ROUTES } from '../../protocol/routes.ts'
import type { HealthReplyBody } from '../../protocol/schemas.ts'
import { createHttpPort, type HttpPort, type HttpPortOptions } from './http-port.ts'
import { strangerTurns } from './connections/stranger-turns.ts'

export interface HealthServerOptions extends Pick<
  HttpPortOptions,
  'log' | 'limits' | 'isTrustedProxy' | 'onAnswer' | 'onRefusal' | 'leakedTokens'
> {
  readonly version: string
}

export function createHealthServer(options: HealthServerOptions): HttpPort {
  const port = createHttpPort({ ...options, port: 'health', turns: strangerTurns })
  const reply: HealthReplyBody = { status: 'ok', version: options.version }
  port.app.get(ROUTES.health.path, async () => reply)
  return port
}
