import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertCertificate } from '../../../../test/store/store-samples.ts'
import { openRotationScene } from '../../../../test/support/rotation-scene.ts'
import { openRolloutScene } from '../../../../test/support/rollout-scene.ts'

describe('[RLO-24] a rotation', () => {
  test('[RLO-27] asks a few hosts first, and the next ones when each of them uses another identity and that has soaked', async () => {
    await using scene = await openRotationScene(9)
    const started = await scene.start()
    assert.deepEqual(started.planned, [
      { wave: '1', hosts: 1 },
      { wave: '50%', hosts: 5 },
      { wave: '100%', hosts: 9 },
    ])
    assert.deepEqual(await scene.asked(), [], 'the command asks nobody')
    const reached: number[] = []
    let all = 0
    for (let wave = 1; wave <= 3; wave += 1) {
      await scene.settle()
      await scene.pass(20)
      const asked = await scene.asked()
      all += asked.length
      reached.push(all)
      await scene.renewAll()
      await scene.pass(8)
      assert.deepEqual(await scene.asked(), [], 'it has not soaked yet')
      await scene.pass(4)
    }
    assert.deepEqual(reached, [1, 5, 9])
    assert.deepEqual(scene.told.toSorted(), scene.agents.map(({ id }) => id).toSorted())
    const [rollout] = (await scene.admin.listRollouts({})).rollouts
    assert.deepEqual([rollout?.state, rollout?.given, rollout?.nome], ['done', 9, null])
    const acts = await scene.acts()
    const types = acts.map(([type]) => type)
    assert.equal(types.filter((type) => type === 'agent_rotate_requested').length, 9)
    assert.deepEqual(
      types.filter((type) => type !== 'agent_rotate_requested'),
      [
        'rollout_started',
        'rollout_wave_opened',
        'rollout_wave_opened',
        'rollout_wave_opened',
        'rollout_done',
      ],
    )
    const of = { rollout: started.id, kind: 'rotation', where: null }
    assert.deepEqual(acts.at(-1), ['rollout_done', { actor: 'hub', ...of, wave: 3, hosts: 9 }])
    const first = acts.find(([type]) => type === 'agent_rotate_requested')?.[1]
    const { agente_id, hostname, ...rest } = first as Readonly<Record<string, unknown>>
    assert.ok(scene.agents.some((one) => one.id === agente_id && one.hostname === hostname))
    assert.deepEqual(rest, { actor: 'hub', rollout: started.id, wave: 1 })
  })

  test('counts an identity that was issued before it asked for nothing', async () => {
    await using scene = await openRotationScene(2)
    // Each has one that it has not used yet, as after a reply that was lost.
    const issued = new Map<string, number>()
    for (const { id } of scene.agents) {
      issued.set(id, (await insertCertificate(scene.store, id)).seq)
    }
    await scene.start({ waves: ['1', '100%'], soak_seconds: 0 })
    await scene.settle()
    const [asked] = await scene.asked()
    const seq = issued.get(asked?.id ?? '')
    assert.ok(asked !== undefined && seq !== undefined)
    await scene.store.write((writer) => writer.setActiveIdentity(asked.id, seq, scene.clock.now()))
    await scene.settle()
    const { wave, waits_for } = await scene.show()
    assert.deepEqual([wave, waits_for], [1, 'it waits for 1 host to use a new identity'])
    await scene.renew(asked)
    await scene.settle()
    assert.equal((await scene.show()).wave, 2)
  })

  test('[RLO-10] [RLO-25] is frozen by hosts that do not renew in time, names them, and goes on when they are accepted', async () => {
    await using scene = await openRotationScene(4)
    await scene.start({ waves: ['2', '100%'], soak_seconds: 0 })
    await scene.settle()
    const [slow, quick] = await scene.asked()
    assert.ok(slow && quick)
    await scene.renew(quick)
    await scene.pass(58)
    assert.equal((await scene.show()).state, 'running')
    await scene.pass(6)
    const frozen = await scene.show()
    assert.equal(frozen.state, 'frozen')
    assert.equal(frozen.reason, 'of 2 hosts 1 not done within 60 s, where 0 may')
    const [host] = frozen.failures
    assert.deepEqual(host, {
      hostname: slow.hostname,
      entrega_id: null,
      status: 'pendente',
      erro: null,
    })
    assert.deepEqual((await scene.admin.showStatus({})).rollouts[0]?.nome, null)
    await scene.admin.resumeRollout({ rollout: 'rotation' })
    await scene.settle()
    assert.equal((await scene.show()).wave, 2)
  })

  test('of which no host renews goes no further, however many may fail', async () => {
    await using scene = await openRotationScene(4)
    await scene.start({ waves: ['1', '100%'], max_failed: '100%', soak_seconds: 0 })
    await scene.settle()
    await scene.pass(64)
    assert.equal((await scene.show()).reason, 'no host uses a new identity')
  })

  test('[RLO-26] that is undone asks no further host, and takes the request back where it was not followed', async () => {
    await using scene = await openRotationScene(6)
    await scene.start({ waves: ['3', '100%'] })
    await scene.settle()
    const asked = await scene.asked()
    assert.equal(asked.length, 3)
    const [quick, again] = asked
    assert.ok(quick && again)
    await scene.renew(quick)
    await scene.admin.undoRollout({ rollout: 'rotation' })
    // An operator asks one of them by hand meanwhile.
    await scene.admin.pushToAgent({ agente: again.hostname, acao: 'rotate' })
    await scene.settle()
    const still = (await scene.asked()).map(({ id }) => id)
    assert.deepEqual(still, [again.id], 'what somebody else asked for stays')
    const [rollout] = (await scene.admin.listRollouts({})).rollouts
    assert.equal(rollout?.state, 'undone')
    await scene.pass(100)
    assert.equal(
      (await scene.acts()).filter(([type]) => type === 'agent_rotate_requested').length,
      4,
    )
    await scene.start()
    await scene.settle()
    assert.equal((await scene.show()).given, 1, 'the next one begins anew')
  })

  test('[RLO-26] leaves what an operator has asked for already as it is, and takes it back from nobody', async () => {
    await using scene = await openRotationScene(3)
    const [host] = scene.agents
    assert.ok(host)
    await scene.admin.pushToAgent({ agente: host.hostname, acao: 'rotate' })
    const requests = await scene.store.reader.findAgentRequests(host.id)
    scene.clock.pass(1000)
    await scene.start({ waves: ['100%'] })
    await scene.settle()
    assert.equal((await scene.asked()).length, 3)
    assert.deepEqual(await scene.store.reader.findAgentRequests(host.id), requests)
    await scene.admin.undoRollout({ rollout: 'rotation' })
    await scene.settle()
    assert.deepEqual(
      (await scene.asked()).map(({ id }) => id),
      [host.id],
    )
  })

  test('[RLO-20] waits in a freeze, where one host is asked as ever', async () => {
    await using scene = await openRotationScene(3)
    const until = new Date(scene.clock.now().getTime() + 3_600_000).toISOString()
    await scene.admin.setFreeze({ until, why: 'Black Friday' })
    assert.equal((await scene.start()).frozen_until, until)
    await scene.pass(10)
    assert.deepEqual(await scene.asked(), [])
    await scene.admin.pushToAgent({ agente: 'web-1', acao: 'rotate' })
    assert.deepEqual(
      (await scene.asked()).map(({ hostname }) => hostname),
      ['web-1'],
    )
  })

  test('is of the hosts that match when a wave opens, without revoked ones', async () => {
    await using scene = await openRotationScene(6)
    await scene.admin.labelAgents({ where: 'name in (web-0,web-1,web-2)', set: { env: 'prod' } })
    await scene.admin.revokeAgent({ agente: 'web-0' })
    const started = await scene.start({ where: 'env=prod', waves: ['1', '100%'], soak_seconds: 0 })
    assert.deepEqual([started.hosts, started.where], [2, 'env=prod'])
    await scene.settle()
    await scene.renewAll()
    await scene.admin.labelAgents({ where: 'name=web-5', set: { env: 'prod' } })
    await scene.settle()
    const { given, by_wave } = await scene.show()
    assert.equal(given, 3)
    await scene.admin.revokeAgent({ agente: 'web-5' })
    assert.equal((await scene.show()).by_wave[1]?.pending, (by_wave[1]?.pending ?? 0) - 1)
  })

  test('[RLO-13] [RLO-35] of many hosts asks fifty a second, and goes on in the middle of a wave with another process', async () => {
    await using scene = await openRotationScene(600)
    await scene.start({ waves: ['2', '100%'], soak_seconds: 0 })
    await scene.settle()
    await scene.renewAll()
    scene.restart()
    await scene.settle()
    // The CA signs a certificate for each: fifty a second, after a slice and what two seconds saved.
    for (const seconds of [0, 2, 4, 6]) {
      const { given } = await scene.show()
      const most = Math.min(599, 2 + 250 + 100 + 50 * seconds)
      assert.ok(given <= most, `${given} hosts after ${seconds} s, where ${most} may be asked`)
      await scene.pass(2)
    }
    await scene.pass(4)
    assert.equal((await scene.show()).given, 600)
    assert.equal(new Set(scene.told).size, 600)
    assert.equal(scene.told.length, 600, 'nobody is asked twice')
  })

  test('[RLO-5] [RLO-24] is one at a time, beside those of cargas', async () => {
    await using scene = await openRolloutScene(3)
    const rules = { waves: ['1', '100%'], soak_seconds: 0, max_failed: '0' }
    await scene.start()
    const { id } = await scene.admin.startRotation(rules)
    await assert.rejects(scene.admin.startRotation(rules), {
      code: 'rollout_open',
      message: `a rotation in waves is under way: rollout ${id} is running in wave 1 of 2`,
    })
    assert.equal((await scene.admin.showRollout({ rollout: 'rotation' })).id, id)
    await assert.rejects(scene.admin.startRotation({ ...rules, where: 'env=prod' }), {
      code: 'rollout_empty',
      message: 'no host matches env=prod',
    })
    await assert.rejects(scene.admin.startRotation({ ...rules, where: 'host.os=linux' }), {
      code: 'selector_reported',
    })
  })
})
