import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertAgent, newContent } from '../../../../test/store/store-samples.ts'
import { openRolloutScene, type RolloutScene } from '../../../../test/support/rollout-scene.ts'
import type { Agent } from '../../domain/agent.ts'
import { newDelivery } from '../cargo/replace-delivery.ts'

const countOf = async (scene: RolloutScene, version: number): Promise<number> =>
  (await scene.hostsOf(version)).length

const typesOf = async (scene: RolloutScene): Promise<string[]> =>
  (await scene.acts()).map(([type]) => type).filter((type) => /^(rollout|freeze)_/.test(type))

async function givenOne(scene: RolloutScene): Promise<Agent> {
  const [first] = await scene.hostsOf(2)
  assert.ok(first)
  return first
}

/** To the wave of half of the hosts. */
async function reachSecondWave(scene: RolloutScene): Promise<void> {
  await scene.settle()
  await scene.installAll()
  await scene.pass(14)
}

describe('[RLO-7] a rollout', () => {
  test('goes to one host, then to half of them, then to all, and then the carga has the version', async () => {
    await using scene = await openRolloutScene(9)
    const started = await scene.start({ sans: ['b.example'] })
    assert.deepEqual(started.planned, [
      { wave: '1', hosts: 1 },
      { wave: '50%', hosts: 5 },
      { wave: '100%', hosts: 9 },
    ])
    const reached: number[] = []
    for (let wave = 1; wave <= 3; wave += 1) {
      await scene.settle()
      reached.push(await countOf(scene, 2))
      // Whatever time passes, nothing opens before its hosts have installed it.
      await scene.pass(60)
      assert.equal(await countOf(scene, 2), reached.at(-1))
      assert.equal((await scene.currentCargo())?.version, 1)
      await scene.installAll()
      await scene.settle()
      await scene.pass(8)
      assert.equal(await countOf(scene, 2), reached.at(-1), 'the wave soaks')
      await scene.pass(4)
    }
    assert.deepEqual(reached, [1, 5, 9])
    const { version, sans } = (await scene.currentCargo()) ?? {}
    assert.deepEqual([version, sans], [2, ['b.example']])
    assert.deepEqual(await typesOf(scene), [
      'rollout_started',
      'rollout_wave_opened',
      'rollout_wave_opened',
      'rollout_wave_opened',
      'rollout_done',
    ])
    const acts = await scene.acts()
    const of = { rollout: started.id, kind: 'load' }
    const common = { ...of, carga_id: scene.cargo.id, nome: 'site', versao: 2 }
    assert.deepEqual(
      acts.find(([type]) => type === 'rollout_wave_opened'),
      ['rollout_wave_opened', { actor: 'hub', ...common, wave: 1, waves: 3, hosts: 1 }],
    )
    assert.deepEqual(acts.at(-1), ['rollout_done', { actor: 'hub', ...common, wave: 3, hosts: 9 }])
  })

  test('[RLO-12] is not hurried by a clock that somebody sets forward, nor ended by one set back', async () => {
    await using scene = await openRolloutScene(4)
    await scene.start({ soak_seconds: 600 })
    await scene.settle()
    await scene.installAll()
    await scene.settle()
    scene.clock.pass(30 * 86_400_000)
    await scene.settle()
    assert.equal(await countOf(scene, 2), 1)
    scene.clock.pass(-60 * 86_400_000)
    await scene.settle()
    assert.equal(await countOf(scene, 2), 1)
    await scene.pass(602)
    assert.equal(await countOf(scene, 2), 2)
  })

  test('[RLO-13] goes on where it was after a restart, with what had soaked but for a quarter of a minute', async () => {
    await using scene = await openRolloutScene(4)
    await scene.start({ soak_seconds: 100 })
    await scene.settle()
    await scene.installAll()
    for (let restarts = 0; restarts < 4; restarts += 1) {
      scene.restart()
      await scene.pass(24)
    }
    assert.equal(await countOf(scene, 2), 1)
    await scene.pass(48)
    assert.equal(await countOf(scene, 2), 2)
  })

  test('[RLO-1] of many hosts is given in slices, and goes on in the middle of a wave', async () => {
    await using scene = await openRolloutScene(600)
    await scene.start({ waves: ['2', '100%'], soak_seconds: 0 })
    await scene.settle()
    assert.equal(await countOf(scene, 2), 2)
    await scene.installAll()
    await scene.look()
    await scene.look()
    await scene.look()
    scene.restart()
    const half = await countOf(scene, 2)
    assert.ok(half > 2 && half < 600, `${half}`)
    await scene.settle()
    assert.equal(await countOf(scene, 2), 600)
  })

  test('[RLO-15] gives hosts that come meanwhile the last good version, and then the new one', async () => {
    await using scene = await openRolloutScene(3)
    await scene.start()
    await scene.settle()
    const late = await insertAgent(scene.store, 'web-late')
    const give = async (agent: Agent) =>
      scene.store.write(async (writer) => {
        const cargo = await writer.findCargo(scene.cargo.id)
        assert.ok(cargo)
        await writer.insertDeliveries([newDelivery(cargo, agent.id, scene.clock.now())])
      })
    await give(late)
    scene.agents.push(late)
    assert.equal((await scene.standingOf(late)).version, 1)
    for (let wave = 1; wave <= 2; wave += 1) {
      await scene.installAll()
      await scene.pass(14)
    }
    assert.equal((await scene.standingOf(late)).version, 2)
    await scene.installAll()
    // One more behind the walk of the last wave.
    const last = await insertAgent(scene.store, 'web-last')
    await give(last)
    scene.agents.push(last)
    await scene.pass(14)
    assert.equal((await scene.currentCargo())?.version, 2)
    assert.equal((await scene.standingOf(last)).version, 2)
  })

  test('[RLO-3] leaves out waves that add no host, and revoked hosts', async () => {
    await using scene = await openRolloutScene(5)
    const [, revoked] = scene.agents
    assert.ok(revoked)
    const at = scene.clock.now()
    await scene.store.write((writer) => writer.updateAgent({ ...revoked, revokedAt: at }))
    await scene.start({ waves: ['1', '10%', '20%', '100%'], soak_seconds: 0 })
    await scene.settle()
    await scene.installAll()
    await scene.pass(4)
    assert.equal(await countOf(scene, 2), 4)
    assert.equal((await scene.standingOf(revoked)).version, 1)
  })
})

describe('[RLO-8] a host with targets', () => {
  test('is done when each of them has reported that it is in place, whichever report comes first', async () => {
    await using scene = await openRolloutScene(4)
    await scene.start()
    await scene.settle()
    const first = await givenOne(scene)
    // Root's pass may be faster than the agent.
    await scene.send(first, 'alvo_aplicado', { nome: 'site', alvo: 'root.toml' })
    await scene.send(first, 'entrega_instalada', { alvos: ['nginx.toml', 'root.toml'] })
    await scene.pass(30)
    assert.equal((await scene.show()).waits_for, 'it waits for 1 host to report its targets')
    assert.equal(await countOf(scene, 2), 1)
    await scene.send(first, 'alvo_aplicado', { nome: 'site', alvo: 'nginx.toml' })
    await scene.pass(14)
    assert.equal(await countOf(scene, 2), 2)
  })

  test('[RLO-9] that are put back has failed, and is done again when they are in place after all', async () => {
    await using scene = await openRolloutScene(4)
    await scene.start({ max_failed: '1' })
    await scene.settle()
    const first = await givenOne(scene)
    await scene.send(first, 'entrega_instalada', { alvos: ['nginx.toml'] })
    await scene.send(first, 'alvo_revertido', { alvo: 'nginx.toml', step: 'probe', reason: 'x' })
    const shown = await scene.show()
    assert.deepEqual(shown.hosts, {
      pending: 0,
      unprobed: 0,
      done: 0,
      failed: 1,
      declined: 0,
      failures_allowed: 1,
    })
    assert.deepEqual(
      shown.failures.map(({ hostname, erro }) => [hostname, erro]),
      [[first.hostname, 'alvo_revertido probe: x']],
    )
    await scene.send(first, 'alvo_aplicado', { nome: 'site', alvo: 'nginx.toml' })
    assert.equal((await scene.show()).hosts.done, 1)
  })

  test('of an agent that names none is done when it is installed', async () => {
    await using scene = await openRolloutScene(4)
    await scene.start()
    await reachSecondWave(scene)
    assert.equal(await countOf(scene, 2), 2)
  })
})

describe('[RLO-9] too many failures', () => {
  test('freeze the rollout, with the reason; a resume accepts them, one more freezes it again', async () => {
    await using scene = await openRolloutScene(10)
    await scene.start()
    await reachSecondWave(scene)
    const [one] = await scene.pendingHosts()
    assert.ok(one)
    await scene.send(one, 'entrega_falhou', { erro: 'disk full' })
    await scene.pass(2)
    const frozen = await scene.show()
    assert.deepEqual([frozen.state, frozen.reason], ['frozen', 'of 5 hosts 1 failed, where 0 may'])
    await scene.installAll()
    await scene.pass(120)
    assert.equal(await countOf(scene, 2), 5)
    scene.restart()
    await scene.settle()
    assert.equal((await scene.show()).state, 'frozen')
    await scene.admin.resumeRollout({ rollout: 'site' })
    await scene.pass(4)
    assert.equal((await scene.show()).state, 'running')
    const retried = await scene.admin.retryDeliveries({})
    assert.deepEqual(
      retried.entregas.map(({ versao }) => versao),
      [2],
      'a retry is of the version that failed',
    )
    assert.equal((await scene.show()).hosts.pending, 1)
    await scene.send(one, 'entrega_falhou', { erro: 'disk full' })
    await scene.pass(14)
    assert.equal(await countOf(scene, 2), 10)
    const [another] = await scene.pendingHosts()
    assert.ok(another)
    await scene.send(another, 'entrega_falhou', { erro: 'x' })
    await scene.pass(2)
    assert.equal((await scene.show()).reason, 'of 10 hosts 2 failed, where 1 may')
    assert.deepEqual((await typesOf(scene)).slice(2), [
      'rollout_wave_opened',
      'rollout_frozen',
      'rollout_resumed',
      'rollout_wave_opened',
      'rollout_frozen',
    ])
  })

  test('[RLO-10] are also hosts that are not done in time', async () => {
    await using scene = await openRolloutScene(4)
    await scene.start({ late_seconds: 60 })
    await scene.settle()
    await scene.pass(58)
    assert.equal((await scene.show()).state, 'running')
    await scene.pass(4)
    const { reason } = await scene.show()
    assert.equal(reason, 'of 1 host 1 not done within 60 s, where 0 may')
  })
})

describe('[RLO-19] an undo', () => {
  test('gives the hosts that were given the version the last good one, under a number that no host has', async () => {
    await using scene = await openRolloutScene(6)
    await scene.start({ sans: ['b.example'] })
    await reachSecondWave(scene)
    const given = await scene.hostsOf(2)
    assert.equal(given.length, 3)
    await scene.admin.undoRollout({ rollout: 'site' })
    await scene.settle()
    const { version, sans } = (await scene.currentCargo()) ?? {}
    assert.deepEqual([version, sans], [3, ['a.example']])
    assert.deepEqual(
      (await scene.hostsOf(3)).map(({ id }) => id),
      given.map(({ id }) => id),
    )
    assert.deepEqual((await scene.standingOf(given[0] ?? assert.fail())).sans, ['a.example'])
    assert.equal((await scene.hostsOf(1)).length, 3, 'nobody else is given anything')
    const [rollout] = (await scene.admin.listRollouts({})).rollouts
    assert.equal(rollout?.state, 'undone')
    const undone = { code: 'rollout_over', message: `rollout ${rollout?.id} is undone` }
    await assert.rejects(scene.admin.undoRollout({ rollout: rollout?.id ?? '' }), undone)
    await scene.admin.updateCargo({ carga: scene.cargo.id })
    assert.equal((await scene.currentCargo())?.version, 4)
  })
})

describe('[RLO-20] a freeze', () => {
  test('holds a rollout back until it ends by itself, also across a restart, and says why', async () => {
    await using scene = await openRolloutScene(4)
    const until = new Date(scene.clock.now().getTime() + 60_000).toISOString()
    await scene.admin.setFreeze({ until, why: 'Black Friday' })
    const { frozen_until } = await scene.start()
    assert.equal(frozen_until, until)
    await scene.settle()
    scene.restart()
    await scene.pass(56)
    assert.equal(await countOf(scene, 2), 0)
    assert.equal((await scene.show()).waits_for, `a freeze holds until ${until}: Black Friday`)
    const { freeze, rollouts } = await scene.admin.showFreeze({})
    assert.deepEqual([freeze?.why, rollouts], ['Black Friday', 1])
    await scene.pass(6)
    assert.equal(await countOf(scene, 2), 1)
    assert.deepEqual(await typesOf(scene), [
      'freeze_set',
      'rollout_started',
      'freeze_ended',
      'rollout_wave_opened',
    ])
    await assert.rejects(scene.admin.endFreeze({}), { code: 'freeze_not_found' })
  })

  test('[RLO-21] [CLI-164] is replaced by the next one, and ended by an operator', async () => {
    await using scene = await openRolloutScene(2)
    const at = (seconds: number) =>
      new Date(scene.clock.now().getTime() + seconds * 1000).toISOString()
    await scene.admin.setFreeze({ until: at(60), why: 'one' })
    await scene.admin.setFreeze({ until: at(120), why: 'two' })
    assert.equal((await scene.admin.showFreeze({})).freeze?.why, 'two')
    await scene.admin.endFreeze({})
    assert.equal((await scene.admin.showFreeze({})).freeze, null)
    for (const until of [at(0), at(-1), at(400 * 86_400)]) {
      await assert.rejects(scene.admin.setFreeze({ until, why: 'x' }), { code: 'freeze_invalid' })
    }
  })
})

describe('[RLO-14] a sealed carga', () => {
  test('is handed out in the version that a host was given, and in the other one to all others', async () => {
    await using scene = await openRolloutScene(4, { kind: 'selado', sans: [] })
    const [old, fresh] = [newContent(10), newContent(20)]
    const { id } = await scene.start().catch(() => ({ id: '' }))
    assert.equal(id, '', 'a sealed carga needs a content')
    await scene.store.write((writer) => writer.setContent(scene.cargo.id, old))
    await startSealed(scene, fresh)
    await scene.settle()
    const given = await givenOne(scene)
    const bytesFor = async (agent: Agent) => {
      const blob = await scene.findBlob(agent, scene.cargo.id)
      const content = await blob?.read()
      assert.equal(content?.sha256, blob?.summary.sha256)
      return content?.sha256
    }
    for (const agent of scene.agents) {
      const expected = agent.id === given.id ? fresh.sha256 : old.sha256
      assert.equal(await bytesFor(agent), expected)
    }
    for (let wave = 1; wave <= 3; wave += 1) {
      await scene.installAll()
      await scene.pass(14)
    }
    assert.equal((await scene.currentCargo())?.version, 2)
    for (const agent of scene.agents) assert.equal(await bytesFor(agent), fresh.sha256)
  })
})

/** As startRollout does it, of a file that is sealed for nobody. */
async function startSealed(scene: RolloutScene, content: ReturnType<typeof newContent>) {
  const { id } = await scene.store.write(async (writer) => {
    await writer.updateCargo({ ...scene.cargo, kind: 'csr_cert' })
    return scene.cargo
  })
  assert.equal(id, scene.cargo.id)
  const started = await scene.start()
  await scene.store.write(async (writer) => {
    await writer.updateCargo(scene.cargo)
    await writer.rollouts.setContent(started.id as never, content)
  })
}
