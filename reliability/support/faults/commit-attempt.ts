// What is asked of a hub while its disk fails: one commit each, whose effect can be counted afterwards.

import { randomUUID } from 'node:crypto'
import { readEvents } from '../../../test/support/audit-log.ts'
import { createKeyAndCsr, type EnrolledHost } from '../../../test/support/enrolled-host.ts'
import type { HubProcess } from '../../../test/support/hub-process.ts'
import { post, send, type WireReply } from '../../../test/support/wire-client.ts'

export interface CommitAttempt {
  /** Whether a repetition has no further effect. */
  readonly isIdempotent: boolean
  send(): Promise<WireReply>
  /** How often its effect is in the audit log. */
  countEffects(): Promise<number>
}

export interface CommitKind {
  readonly name: string
  /** An attempt of its own each time; `isIdempotent` where the client can choose. */
  prepare(options: { readonly isIdempotent: boolean }): Promise<CommitAttempt>
}

export function commitKinds(hub: HubProcess, host: EnrolledHost): readonly CommitKind[] {
  return [eventKind(hub, host), enrollKind(hub), issueKind(hub, host)]
}

function eventKind(hub: HubProcess, host: EnrolledHost): CommitKind {
  let number = 0
  return {
    name: 'event',
    prepare: () => {
      number += 1
      const tipo = `tried_${number}`
      const event = { tipo_evento: tipo, payload: { number }, request_id: tipo }
      return Promise.resolve({
        isIdempotent: true,
        send: () => post(host.mtls, '/v1/events', event),
        countEffects: async () => (await readEvents(hub, tipo)).length,
      })
    },
  }
}

function enrollKind(hub: HubProcess): CommitKind {
  let number = 0
  return {
    name: 'enrolment',
    prepare: async ({ isIdempotent }) => {
      number += 1
      const hostname = `enrols-${number}.example`
      const token = await hub.createToken({ hostname })
      const { csrPem } = await createKeyAndCsr(hostname)
      const headers = {
        'content-type': 'application/json',
        ...(isIdempotent ? { 'idempotency-key': randomUUID() } : {}),
      }
      const body = JSON.stringify({ token, hostname, role: 'web', csr_pem: csrPem })
      return {
        isIdempotent,
        send: () =>
          send({ port: hub.ports.enroll }, { method: 'POST', path: '/v1/enroll', headers, body }),
        countEffects: async () => {
          const enrolled = await readEvents(hub, 'agent_enrolled')
          return enrolled.filter(({ payload }) => payload['hostname'] === hostname).length
        },
      }
    },
  }
}

function issueKind(hub: HubProcess, host: EnrolledHost): CommitKind {
  return {
    name: 'renewal',
    prepare: async () => {
      const { csrPem } = await createKeyAndCsr(host.hostname)
      const count = async (): Promise<number> =>
        (await readEvents(hub, 'certificate_issued')).length
      const before = await count()
      return {
        isIdempotent: false,
        send: () => post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem }),
        countEffects: async () => (await count()) - before,
      }
    },
  }
}
