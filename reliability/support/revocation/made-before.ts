// The tokens and identities of a host from before its revocation, and whether one of them still gets in.

import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import type { Random } from '../../../test/simulation/seeded-random.ts'
import { createKeyAndCsr, type Identity } from '../../../test/support/enrolled-host.ts'
import type { HubPorts } from '../../../test/support/hub.ts'
import { sendRecovery } from '../../../test/support/send-recovery.ts'
import { send, type WireReply } from '../../../test/support/wire-client.ts'
import { type Answer, askOnce, CUT, pickRoute, targetOf } from '../identities/identity-probe.ts'

export const ROLE = 'web'

/** A request to enrol, as it can be sent again. */
export interface EnrolRequest {
  readonly body: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | undefined
}

export interface MadeBefore {
  readonly hostname: string
  readonly identities: Identity[]
  readonly enrolments: EnrolRequest[]
}

export interface Hub {
  readonly ports: HubPorts
  readonly admin: AdminOperations
}

export function enrol({ ports }: Pick<Hub, 'ports'>, request: EnrolRequest): Promise<WireReply> {
  const { body, idempotencyKey } = request
  return send(
    { port: ports.enroll },
    {
      method: 'POST',
      path: '/v1/enroll',
      headers: {
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(body),
    },
  )
}

/** Each way in which the host still gets in. */
export async function findWaysIn(hub: Hub, made: MadeBefore, random: Random): Promise<string[]> {
  const { hostname, identities, enrolments } = made
  const csr = await createKeyAndCsr(hostname)
  const ways: string[] = []
  for (const request of enrolments) {
    const { idempotencyKey } = request
    const tries = [request, { body: { ...request.body, csr_pem: csr.csrPem }, idempotencyKey }]
    for (const one of tries) {
      const { status, text } = await enrol(hub, one)
      if (status !== 401)
        ways.push(`${hostname}: enrolled again by a token from before, ${status} ${text}`)
    }
  }
  for (const [index, identity] of identities.entries()) {
    const route = pickRoute(random)
    const answer = await askOnce(targetOf(hub.ports.mtls, identity), route, csr)
    if (!isRefused(answer)) ways.push(`${hostname}: ${route} by identity ${index}, ${answer}`)
    const recovery = { host: identity, csrPem: csr.csrPem }
    const { status, text } = await sendRecovery(hub.ports.enroll, recovery)
    if (status !== 401) ways.push(`${hostname}: identity ${index} recovered, ${status} ${text}`)
  }
  return ways
}

export function isRefused(answer: Answer): boolean {
  return answer === CUT || answer.startsWith('401 ')
}
