// A hub's enrolment, without ports, for hosts that show a key which they have already.

import { hash } from 'node:crypto'
import { decodePem } from '../../src/pki/pem.ts'
import type { AdminRequest } from '../../src/protocol/admin/operations.ts'
import type { HostStatement } from '../../src/protocol/host-proof.ts'
import type { EnrollRequestBody } from '../../src/protocol/schemas.ts'
import { createEnrollAgent } from '../../src/hub/service/agent/enroll-agent.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { createFakeAuthority, type FakeAuthority } from '../fakes/fake-authority.ts'
import { NO_ISSUERS } from '../fakes/issuer-keys.ts'
import { collectLog } from './collected-log.ts'
import { makeCsrPem } from './made-csr.ts'
import { createSettableClock, type SettableClock } from './settable-clock.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin, type ToldAdmin } from './told-admin.ts'

export const HUB = 'hub.example.org'
export const HOST = 'web-1.example.org'
export const CSR_PEM: string = makeCsrPem('any')
export const OTHER_CSR_PEM: string = makeCsrPem('any')

type CreateRule = AdminRequest<'createJoinRule'>

export interface ProofScene extends AsyncDisposable {
  readonly store: Store
  readonly clock: SettableClock
  readonly authority: FakeAuthority
  readonly admin: ToldAdmin['admin']
  /** For hosts of example.org, under a name of its own. */
  makeRule(method: Partial<CreateRule>): ReturnType<ToldAdmin['admin']['createJoinRule']>
  /** The statement that a host makes now. */
  state(changes?: Partial<HostStatement>): HostStatement
  /** `chain n` of the CA, or the refusal. */
  ask(token: string, changes?: Partial<EnrollRequestBody>): Promise<string>
  /** Of what was refused since the last rule was made, or the last time: reason and detail, as they were logged. */
  refusals(): unknown[][]
}

/** openssl and ssh-keygen make certificates that begin now, and a test makes some while its clock stands still. */
export function soon(): Date {
  return new Date(Date.now() + 300_000)
}

export async function openProofScene(): Promise<ProofScene> {
  const store = await openTemporaryStore()
  const clock = createSettableClock(soon())
  const authority = createFakeAuthority(clock)
  const { lines, log } = collectLog()
  const dependencies = { store, authority, clock, log, keys: NO_ISSUERS, hubNames: [HUB] }
  const enrollAgent = createEnrollAgent(dependencies)
  const { admin } = openAdmin(store, { clock })
  let rules = 0
  let logged = 0
  return {
    store,
    clock,
    authority,
    admin,
    makeRule: (method) => {
      rules += 1
      logged = lines.length
      const bounds = { pattern: '*.example.org', role: 'web', hosts_max: 50 }
      return admin.createJoinRule({ name: `rule-${rules}`, ...bounds, ...method } as CreateRule)
    },
    state: (changes) => {
      const iat = Math.floor(clock.now().getTime() / 1000)
      const csr_sha256 = hash('sha256', decodePem(CSR_PEM, 'certificateRequest') ?? '')
      const asked = { hubs: [HUB], hostname: HOST, role: 'web', csr_sha256 }
      return { ...asked, iat, exp: iat + 240, ...changes }
    },
    ask: async (token, changes) => {
      const request = { token, hostname: HOST, role: 'web', csr_pem: CSR_PEM, ...changes }
      const outcome = await enrollAgent(request, `the-key-of-${request.hostname}`)
      return outcome.ok ? outcome.certificatePem : outcome.refusal
    },
    refusals: () => {
      const refused = lines.slice(logged).filter(({ message }) => message === 'Join refused')
      logged = lines.length
      return refused.map(({ fields }) => [fields['reason'], fields['detail']])
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}
