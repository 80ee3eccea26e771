import type { Logger } from '../../platform/logger.ts'
import { ROUTES } from '../../protocol/routes.ts'
import { EnrollRequestBody, type EnrollReplyBody } from '../../protocol/schemas.ts'
import type { EnrollAgent } from '../service/enroll-agent.ts'
import { sendRefusal } from './error-response.ts'
import { createHttpPort, type HttpPort } from './http-port.ts'

export function createEnrollServer(options: { log: Logger; enrollAgent: EnrollAgent }): HttpPort {
  const port = createHttpPort({ port: 'enroll', log: options.log })
  port.app.post<{ Body: EnrollRequestBody }>(
    ROUTES.enroll.path,
    { schema: { body: EnrollRequestBody } },
    async (request, reply) => {
      const outcome = await options.enrollAgent(request.body)
      if (!outcome.ok) return sendRefusal(reply, outcome.refusal)
      return {
        agent_id: outcome.agentId,
        cert_pem: outcome.certificatePem,
        ca_pem: outcome.rootPem,
      } satisfies EnrollReplyBody
    },
  )
  return port
}
