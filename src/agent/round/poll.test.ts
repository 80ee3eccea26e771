// A round installs what the manifest lists, once, and goes on from whatever state it finds.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { manifestEntry } from '../../../test/support/agent-host.ts'
import { startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { assertMatchingPair } from '../../../test/support/matching-pair.ts'
import { pollOnce } from './poll.ts'
import { openOutbox } from '../hub/outbox.ts'

describe('a round installs what the manifest lists', () => {
  test('[AGT-20] [DEL-1] [EVT-17] files, then event, then hook, once', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const entry = manifestEntry()
    hub.entregas = [entry]
    const state = await host.openAgent()
    const result = await pollOnce(state)
    assert.deepEqual(result.problems, [])
    const certificatePem = await host.readOut('site.crt')
    assertMatchingPair(certificatePem, await host.readOut('site.key'))
    assert.equal(certificatePem.match(/BEGIN CERTIFICATE/g)?.length, 2)
    assert.equal((await stat(join(host.paths.outDir, 'site.key'))).mode & 0o777, 0o600)
    assert.equal((await stat(join(host.paths.outDir, 'site.crt'))).mode & 0o777, 0o644)
    const installed = hub.events.find(({ tipo_evento: type }) => type === 'entrega_instalada')
    assert.equal(installed?.entrega_id, entry.id)
    assert.deepEqual(installed?.payload, {
      cert_path: join(host.paths.outDir, 'site.crt'),
      key_path: join(host.paths.outDir, 'site.key'),
      carga_nome: 'site',
      serial: new X509Certificate(certificatePem).serialNumber.toLowerCase(),
    })
    assert.deepEqual(
      host.hooks.invocations.map(({ event, name, deliveryId }) => [event, name, deliveryId]),
      [['installed', 'site', entry.id]],
    )
    hub.entregas = [entry]
    await pollOnce(state)
    assert.equal(hub.requestsTo('issue').length, 1)
    assert.equal(host.hooks.invocations.length, 1)
    const [issued] = hub.requestsTo('issue').map(({ body }) => body as { entrega_id?: string })
    assert.equal(issued?.entrega_id, entry.id)
    assert.match(
      hub.requests[0]?.headers['user-agent'] ?? '',
      /^svc-agent\/\d+\.\d+\.\d+ \(linux-(x64|arm64); instance=[0-9a-f]{16}\)$/,
    )
  })

  test('a restart finds everything done', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.settlesDeliveries = false
    hub.entregas = [manifestEntry()]
    await pollOnce(await host.openAgent())
    await pollOnce(await host.openAgent())
    assert.equal(hub.requestsTo('issue').length, 1)
    assert.equal(hub.eventTypes().filter((type) => type === 'entrega_instalada').length, 1)
  })

  test('[AGT-28] a crash between the switch and the record asks for no second certificate and sends one event', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.settlesDeliveries = false
    hub.entregas = [manifestEntry()]
    await pollOnce(await host.openAgent())
    await unlink(host.paths.processedFile)
    const state = await host.openAgent()
    await pollOnce(state)
    assert.equal(hub.requestsTo('issue').length, 1)
    assert.equal(hub.eventTypes().filter((type) => type === 'entrega_instalada').length, 1)
    assert.equal(state.processed.list()[0]?.progress, 'done')
  })

  test('[HOK-5] the hook runs while the event waits for a hub that is away', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas = [manifestEntry()]
    const state = await host.openAgent()
    await pollOnce(state)
    const events = { kind: 'cut-before' } as const
    hub.misbehave('events', events, events, events, events, events)
    hub.entregas = [manifestEntry({ nome: 'mail' })]
    await pollOnce(state)
    assert.deepEqual(
      host.hooks.invocations.map(({ name }) => name),
      ['site', 'mail'],
    )
    assert.equal(
      state.session.outbox.listWaiting().some(({ type }) => type === 'entrega_instalada'),
      true,
    )
    hub.misbehave('events')
    for (let round = 0; round < 5; round += 1) await pollOnce(state)
    assert.deepEqual(state.session.outbox.listWaiting(), [])
  })

  test('[AGT-38] the next version of a cargo replaces the last one and keeps it for a rollback', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const first = manifestEntry()
    const state = await host.openAgent()
    for (const versao of [1, 2, 3]) {
      hub.entregas = [manifestEntry({ carga_id: first.carga_id, versao })]
      await pollOnce(state)
    }
    const names = await readdir(join(host.paths.outDir, '.versions', 'site'))
    assert.deepEqual(names.sort(), ['000002', '000003', 'current'])
    await pollOnce(state)
    assert.deepEqual(
      state.processed.list().map(({ version }) => version),
      [3],
    )
  })
})

describe('state that is not there, or damaged', () => {
  test('[AGT-31] a damaged processed.json is named and left alone', async () => {
    await using agent = await startEnrolledAgent()
    const { host } = agent
    await writeFile(host.paths.processedFile, '{"format":1,"deliv')
    await assert.rejects(host.openAgent(), /processed\.json is damaged/)
    assert.equal(await readFile(host.paths.processedFile, 'utf8'), '{"format":1,"deliv')
  })

  test('[AGT-26] a 401 touches nothing and the work goes on when it is over', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas = [manifestEntry()]
    hub.misbehave('manifest', { kind: 'refuse', status: 401, code: 'agent_revoked' })
    const state = await host.openAgent()
    assert.deepEqual((await pollOnce(state)).problems, ['the hub answered 401 agent_revoked'])
    assert.deepEqual((await pollOnce(state)).problems, [])
    assertMatchingPair(await host.readOut('site.crt'), await host.readOut('site.key'))
  })

  test('[AGT-28] an outbox is read again after a restart, in its order', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const state = await host.openAgent()
    await state.session.outbox.enqueue({ type: 'first', payload: {} })
    await state.session.outbox.enqueue({ type: 'second', payload: {} })
    const again = await openOutbox(host.paths.outboxDir, state.log)
    assert.equal(await again.flush(state.session.hub), 'empty')
    assert.deepEqual(hub.eventTypes(), ['first', 'second'])
  })
})
