// What a host may have under way when it is revoked: each begins with the first byte of a request, asks the CA, and ends
// with an answer.

import { randomUUID } from 'node:crypto'
import {
  createKeyAndCsr,
  type Identity,
  readIdentity,
} from '../../../test/support/enrolled-host.ts'
import { sendRecovery } from '../../../test/support/send-recovery.ts'
import { post, type WireReply } from '../../../test/support/wire-client.ts'
import { type Answer, CUT, targetOf } from '../identities/identity-probe.ts'
import { enrol, type Hub, type MadeBefore, ROLE } from './made-before.ts'

/** What came back: `200`, `401 {"error":…}`, or `cut`. What it made is among what was made before. */
export type Doing = () => Promise<Answer>

/** Prepares it, up to the instant before its request. */
export type Preparation = (hub: Hub, made: MadeBefore) => Promise<Doing>

export const DOINGS: Readonly<Record<string, Preparation>> = {
  'an enrolment': (hub, made) => prepareEnrolment(hub, made, undefined),
  'an enrolment that can be repeated': (hub, made) => prepareEnrolment(hub, made, randomUUID()),
  'a renewal': (hub, made) => prepareIssue(hub, made, undefined),
  'a delivery': async (hub, made) => {
    const { hostname } = made
    const cargo = { tipo: 'csr_cert', nome: 'site', agentes: [hostname], roles: [], sans: [] }
    const { entregas } = await hub.admin.createCargo(cargo)
    return prepareIssue(hub, made, entregas[0]?.id)
  },
  'a recovery': async (hub, made) => {
    const { keyPem, csrPem } = await createKeyAndCsr(made.hostname)
    return keep(made, keyPem, () =>
      sendRecovery(hub.ports.enroll, { host: newestOf(made), csrPem }),
    )
  },
}

/** The host's first enrolment, or one more. */
export async function prepareEnrolment(
  hub: Hub,
  made: MadeBefore,
  idempotencyKey: string | undefined,
): Promise<Doing> {
  const { hostname } = made
  const { token } = await hub.admin.createToken({ hostname, role: ROLE, reenroll: true })
  const { keyPem, csrPem } = await createKeyAndCsr(hostname)
  const request = { body: { token, hostname, role: ROLE, csr_pem: csrPem }, idempotencyKey }
  made.enrolments.push(request)
  return keep(made, keyPem, () => enrol(hub, request))
}

async function prepareIssue(
  hub: Hub,
  made: MadeBefore,
  deliveryId: string | undefined,
): Promise<Doing> {
  const { keyPem, csrPem } = await createKeyAndCsr(made.hostname)
  const body = { csr_pem: csrPem, ...(deliveryId !== undefined && { entrega_id: deliveryId }) }
  const target = targetOf(hub.ports.mtls, newestOf(made))
  return keep(made, keyPem, () => post(target, '/v1/certs/issue', body))
}

function keep(made: MadeBefore, keyPem: string, ask: () => Promise<WireReply>): Doing {
  return async () => {
    let reply: WireReply
    try {
      reply = await ask()
    } catch {
      // The connections of a host that is revoked are cut.
      return CUT
    }
    if (reply.status !== 200) return `${reply.status} ${reply.text}`
    made.identities.push(readIdentity(reply, keyPem))
    return '200'
  }
}

function newestOf({ identities, hostname }: MadeBefore): Identity {
  const newest = identities.at(-1)
  if (newest === undefined) throw new Error(`${hostname} has no identity yet`)
  return newest
}
