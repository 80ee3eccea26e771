import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertAgent } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createLogging } from '../../../platform/logger.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { type AgentSightings, createAgentSightings } from './agent-sightings.ts'

const LOG = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')
const START = Date.parse('2026-11-21T10:00:00Z')
const userAgentOf = (instance: string, version = '0.5.0'): string =>
  `svc-agent/${version} (linux-x64; instance=${instance.repeat(16)})`

interface Setting {
  readonly store: Store
  readonly agent: Agent
  readonly sightings: AgentSightings
  /** As a hub that was started again. */
  readonly again: () => AgentSightings
  readonly advance: (seconds: number) => void
}

async function withSightings(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  let nowMs = START
  const clock = { now: () => new Date(nowMs), sleep: () => Promise.resolve() }
  const again = (): AgentSightings => createAgentSightings(store, clock, LOG)
  const agent = await insertAgent(store, 'web-1')
  const advance = (seconds: number): void => {
    nowMs += seconds * 1000
  }
  await work({ store, agent, sightings: again(), again, advance })
}

async function entriesOf(store: Store): Promise<unknown[]> {
  const eventType = 'identity_used_twice'
  const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100, eventType })
  return entries.map(({ payloadText }) => JSON.parse(payloadText) as unknown)
}

describe('what the hub sees of a host', () => {
  test('[AUT-18] is version, platform and its last addresses; it is written once, when it changes', async () => {
    await withSightings(async ({ store, agent, sightings, again, advance }) => {
      assert.equal(sightings.find(agent.id), undefined)
      sightings.note(agent, { userAgent: userAgentOf('a'), address: '192.0.2.1' })
      const seen = {
        agentId: agent.id,
        version: '0.5.0',
        platform: 'linux-x64',
        addresses: ['192.0.2.1'],
      }
      assert.deepEqual(sightings.find(agent.id), { ...seen, lastSeenAt: new Date(START) })
      assert.deepEqual(await store.reader.listSightings([agent.id]), [])
      await sightings.flush()
      const stored = [{ ...seen, changedAt: new Date(START) }]
      assert.deepEqual(await store.reader.listSightings([agent.id]), stored)

      for (const address of ['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.2']) {
        sightings.note(agent, { userAgent: userAgentOf('a', '0.6.0'), address })
      }
      await sightings.flush()
      const [changed] = await store.reader.listSightings([agent.id])
      assert.equal(changed?.version, '0.6.0')
      assert.deepEqual(changed.addresses, ['192.0.2.2', '192.0.2.5', '192.0.2.4', '192.0.2.3'])

      const restarted = again()
      restarted.note(agent, { userAgent: userAgentOf('b', '0.6.0'), address: '192.0.2.3' })
      advance(60)
      await restarted.flush()
      assert.deepEqual(await store.reader.listSightings([agent.id]), [changed], 'the same host')
      assert.deepEqual(restarted.find(agent.id)?.addresses.length, 4)
    })
  })

  test('[SRF-16] an agent that does not say what it is has no version, and one up to 0.4.0 no platform', async () => {
    await withSightings(async ({ agent, sightings }) => {
      const cases: [string | undefined, string | null, string | null][] = [
        ['svc-agent/0.4.0', '0.4.0', null],
        [undefined, null, null],
        ['curl/8.0', null, null],
        [`svc-agent/0.5.0 (linux-x64; instance=${'g'.repeat(16)})`, null, null],
        [`svc-agent/${'9'.repeat(1000)}.0.0`, null, null],
      ]
      for (const [userAgent, version, platform] of cases) {
        sightings.note(agent, { userAgent, address: '192.0.2.1' })
        const seen = sightings.find(agent.id)
        assert.deepEqual([seen?.version, seen?.platform], [version, platform])
      }
    })
  })
})

describe('[AUT-17] a host and its copy', () => {
  test('[AUT-19] are found, with their addresses, recorded once an hour, and forgotten two hours after the last sign', async () => {
    await withSightings(async ({ store, agent, sightings, advance }) => {
      const poll = (instance: string, address: string): void =>
        sightings.note(agent, { userAgent: userAgentOf(instance), address })
      poll('a', '192.0.2.1')
      advance(10)
      poll('b', '198.51.100.7')
      assert.equal(sightings.findDoubled(agent.id), undefined)
      for (let round = 0; round < 100; round += 1) {
        advance(30)
        poll('a', '192.0.2.1')
        poll('b', '198.51.100.7')
      }
      await sightings.flush()
      const since = new Date(START + 40_000)
      const lastAt = new Date(START + 3_010_000)
      const addresses = ['192.0.2.1', '198.51.100.7']
      assert.deepEqual(sightings.findDoubled(agent.id), { since, lastAt, addresses })
      const { id: agentId, hostname } = agent
      assert.deepEqual(sightings.listDoubled(), [{ since, lastAt, addresses, agentId, hostname }])
      const entry = {
        actor: 'hub',
        agente_id: agentId,
        hostname,
        addresses,
        since: since.toISOString(),
      }
      assert.deepEqual(await entriesOf(store), [entry])
      advance(3600)
      poll('a', '192.0.2.1')
      await store.write(async () => undefined)
      assert.deepEqual(await entriesOf(store), [entry, entry])
      advance(7000)
      poll('a', '192.0.2.1')
      assert.notEqual(sightings.findDoubled(agent.id), undefined)
      advance(300)
      assert.equal(sightings.findDoubled(agent.id), undefined)
      assert.deepEqual(sightings.listDoubled(), [])
    })
  })

  test('are found by their streams when they name no instance', async () => {
    await withSightings(async ({ agent, sightings, advance }) => {
      for (let swap = 0; swap < 6; swap += 1) {
        assert.equal(sightings.findDoubled(agent.id), undefined)
        const [from, to] = swap % 2 === 0 ? ['192.0.2.1', '192.0.2.2'] : ['192.0.2.2', '192.0.2.1']
        sightings.noteStreamSwap(agent, { from: from ?? '', to: to ?? '' })
        advance(5)
      }
      assert.deepEqual(sightings.findDoubled(agent.id)?.addresses, ['192.0.2.1', '192.0.2.2'])
      sightings.forget(agent.id)
      assert.equal(sightings.findDoubled(agent.id), undefined)
    })
  })
})
