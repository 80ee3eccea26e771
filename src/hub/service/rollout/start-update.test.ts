import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NEXT, openUpdateScene } from '../../../../test/support/update-scene.ts'

const AT_ONCE = { waves: ['1', '100%'], soak_seconds: 0 }

describe('[RLO-36] an update', () => {
  test('[RLO-37] [RLO-39] [MAN-8] [EVT-41] is announced to a few hosts first, and to the next ones when each of them runs it and that has soaked', async () => {
    await using scene = await openUpdateScene(9)
    const started = await scene.start()
    assert.equal(started.programa, NEXT)
    assert.deepEqual(await scene.announcedTo(), [], 'the command tells nobody')
    const reached: number[] = []
    let all = 0
    for (let wave = 1; wave <= 3; wave += 1) {
      await scene.settle()
      await scene.pass(20)
      const hosts = await scene.announcedTo()
      all += hosts.length
      reached.push(all)
      for (const host of hosts) {
        const { atualizacao } = await scene.listManifest(host)
        assert.deepEqual(atualizacao, { versao: NEXT, rollout: started.id })
        await scene.update(host)
      }
      assert.deepEqual(await scene.announcedTo(), [], 'who has it is told no more')
      await scene.pass(8)
      assert.deepEqual(await scene.announcedTo(), [], 'it has not soaked yet')
      await scene.pass(4)
    }
    assert.deepEqual(reached, [1, 5, 9])
    assert.deepEqual(scene.told.toSorted(), scene.agents.map(({ id }) => id).toSorted())
    const of = { rollout: started.id, kind: 'update', programa: NEXT, where: null }
    const acts = (await scene.acts()).filter(([type]) => type.startsWith('rollout_'))
    assert.deepEqual(
      acts.map(([type]) => type),
      [
        'rollout_started',
        'rollout_wave_opened',
        'rollout_wave_opened',
        'rollout_wave_opened',
        'rollout_done',
      ],
    )
    assert.deepEqual(acts.at(-1), ['rollout_done', { actor: 'hub', ...of, wave: 3, hosts: 9 }])
  })

  test('[RLO-40] [EVT-42] is frozen by a host that could not install it, which is named with its reason; while it is held nobody is told', async () => {
    await using scene = await openUpdateScene(4)
    await scene.start({ ...AT_ONCE, waves: ['2', '100%'] })
    await scene.settle()
    const [broken, slow] = await scene.announcedTo()
    assert.ok(broken !== undefined && slow !== undefined)
    await scene.fail(broken, 'version 0.5.0 was taken back')
    await scene.settle()
    const shown = await scene.show()
    assert.deepEqual([shown.state, shown.reason], ['frozen', 'of 2 hosts 1 failed, where 0 may'])
    assert.deepEqual(shown.failures, [
      {
        hostname: broken.hostname,
        entrega_id: null,
        status: 'falhou',
        erro: 'version 0.5.0 was taken back',
      },
      { hostname: slow.hostname, entrega_id: null, status: 'pendente', erro: null },
    ])
    assert.deepEqual(await scene.announcedTo(), [])
    await scene.admin.resumeRollout({ rollout: 'update' })
    assert.equal((await scene.announcedTo()).length, 2)
    // Somebody has mended it by hand.
    await scene.updateAll()
    await scene.settle()
    assert.equal((await scene.show()).wave, 2)
  })

  test('[RLO-10] [RLO-40] is frozen by a host that says nothing in time', async () => {
    await using scene = await openUpdateScene(3)
    await scene.start(AT_ONCE)
    await scene.settle()
    await scene.pass(62)
    const { state, reason } = await scene.show()
    assert.deepEqual([state, reason], ['frozen', 'of 1 host 1 not done within 60 s, where 0 may'])
  })

  test('[RLO-40] a host that takes a version back after all has failed', async () => {
    await using scene = await openUpdateScene(3)
    await scene.start({ ...AT_ONCE, soak_seconds: 30 })
    await scene.settle()
    const [host] = await scene.announcedTo()
    assert.ok(host !== undefined)
    await scene.update(host)
    await scene.pass(10)
    await scene.fail(host, 'version 0.5.0 was taken back')
    await scene.settle()
    assert.equal((await scene.show()).state, 'frozen')
  })

  test('[RLO-41] [EVT-43] holds nobody up for hosts that follow no announcements, and shows them', async () => {
    await using scene = await openUpdateScene(4)
    await scene.start({ ...AT_ONCE, waves: ['1', '3', '100%'] })
    await scene.settle()
    const [first] = await scene.announcedTo()
    assert.ok(first !== undefined)
    await scene.decline(first, 'SVC_AGENT_UPDATE_URL is not set')
    await scene.settle()
    assert.equal((await scene.show()).wave, 2, 'a wave of such hosts alone is no reason to stop')
    for (const host of await scene.announcedTo()) {
      if (host.id !== first.id) await scene.update(host)
    }
    await scene.settle()
    const shown = await scene.show()
    assert.equal(shown.wave, 3)
    assert.deepEqual(shown.hosts, {
      pending: 1,
      unprobed: 0,
      done: 2,
      failed: 0,
      declined: 1,
      failures_allowed: 0,
    })
    assert.deepEqual(shown.failures.at(-1), {
      hostname: first.hostname,
      entrega_id: null,
      status: 'declined',
      erro: 'SVC_AGENT_UPDATE_URL is not set',
    })
    // It follows them now.
    assert.ok((await scene.announcedTo()).some(({ id }) => id === first.id))
    await scene.updateAll()
    await scene.settle()
    const [rollout] = (await scene.admin.listRollouts({})).rollouts
    assert.equal(rollout?.state, 'done')
  })

  test('[RLO-41] is done where every host has declined it', async () => {
    await using scene = await openUpdateScene(2)
    await scene.start(AT_ONCE)
    for (let wave = 1; wave <= 2; wave += 1) {
      await scene.settle()
      for (const host of await scene.announcedTo()) await scene.decline(host, 'why')
    }
    await scene.settle()
    const [rollout] = (await scene.admin.listRollouts({})).rollouts
    assert.equal(rollout?.state, 'done')
  })

  test('[RLO-41] waits for no agent that is too old to hear of it, unless it is a newer one after all', async () => {
    await using scene = await openUpdateScene(2)
    const [old] = scene.agents
    assert.ok(old !== undefined)
    const sighting = { agentId: old.id, addresses: [], changedAt: scene.clock.now() }
    await scene.store.write((writer) =>
      writer.putSightings([{ ...sighting, version: '0.4.0', platform: null }]),
    )
    await scene.start({ waves: ['100%'], soak_seconds: 0 })
    await scene.settle()
    const shown = await scene.show()
    assert.deepEqual([shown.hosts.pending, shown.hosts.declined], [1, 1])
    assert.match(shown.failures.at(-1)?.erro ?? '', /its agent is 0\.4\.0/)
    await scene.update(old)
    assert.deepEqual((await scene.show()).hosts.declined, 0)
  })

  test('[RLO-42] an undo tells nobody any more, and leaves what is installed', async () => {
    await using scene = await openUpdateScene(4)
    const { id } = await scene.start({ ...AT_ONCE, waves: ['2', '100%'] })
    await scene.settle()
    const [done, slow] = await scene.announcedTo()
    assert.ok(done !== undefined && slow !== undefined)
    await scene.update(done)
    scene.told.length = 0
    await scene.admin.undoRollout({ rollout: 'update' })
    await scene.settle()
    const shown = await scene.admin.showRollout({ rollout: id })
    assert.deepEqual([shown.state, shown.hosts.done, shown.hosts.pending], ['undone', 1, 0])
    assert.deepEqual(await scene.announcedTo(), [])
    assert.deepEqual(scene.told, [slow.id], 'its stream may stand open')
    // What it had begun comes too late.
    await scene.fail(slow, 'taken back')
    assert.equal((await scene.admin.showRollout({ rollout: id })).hosts.failed, 0)
  })

  test('[RLO-16] a pause tells no further host', async () => {
    await using scene = await openUpdateScene(4)
    await scene.start(AT_ONCE)
    await scene.settle()
    await scene.admin.pauseRollout({ rollout: 'update' })
    await scene.updateAll()
    await scene.pass(20)
    assert.deepEqual(await scene.announcedTo(), [])
    await scene.admin.resumeRollout({ rollout: 'update' })
    await scene.pass(2)
    assert.equal((await scene.announcedTo()).length, 3)
  })

  test('[RLO-39] what a host says of another version counts for nothing, nor what is no such report', async () => {
    await using scene = await openUpdateScene(2)
    await scene.start(AT_ONCE)
    await scene.settle()
    const [host] = await scene.announcedTo()
    assert.ok(host !== undefined)
    await scene.update(host, '0.4.9')
    await scene.update(host, 'x'.repeat(65))
    await scene.settle()
    assert.equal((await scene.show()).hosts.pending, 1)
  })

  test('[RLO-39] what a host says of another rollout of the same version counts for nothing', async () => {
    await using scene = await openUpdateScene(2)
    const { id: earlier } = await scene.start(AT_ONCE)
    await scene.settle()
    await scene.admin.undoRollout({ rollout: 'update' })
    await scene.settle()
    const { id } = await scene.start(AT_ONCE)
    await scene.settle()
    const [host] = await scene.announcedTo()
    assert.ok(host !== undefined)
    for (const rollout of [earlier, 'x'.repeat(16), '']) await scene.fail(host, 'late', { rollout })
    await scene.settle()
    const shown = await scene.show()
    assert.deepEqual([shown.id, shown.hosts.pending, shown.hosts.failed], [id, 1, 0])
    await scene.fail(host, 'now', { rollout: id })
    assert.equal((await scene.show()).hosts.failed, 1)
  })

  test('[RLO-37] costs other hosts no look at the store, nor the host itself another one', async () => {
    await using scene = await openUpdateScene(2)
    await scene.start(AT_ONCE)
    await scene.settle()
    const [host] = await scene.announcedTo()
    const other = scene.agents.find(({ id }) => id !== host?.id)
    assert.ok(host !== undefined && other !== undefined)
    const [manifest, others] = [await scene.listManifest(host), await scene.listManifest(other)]
    assert.equal(await scene.listManifest(host), manifest)
    // A look of the keeper writes how long the wave has been open.
    await scene.pass(20)
    assert.equal(await scene.listManifest(host), manifest)
    await scene.update(host)
    assert.notEqual(await scene.listManifest(host), manifest)
    assert.equal(await scene.listManifest(other), others)
  })

  test('[RLO-36] is one at a time, of a version, for some host', async () => {
    await using scene = await openUpdateScene(1)
    for (const programa of ['0.5', 'v0.5.0', '../0.5.0', '0.5.0-rc.1', '00.5.0', '']) {
      await assert.rejects(scene.start({ programa }), /is not a version such as 0\.5\.0/, programa)
    }
    await assert.rejects(scene.start({ where: 'role=nobody' }), /no host matches role=nobody/)
    await scene.start()
    await assert.rejects(scene.start(), /an update in waves is under way/)
  })
})
