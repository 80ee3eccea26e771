import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CertificateRequest } from '../../pki/csr.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Agent } from './agent.ts'
import type { Cargo } from './cargo.ts'
import { decideIssue, type IssueFacts } from './decide-issue.ts'
import type { Delivery } from './delivery.ts'
import type { Policy } from './policy.ts'
import { type HostRules, narrowRules } from './host-rules.ts'
import { rulesOfRole } from './role-rules.ts'

const AGENT = { id: 'a' as AgentId, hostname: 'web-1' } as Agent
const CSR = { commonName: 'web-1', sans: [] as readonly string[] } as CertificateRequest
const CARGO = { kind: 'csr_cert' } as Cargo
const DELIVERY = {
  agentId: AGENT.id,
  status: 'pendente',
  sans: ['www.example'] as readonly string[],
} as Delivery

const permitting = (...permittedSans: string[]): HostRules =>
  rulesOf([{ role: 'web', name: 'shop', permittedSans, automaticCargoes: [] } as unknown as Policy])
const rulesOf = (policies: readonly Policy[]): HostRules =>
  narrowRules(rulesOfRole('web', policies), [])

type RequestedDelivery = NonNullable<IssueFacts['delivery']>
const delivery = (
  change: Partial<Delivery> = {},
  cargo: Partial<Cargo> = {},
): RequestedDelivery => ({
  ...DELIVERY,
  ...change,
  cargo: { ...CARGO, ...cargo },
})

function verdictOf(facts: Partial<IssueFacts>): string {
  const verdict = decideIssue({
    agent: AGENT,
    csr: CSR,
    delivery: null,
    hubNames: ['hub.example'],
    rules: rulesOf([]),
    ...facts,
  })
  return verdict.ok ? verdict.sans.join(' ') : verdict.refusal
}

describe('decideIssue', () => {
  const rows: readonly (readonly [string, Partial<IssueFacts>, string])[] = [
    ['[ISS-7] an identity has the hostname alone', {}, 'web-1'],
    [
      '[ISS-8] a delivery adds the names of its carga',
      { delivery: delivery() },
      'web-1 www.example',
    ],
    ['[ISS-8] names are there once', { delivery: delivery({ sans: ['web-1'] }) }, 'web-1'],
    [
      '[DEL-17] a name of the hub, which was renamed since the carga was made',
      { delivery: delivery({ sans: ['*.example'] }) },
      'csr_cn_mismatch',
    ],
    [
      '[POL-10] a name that the policy of the role permits no more',
      { delivery: delivery(), rules: permitting('*.example.org') },
      'csr_cn_mismatch',
    ],
    [
      '[POL-10] a name that it permits',
      { delivery: delivery(), rules: permitting('www.example') },
      'web-1 www.example',
    ],
    ['[POL-9] an identity, whatever the policy', { rules: permitting() }, 'web-1'],
    [
      '[POL-10] another agent’s delivery, before its names',
      { delivery: delivery({ agentId: 'b' as AgentId }), rules: permitting() },
      'entrega_not_found',
    ],
    ['[ISS-3] no CSR', { csr: undefined, delivery: undefined }, 'csr_invalid'],
    [
      '[ISS-4] another CN, before the delivery',
      { csr: { ...CSR, commonName: 'web-2' }, delivery: undefined },
      'csr_cn_mismatch',
    ],
    ['[ISS-4] no CN', { csr: { ...CSR, commonName: undefined } }, 'csr_cn_mismatch'],
    ['[ISS-9] an unknown delivery', { delivery: undefined }, 'entrega_not_found'],
    [
      '[ISS-9] another agent’s delivery',
      { delivery: delivery({ agentId: 'b' as AgentId }) },
      'entrega_not_found',
    ],
    [
      '[ISS-9] a cancelled one',
      { delivery: delivery({ status: 'cancelada' }) },
      'entrega_not_found',
    ],
    ['[ISS-9] a sealed one', { delivery: delivery({}, { kind: 'selado' }) }, 'entrega_not_found'],
    ['[ISS-4] other names', { csr: { ...CSR, sans: ['web-2'] } }, 'csr_cn_mismatch'],
    ['[ISS-4] names that cannot be read', { csr: { ...CSR, sans: undefined } }, 'csr_cn_mismatch'],
    [
      '[ISS-4] exactly the names that it gets',
      { csr: { ...CSR, sans: ['www.example', 'web-1'] }, delivery: delivery() },
      'web-1 www.example',
    ],
    [
      '[ISS-6] the delivery before the other names',
      { csr: { ...CSR, sans: ['x'] }, delivery: undefined },
      'entrega_not_found',
    ],
  ]
  for (const [title, facts, expected] of rows) {
    test(`${title}: ${expected}`, () => assert.equal(verdictOf(facts), expected))
  }

  for (const status of ['pendente', 'em_andamento', 'instalada', 'entregue', 'falhou'] as const) {
    test(`[ISS-9] a delivery that is ${status} may get a certificate`, () => {
      assert.equal(verdictOf({ delivery: delivery({ status }) }), 'web-1 www.example')
    })
  }

  test('[POL-10] says which names the policy forbids, for the log', () => {
    const sans = ['www.example', 'a.example.org', 'b.example']
    const facts = { agent: AGENT, csr: CSR, delivery: delivery({ sans }), hubNames: [] }
    assert.deepEqual(decideIssue({ ...facts, rules: permitting('*.example.org') }), {
      ok: false,
      refusal: 'csr_cn_mismatch',
      forbiddenNames: ['www.example', 'b.example'].map((san) => ({
        san,
        policyName: 'shop',
        isByRole: true,
      })),
    })
  })
})
