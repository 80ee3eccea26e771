// The hub remembers what it refused to which agent, by the answers that went out. docs/protocol.md API-120.

import type { FastifyRequest } from 'fastify'
import { WIRE_ERRORS } from '../../protocol/errors.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import { ROUTES } from '../../protocol/routes.ts'
import type { AgentRefusals } from '../service/agent-refusals.ts'
import { reasonNotedFor, refusalSentBy } from './error-response.ts'
import type { HttpPort } from './http-port.ts'

/** Says whose request it is. */
export type NoteAsker = (request: FastifyRequest, agentId: AgentId) => void

const OPERATION_OF: ReadonlyMap<string | undefined, string> = new Map(
  Object.entries(ROUTES).map(([name, { path }]) => [path, name]),
)

export function noteRefusals(
  { app }: Pick<HttpPort, 'app'>,
  refusals: Pick<AgentRefusals, 'note'> | undefined,
): NoteAsker {
  if (refusals === undefined) return () => undefined
  const askers = new WeakMap<FastifyRequest, AgentId>()
  app.addHook('onResponse', (request, reply, done) => {
    const code = refusalSentBy(reply)
    const agentId = askers.get(request)
    if (code !== undefined && agentId !== undefined) {
      refusals.note(agentId, {
        code,
        operation: OPERATION_OF.get(request.routeOptions.url) ?? 'other',
        reason: reasonNotedFor(reply) ?? WIRE_ERRORS[code].when,
        requestId: request.id,
        deliveryId: deliveryIn(request.body),
      })
    }
    done()
  })
  return (request, agentId) => void askers.set(request, agentId)
}

/** What was refused for its shape too. */
function deliveryIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('entrega_id' in body)) return null
  return typeof body.entrega_id === 'string' ? body.entrega_id : null
}
