import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { newAgent, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { readActs } from '../../../../test/support/recorded-acts.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import { createSettableClock } from '../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import { TestTrustKey } from '../../../../test/support/trust-keys.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import { EventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import { recordAgentTrust } from '../agent/record-agent-trust.ts'
import { createFleetChanges } from '../cargo/fleet-changes.ts'
import { createRolloutKeeper } from '../rollout/rollout-keeper.ts'
import { createAdminRoots } from './bundle-operations.ts'
import { CurrentRootSet } from './current-root-set.ts'
import { createOfferedRootSets } from './offered-root-set.ts'
import { openRootSet } from './open-root-set.ts'

const DAY_MS = 86_400_000
const RULES = { waves: ['1', '50%', '100%'], soak_seconds: 10, max_failed: '0', late_seconds: 60 }
const IN_WAVES = { in_waves: RULES }

let old: Certificate
let next: Certificate
let third: Certificate

before(async () => {
  const until = new Date(NOW.getTime() + DAY_MS)
  old = await createSampleRoot('Old', until)
  next = await createSampleRoot('Next', until)
  third = await createSampleRoot('Third', until)
})

/** The root `old` is set 4, which each agent has adopted; the root file has `next` too. */
async function openScene(hostCount: number) {
  const store = await openTemporaryStore()
  const clock = createSettableClock(NOW)
  const changes = createFleetChanges(store)
  const agents = Array.from({ length: hostCount }, (_, at) => newAgent(`web-${at}`))
  const set = { epoch: 1, number: 4, pem: old.pem, createdAt: NOW }
  await store.write(async (writer) => {
    await writer.insertRootSet(set)
    for (const agent of agents) {
      await writer.insertAgent(agent)
      const said = { number: 4, fingerprints: [old.sha256], pinned: null, error: null }
      await writer.setAgentTrust({ ...said, agentId: agent.id, reportedAt: NOW })
    }
    await writer.setAgentsPolled(new Map(agents.map(({ id }) => [id, NOW])))
  })
  const current = new CurrentRootSet(set)
  const { log } = collectLog()
  const scene = {
    store,
    clock,
    agents,
    current,
    file: [old, next],
    admin: openAdmin(store).admin,
    offered: createOfferedRootSets(store, current),
    acts: () => readActs(store.reader),
    settle: async () => {
      while (await keeper.look());
    },
    pass: async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 2) {
        clock.pass(2000)
        await scene.settle()
      }
    },
    /** Those that are offered this set. */
    offeredTo: async (number: number): Promise<Agent[]> => {
      const found: Agent[] = []
      for (const agent of agents) {
        if ((await scene.offered.offerTo(agent)).numero === number) found.push(agent)
      }
      return found
    },
    /** The agent has polled, and does with what it is offered what an agent does. */
    adopt: async (agent: Agent, erro?: string) => {
      const { numero, roots } = await scene.offered.offerTo(agent)
      const fingerprints = [old, next, third]
        .filter(({ pem }) => roots.includes(pem))
        .map(({ sha256 }) => sha256)
      const event =
        erro === undefined
          ? { tipo_evento: EventType.bundleAdopted, payload: { numero, fingerprints } }
          : {
              tipo_evento: EventType.bundleRefused,
              payload: { numero, erro, current: 4, fingerprints: [old.sha256] },
            }
      await store.write((writer) => recordAgentTrust(writer, agent, event, clock.now()))
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
  const roots = createAdminRoots({
    store,
    clock,
    log,
    current,
    readFileRoots: async () => scene.file,
    hub: {
      useForAuthority: () => undefined,
      serverRoot: (all) => all.find(({ sha256 }) => sha256 === old.sha256),
      renewServerCertificate: async () => undefined,
      useForAgents: async () => undefined,
    },
  })
  scene.admin = openAdmin(store, { clock, changes, roots }).admin
  const keeper = createRolloutKeeper({ store, changes, clock, log })
  return scene
}

describe('[RLO-29] a set of roots in waves', () => {
  test('[RLO-30] is in force at the hub at once, and offered to an agent with its wave', async () => {
    await using scene = await openScene(9)
    const updated = await scene.admin.updateBundle(IN_WAVES)
    assert.deepEqual([updated.numero, updated.is_changed], [5, true])
    assert.ok(updated.rollout)
    assert.equal(scene.current.roots.length, 2)
    const reached: number[] = []
    for (let wave = 1; wave <= 3; wave += 1) {
      await scene.settle()
      const offered = await scene.offeredTo(5)
      assert.equal((await scene.offeredTo(4)).length, 9 - offered.length)
      reached.push(offered.length)
      await scene.pass(20)
      assert.equal((await scene.offeredTo(5)).length, offered.length, 'nobody has adopted it')
      for (const agent of offered) await scene.adopt(agent)
      await scene.pass(8)
      assert.equal((await scene.offeredTo(5)).length, offered.length, 'it has not soaked')
      await scene.pass(4)
    }
    assert.deepEqual(reached, [1, 5, 9])
    const [rollout] = (await scene.admin.listRollouts({})).rollouts
    assert.deepEqual([rollout?.kind, rollout?.state, rollout?.versao], ['roots', 'done', 5])
    const types = (await scene.acts()).map(([type]) => type)
    assert.deepEqual(types, [
      'bundle_changed',
      'rollout_started',
      'rollout_wave_opened',
      'rollout_wave_opened',
      'rollout_wave_opened',
      'rollout_done',
    ])
    const of = { rollout: updated.rollout, kind: 'roots', numero: 5, epoca: 1 }
    assert.deepEqual((await scene.acts()).at(-1)?.[1], { actor: 'hub', ...of, wave: 3, hosts: 9 })
  })

  test('[RLO-31] is frozen by an agent that refuses it, which is named; the others keep the set before', async () => {
    await using scene = await openScene(4)
    await scene.admin.updateBundle(IN_WAVES)
    await scene.settle()
    const [first] = await scene.offeredTo(5)
    assert.ok(first)
    await scene.adopt(first, 'no root in it is valid now')
    await scene.settle()
    const shown = await scene.admin.showRollout({ rollout: 'roots' })
    assert.deepEqual([shown.state, shown.reason], ['frozen', 'of 1 host 1 failed, where 0 may'])
    assert.deepEqual(shown.failures, [
      {
        hostname: first.hostname,
        entrega_id: null,
        status: 'falhou',
        erro: 'no root in it is valid now',
      },
    ])
    await scene.pass(100)
    assert.equal((await scene.offeredTo(4)).length, 3)
    // It tries again, and succeeds.
    await scene.adopt(first)
    await scene.admin.resumeRollout({ rollout: 'roots' })
    await scene.pass(14)
    assert.equal((await scene.offeredTo(5)).length, 2)
  })

  test('[RLO-31] is not undone; the next set takes its place, and offers nobody a lower number than it has', async () => {
    await using scene = await openScene(4)
    const { rollout } = await scene.admin.updateBundle(IN_WAVES)
    await scene.settle()
    const [first] = await scene.offeredTo(5)
    assert.ok(first)
    await scene.adopt(first)
    await assert.rejects(scene.admin.undoRollout({ rollout: 'roots' }), {
      code: 'rollout_state',
      message: `rollout ${rollout} is of roots, and no agent goes back to an earlier set: pause it, and all others keep theirs; the next set takes its place`,
    })
    await scene.admin.pauseRollout({ rollout: 'roots' })
    scene.file = [old, next, third]
    await scene.admin.updateBundle(IN_WAVES)
    assert.equal((await scene.admin.showRollout({ rollout: rollout ?? '' })).state, 'undone')
    assert.deepEqual(
      (await scene.offeredTo(5)).map(({ id }) => id),
      [first.id],
    )
    assert.equal(
      (await scene.offeredTo(4)).length,
      3,
      'the set that was paused reaches nobody else',
    )
    const superseded = (await scene.acts()).find(([type]) => type === 'rollout_undone')?.[1]
    assert.equal((superseded as Readonly<Record<string, unknown>>)['superseded_by'], 6)
    await scene.settle()
    assert.equal((await scene.offeredTo(6)).length, 1)
    // Without waves the one after goes to all.
    await scene.admin.updateBundle({ numero: 7 })
    assert.equal((await scene.offeredTo(7)).length, 4)
  })

  test('[RLO-30] is offered no further by a hub that has yet to follow the next set', async () => {
    await using scene = await openScene(4)
    await scene.admin.updateBundle(IN_WAVES)
    await scene.settle()
    const held = await scene.store.reader.findRootSet()
    assert.ok(held)
    const other = createOfferedRootSets(scene.store, new CurrentRootSet(held))
    const offers = async () => {
      const numbers = await Promise.all(scene.agents.map((one) => other.offerTo(one)))
      return numbers.map(({ numero }) => numero).toSorted((low, high) => low - high)
    }
    assert.deepEqual(await offers(), [4, 4, 4, 5])
    scene.file = [old, next, third]
    await scene.admin.updateBundle(IN_WAVES)
    assert.deepEqual(await offers(), [4, 4, 4, 5])
    await scene.settle()
    assert.ok((await offers()).includes(6), 'whom the next one reached gets that')
    await scene.admin.updateBundle({ numero: 7 })
    const unreached = (await offers()).filter((numero) => numero === 4)
    assert.ok(unreached.length >= 2, 'nobody gets more before the hub follows')
  })

  test('[RLO-30] is offered still to an agent that has adopted it without a word, when the next one takes its place', async () => {
    await using scene = await openScene(4)
    await scene.admin.updateBundle(IN_WAVES)
    await scene.settle()
    const [first] = await scene.offeredTo(5)
    assert.ok(first)
    scene.file = [old, next, third]
    await scene.admin.updateBundle(IN_WAVES)
    assert.deepEqual(await scene.offeredTo(5), [first])
  })

  test('[RLO-34] is left alone by a start of the hub with other roots in its file, whatever state it is in', async () => {
    await using scene = await openScene(3)
    await scene.admin.updateBundle(IN_WAVES)
    await scene.settle()
    await scene.admin.pauseRollout({ rollout: 'roots' })
    const { log, lines } = collectLog()
    const start = () =>
      openRootSet({ store: scene.store, clock: scene.clock, log }, [old, next, third])
    assert.equal((await start()).number, 5)
    assert.deepEqual(lines, [
      {
        level: 'warn',
        message: 'Root file is not what is in force, the roots stay',
        fields: {
          numero: 5,
          hint: 'a set is on its way in waves (svc rollout show roots); svc bundle update puts what the file has in its place',
        },
      },
    ])
    const [rollout] = await scene.store.reader.rollouts.listOpen()
    assert.equal(rollout?.state, 'paused')
    assert.equal((await scene.offeredTo(4)).length, 2)
    await scene.admin.resumeRollout({ rollout: 'roots' })
    for (let wave = 1; wave <= 3; wave += 1) {
      await scene.settle()
      for (const agent of await scene.offeredTo(5)) await scene.adopt(agent)
      await scene.pass(12)
    }
    assert.equal((await start()).number, 6, 'once it is done')
  })

  test('[RLO-20] waits in a freeze, and survives another process of the hub', async () => {
    await using scene = await openScene(3)
    const until = new Date(scene.clock.now().getTime() + 20_000).toISOString()
    await scene.admin.setFreeze({ until, why: 'Black Friday' })
    await scene.admin.updateBundle(IN_WAVES)
    await scene.pass(10)
    const set = await scene.store.reader.findRootSet()
    assert.ok(set)
    const restarted = createOfferedRootSets(scene.store, new CurrentRootSet(set))
    for (const agent of scene.agents) assert.equal((await restarted.offerTo(agent)).numero, 4)
    await scene.pass(14)
    assert.equal((await scene.offeredTo(5)).length, 1)
  })

  test('[RLO-30] [TRK-6] tells a host that enrols of the signature of the set before', async () => {
    await using scene = await openScene(2)
    const key = new TestTrustKey()
    const sign = (numero: number, roots: readonly Certificate[]) => {
      const fingerprints = roots.map(({ sha256 }) => sha256)
      return key.signSet(fingerprints, { numero, epoca: 1 })
    }
    await scene.admin.signBundle({ ...sign(5, [old, next]), trust_key: key.text })
    scene.file = [old, next, third]
    await scene.admin.signBundle({ ...sign(6, scene.file), ...IN_WAVES })
    assert.deepEqual(await scene.offered.enrolmentTrust(), {
      trust_key: key.text,
      signed: { ...sign(5, [old, next]), key_changes: [] },
    })
    const [agent] = scene.agents
    assert.ok(agent)
    const { numero, signed } = await scene.offered.offerTo(agent)
    assert.deepEqual([numero, signed?.statement], [5, sign(5, [old, next]).statement])
  })

  test('[RLO-32] takes no root away, and begins no época', async () => {
    await using scene = await openScene(2)
    const refused = { code: 'bundle_in_waves' }
    scene.file = [next]
    await assert.rejects(scene.admin.updateBundle({ ...IN_WAVES, force: true }), refused)
    scene.file = [old, next]
    await assert.rejects(scene.admin.updateBundle({ ...IN_WAVES, nova_epoca: true }), refused)
    const waves = { ...RULES, waves: ['50%'] }
    await assert.rejects(scene.admin.updateBundle({ in_waves: waves }), { code: 'waves_invalid' })
    assert.equal((await scene.store.reader.findRootSet())?.number, 4)
  })
})
