import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HUB } from '../../../../test/cli/fake-hub-row.ts'
import { makeAgeFile } from '../../../../test/support/made-age-file.ts'
import { openRolloutScene } from '../../../../test/support/rollout-scene.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminHubRow } from '../../../protocol/admin/hubs.ts'
import type { Recipient } from '../../../protocol/identifiers.ts'
import { findWavesFault, parseShare } from '../../../protocol/rollout-share.ts'

const ONE = 'age1pq1one' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'

describe('[RLO-2] the waves', () => {
  const faultOf = (text: string) =>
    findWavesFault(text.split(',').map((part) => parseShare(part) ?? assert.fail(part)))

  test('grow, have numbers before percentages, and end with all hosts', () => {
    for (const good of ['100%', '1,100%', '1,5,0.5%,10%,99.9%,100%']) {
      assert.equal(faultOf(good), undefined, good)
    }
    assert.equal(faultOf('1,50%'), 'do not end with 100%')
    assert.equal(faultOf('100'), 'do not end with 100%')
    assert.equal(faultOf('5,5,100%'), 'do not grow: 5 comes after 5')
    assert.equal(faultOf('20%,10%,100%'), 'do not grow: 10% comes after 20%')
    assert.equal(faultOf('10%,500,100%'), 'have a number of hosts after a percentage')
    assert.equal(faultOf('0,100%'), 'have one without hosts')
    assert.equal(
      faultOf(Array.from({ length: 21 }, (_, at) => at + 1).join(',')),
      'are more than 20',
    )
  })

  test('are refused in the words of what is wrong', async () => {
    await using scene = await openRolloutScene(2)
    for (const wrong of ['x', '101%', '1.25%', '-1', '1e3', '']) {
      await assert.rejects(scene.start({ waves: [wrong] }), {
        code: 'waves_invalid',
        message: `${wrong} is neither a number of hosts nor a percentage`,
      })
    }
    await assert.rejects(scene.start({ max_failed: 'few' }), { code: 'max_failed_invalid' })
  })
})

describe('[RLO-5] a carga under a rollout', () => {
  test('is not updated, removed or rolled out again, until the rollout is over', async () => {
    await using scene = await openRolloutScene(2)
    const { id } = await scene.start()
    const refused = {
      code: 'rollout_open',
      message: `load site is under rollout ${id} of version 2, which is running in wave 1 of 3`,
      details: { rollout: id },
    }
    const carga = scene.cargo.id
    await assert.rejects(scene.admin.updateCargo({ carga }), refused)
    await assert.rejects(scene.admin.removeCargo({ carga }), refused)
    await assert.rejects(scene.start(), refused)
    await scene.admin.undoRollout({ rollout: id })
    await scene.settle()
    await scene.admin.removeCargo({ carga })
  })

  test('[RLO-6] is begun only with hosts, of the versao that the caller has seen, and where each hub knows rollouts', async () => {
    await using empty = await openRolloutScene(0)
    await assert.rejects(empty.start(), { code: 'rollout_empty' })
    await using scene = await openRolloutScene(1)
    await assert.rejects(scene.start({ versao: 7 }), { code: 'versao_changed' })
    const startWith = (older: Partial<AdminHubRow>) =>
      openAdmin(scene.store, {
        clock: scene.clock,
        hubs: {
          list: () => Promise.resolve([HUB, { ...HUB, host: 'hub-2', is_this: false, ...older }]),
          remove: () => Promise.resolve(),
        },
      }).admin.startRollout({
        carga: 'site',
        waves: ['100%'],
        soak_seconds: 0,
        max_failed: '0',
      })
    for (const tables of [36, null]) {
      await assert.rejects(startWith({ tables }), {
        code: 'hubs_differ',
        message: 'the hub at hub-2 is older than this one, and knows no rollouts: upgrade it first',
      })
    }
    await startWith({ tables: 36, state: 'stopped' })
  })

  test('[BLB-9] is a sealed file for exactly its hosts', async () => {
    await using scene = await openRolloutScene(2, { kind: 'selado', sans: [] })
    await scene.store.write(async (writer) => {
      for (const { id } of scene.agents) await writer.setRecipient(id, ONE)
    })
    const sealedFor = (count: number) => ({
      conteudo: makeAgeFile(count, 10).toString('base64'),
      destinatarios: scene.agents
        .slice(0, count)
        .map(({ id }) => ({ agente: id, fingerprint: ONE_FINGERPRINT })),
      escrow: [],
    })
    await assert.rejects(scene.start({ selado: sealedFor(1) }), { code: 'recipients_incomplete' })
    await assert.rejects(scene.start({ selado: sealedFor(2), sans: ['a.example'] }), {
      code: 'sans_unwanted',
    })
    const { id } = await scene.start({ selado: sealedFor(2) })
    const [, payload] = (await scene.acts()).find(([type]) => type === 'rollout_started') ?? []
    assert.equal(
      (payload as { readonly bytes: number }).bytes,
      Buffer.from(sealedFor(2).conteudo, 'base64').length,
    )
    assert.equal((await scene.admin.showRollout({ rollout: id })).tipo, 'selado')
  })
})

test('[RLO-17] [RLO-22] [RLO-23] [CLI-163] a rollout is found by its id and by its carga, listed newest first, and recorded', async () => {
  await using scene = await openRolloutScene(4)
  const first = await scene.start()
  await scene.admin.undoRollout({ rollout: 'site' })
  await scene.settle()
  const second = await scene.start({ waves: ['50%', '100%'], max_failed: '2%', late_seconds: 90 })
  const { rollouts } = await scene.admin.listRollouts({})
  assert.deepEqual(
    rollouts.map(({ id, state, versao }) => [id, state, versao]),
    [
      [second.id, 'running', 4],
      [first.id, 'undone', 2],
    ],
  )
  assert.equal((await scene.admin.showRollout({ rollout: 'site' })).id, second.id)
  assert.equal(
    (await scene.admin.showRollout({ rollout: first.id })).waits_for,
    'nothing: it is undone',
  )
  await assert.rejects(scene.admin.showRollout({ rollout: 'none' }), {
    code: 'rollout_not_found',
    message: 'no rollout none, and no open one of a load none',
  })
  assert.deepEqual((await scene.admin.showStatus({})).rollouts, [
    {
      id: second.id,
      kind: 'load',
      nome: 'site',
      state: 'running',
      wave: 1,
      waves: 2,
      reason: null,
    },
  ])
  assert.deepEqual((await scene.acts()).at(-1), [
    'rollout_started',
    {
      actor: 'admin',
      rollout: second.id,
      kind: 'load',
      carga_id: scene.cargo.id,
      nome: 'site',
      versao: 4,
      sans: ['a.example'],
      waves: [
        { wave: '50%', hosts: 2 },
        { wave: '100%', hosts: 4 },
      ],
      soak_seconds: 10,
      late_seconds: 90,
      max_failed: '2%',
      agentes_total: 4,
    },
  ])
})

test('[RLO-16] [RLO-18] a rollout that is paused gives nothing until it is resumed', async () => {
  await using scene = await openRolloutScene(4)
  const { id } = await scene.start()
  await scene.admin.pauseRollout({ rollout: id })
  await scene.admin.pauseRollout({ rollout: id })
  await scene.pass(20)
  assert.equal((await scene.hostsOf(2)).length, 0)
  assert.equal((await scene.show()).waits_for, 'admin paused it')
  await scene.admin.resumeRollout({ rollout: id })
  await scene.admin.resumeRollout({ rollout: id })
  await scene.settle()
  assert.equal((await scene.hostsOf(2)).length, 1)
  const types = (await scene.acts()).map(([type]) => type)
  assert.deepEqual(types, [
    'rollout_started',
    'rollout_paused',
    'rollout_resumed',
    'rollout_wave_opened',
  ])
})
