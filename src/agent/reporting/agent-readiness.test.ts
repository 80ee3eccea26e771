import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AgentReadinessFacts, decideAgentReadiness } from './agent-readiness.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const minutesAgo = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000)
const round = (outcome: 'completed' | 'network', finishedAt: Date) => ({
  finishedAt,
  problems: [],
  hasManifest: outcome === 'completed',
  outcome,
  retryAfterMs: 0,
  nextRetryMs: undefined,
})
const delivery = (hook_failure: string | null) => ({
  id: 'd',
  kind: 'csr_cert',
  name: 'site',
  version: 1,
  progress: 'done',
  cancelled: false,
  hook_failure,
  cert_serial: '01',
  not_after: null,
  is_installed: true,
})
const identity = {
  hostname: 'web-1',
  cert_cn: 'web-1',
  cert_serial: '01',
  not_before: '2026-11-21T00:00:00Z',
  not_after: '2026-11-22T00:00:00Z',
  data_dir: '/d',
  recipient: null,
  recipient_fingerprint: null,
  recipient_problem: null,
}
const GOOD: AgentReadinessFacts = {
  status: { state: 'valid', identity, deliveries: [delivery(null)] },
  lastResult: round('completed', minutesAgo(1)),
  now: NOW,
  pollIntervalMs: 30_000,
  failedTargets: [],
}

describe('[MET-16] an agent is ready', () => {
  test('when its identity is good, its last round completed, and nothing fails', () => {
    assert.deepEqual(decideAgentReadiness(GOOD), {
      identity: { isReady: true, reason: 'the identity is good until 2026-11-22T00:00:00Z' },
      hub: { isReady: true, reason: 'the last round completed at 2026-11-21T09:59:00.000Z' },
      deliveries: { isReady: true, reason: '1 installed' },
    })
  })

  test('[AGT-50] not with an identity that the hub refuses', () => {
    for (const state of ['revoked', 'superseded', 'not_registered'] as const) {
      const { identity: judged } = decideAgentReadiness({
        ...GOOD,
        status: { ...GOOD.status, state },
      })
      const reason = `the hub calls the identity ${state.replace('_', ' ')}`
      assert.deepEqual(judged, { isReady: false, reason })
    }
  })

  test('between two rounds that are an hour apart, as they were asked to be', () => {
    const hourly = { ...GOOD, pollIntervalMs: 3_600_000 }
    const { hub } = decideAgentReadiness({
      ...hourly,
      lastResult: round('completed', minutesAgo(59)),
    })
    assert.equal(hub?.isReady, true)
    const stopped = { ...hourly, lastResult: round('completed', minutesAgo(121)) }
    assert.equal(decideAgentReadiness(stopped)['hub']?.isReady, false)
  })

  const faults: readonly [what: string, subsystem: string, facts: Partial<AgentReadinessFacts>][] =
    [
      ['an identity that expired', 'identity', { status: { ...GOOD.status, state: 'expired' } }],
      ['no identity', 'identity', { status: { state: 'none', identity: null, deliveries: [] } }],
      ['no round yet', 'hub', { lastResult: undefined }],
      ['a hub that is away', 'hub', { lastResult: round('network', minutesAgo(1)) }],
      ['rounds that stopped', 'hub', { lastResult: round('completed', minutesAgo(20)) }],
      [
        'a hook that fails',
        'deliveries',
        { status: { ...GOOD.status, deliveries: [delivery('exit 1')] } },
      ],
      ['a target that was taken back', 'deliveries', { failedTargets: ['site.toml: reverted'] }],
    ]
  for (const [what, subsystem, facts] of faults) {
    test(`not with ${what}, and says so`, () => {
      const readiness = decideAgentReadiness({ ...GOOD, ...facts })
      const notReady = Object.entries(readiness).filter(([, { isReady }]) => !isReady)
      assert.deepEqual(
        notReady.map(([name]) => name),
        [subsystem],
      )
      assert.ok((notReady[0]?.[1].reason.length ?? 0) > 5)
    })
  }
})
