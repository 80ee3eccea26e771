import assert from 'node:assert/strict'
import { test } from 'node:test'
import { summaryWith, urgentHost } from '../../../../test/support/fleet-summary-samples.ts'
import { listAttention } from './list-attention.ts'

const REASON = 'ca_failed: cert_ttl 7 d is over its maximum'

test('late hosts that are refused for one reason are one line, among the silent ones by when they end', () => {
  const hosts = [
    urgentHost('db-2', { not_after: '2026-01-31T12:47:00.000Z' }),
    urgentHost('bkp-1', { not_after: '2026-01-31T13:31:00.000Z', waiting_reason: REASON }),
    urgentHost('web-9', { not_after: '2026-01-31T14:00:00.000Z' }),
    urgentHost('log-4', { not_after: '2026-01-31T14:58:00.000Z', waiting_reason: REASON }),
  ]
  const lines = listAttention(summaryWith({ atrasados: { total: 4, first: hosts } }))
  assert.deepEqual(
    lines.map((line) =>
      line.kind === 'refused' ? line.hosts.map(({ hostname }) => hostname) : line.kind,
    ),
    ['silent', ['bkp-1', 'log-4'], 'silent'],
  )
})

test('what late hosts wait for is not told twice', () => {
  const example = { entrega_id: 'e', agente_id: 'a', hostname: 'bkp-1', nome: 'site' }
  const atrasados = { total: 1, first: [urgentHost('bkp-1', { waiting_reason: REASON })] }
  const failures = [
    { status: 'pendente', reason: REASON, count: 1, example } as const,
    { status: 'pendente', reason: 'csr_cn_mismatch', count: 2, example } as const,
    { status: 'falhou', reason: REASON, count: 3, example } as const,
  ]
  const kinds = listAttention(summaryWith({ atrasados, failures })).map((line) =>
    line.kind === 'failed' ? `${line.failures.status} ${line.failures.count}` : line.kind,
  )
  assert.deepEqual(kinds, ['refused', 'pendente 2', 'falhou 3'])
})

test('a fleet of which all are late makes a short list', () => {
  const hosts = Array.from({ length: 20 }, (_, at) => urgentHost(`web-${at}`))
  const summary = summaryWith({
    atrasados: { total: 10_000, first: hosts },
    expirados: { total: 10_000, first: hosts },
  })
  assert.equal(listAttention(summary).length, 8)
})

test('nothing is wrong', () => assert.deepEqual(listAttention(summaryWith()), []))
