import assert from 'node:assert/strict'
import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../../test/fakes/hub-server.ts'
import { AgentHost, manifestEntry } from '../../test/support/agent-host.ts'
import { loadIdentity } from './identity/identity.ts'
import { openOutbox } from './reporting/outbox.ts'
import { pollOnce } from './poll.ts'

async function enrolledHost(): Promise<{
  hub: FakeHub
  host: AgentHost
  stack: AsyncDisposableStack
}> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll()
  return { hub, host, stack }
}

function assertMatchingPair(certificatePem: string, keyPem: string): void {
  assert.ok(new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem)))
}

describe('a round installs what the manifest lists', () => {
  test('[AGT-20] [DEL-1] [EVT-17] files, then event, then hook, once', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
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
    assert.match(hub.requests[0]?.headers['user-agent'] ?? '', /^svc-agent\/\d/)
  })

  test('a restart finds everything done', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    hub.settlesDeliveries = false
    hub.entregas = [manifestEntry()]
    await pollOnce(await host.openAgent())
    await pollOnce(await host.openAgent())
    assert.equal(hub.requestsTo('issue').length, 1)
    assert.equal(hub.eventTypes().filter((type) => type === 'entrega_instalada').length, 1)
  })

  test('[AGT-28] a crash between the switch and the record asks for no second certificate and sends one event', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
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
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
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
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
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

describe('what cannot succeed becomes entrega_falhou', () => {
  const cases: [
    why: string,
    prepare: (hub: FakeHub, host: AgentHost) => Promise<void> | void,
    erro: RegExp,
  ][] = [
    [
      'a name that leaves the directory',
      (hub) => void (hub.entregas = [manifestEntry({ nome: '../x' })]),
      /cannot be that of a file/,
    ],
    [
      'a refusal with 403',
      (hub) => {
        hub.entregas = [manifestEntry()]
        hub.misbehave('issue', { kind: 'refuse', status: 403, code: 'csr_cn_mismatch' })
      },
      /403 csr_cn_mismatch/,
    ],
    [
      'a file that is in the way',
      async (hub, host) => {
        hub.entregas = [manifestEntry()]
        await writeFile(join(host.paths.outDir, 'site.crt'), 'precious')
      },
      /was not made by the agent/,
    ],
  ]
  for (const [why, prepare, erro] of cases) {
    test(`[AGT-27] [EVT-18] ${why}`, async () => {
      const { hub, host, stack } = await enrolledHost()
      await using _ = stack
      await prepare(hub, host)
      const good = manifestEntry({ nome: 'good' })
      hub.entregas.push(good)
      await pollOnce(await host.openAgent())
      const failed = hub.events.filter(({ tipo_evento: type }) => type === 'entrega_falhou')
      assert.equal(failed.length, 1)
      const [report] = failed.map(({ payload }) => payload as { erro: string })
      assert.match(report?.erro ?? '', erro)
      assertMatchingPair(await host.readOut('good.crt'), await host.readOut('good.key'))
    })
  }

  test('[AGT-39] [DEL-13] two deliveries that differ by case only: the second one fails, the first is kept', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    const [first, second] = [manifestEntry({ nome: 'site' }), manifestEntry({ nome: 'Site' })]
    hub.entregas = [first, second]
    const state = await host.openAgent()
    await pollOnce(state)
    assert.deepEqual(
      hub.events
        .filter(({ tipo_evento: type }) => type === 'entrega_falhou')
        .map(({ entrega_id: id }) => id),
      [second.id],
    )
    hub.entregas = [manifestEntry({ nome: 'SITE' })]
    await pollOnce(state)
    assert.equal(hub.eventTypes().filter((type) => type === 'entrega_falhou').length, 2)
  })

  test('a name whose former delivery was cancelled is free again', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    hub.entregas = [manifestEntry()]
    const state = await host.openAgent()
    await pollOnce(state)
    hub.misbehave('issue', { kind: 'refuse', status: 404, code: 'entrega_not_found' })
    const next = manifestEntry()
    hub.entregas = [next]
    await pollOnce(state)
    assert.deepEqual(
      state.processed.list().map(({ deliveryId }) => deliveryId),
      [next.id],
    )
    assert.equal(hub.eventTypes().includes('entrega_falhou'), false)
  })
})

describe('what may succeed later is tried again and fails nothing', () => {
  const transient = [
    { kind: 'refuse', status: 502, code: 'ca_failed' },
    { kind: 'refuse', status: 429, code: 'rate_limited', retryAfter: '1' },
    { kind: 'cut-before' },
    { kind: 'cut-after' },
    { kind: 'foreign-key' },
    { kind: 'not-json' },
  ] as const
  for (const misbehaviour of transient) {
    test(`[AGT-26] certs/issue: ${JSON.stringify(misbehaviour)}`, async () => {
      const { hub, host, stack } = await enrolledHost()
      await using _ = stack
      hub.entregas = [manifestEntry()]
      hub.misbehave('issue', misbehaviour)
      const state = await host.openAgent()
      const result = await pollOnce(state)
      assert.notDeepEqual(result.problems, [])
      assert.deepEqual(
        await readdir(host.paths.outDir).then((names) =>
          names.filter((name) => name.endsWith('.crt')),
        ),
        [],
      )
      host.clock.offsetMs += 10_000
      assert.deepEqual((await pollOnce(state)).problems, [])
      assertMatchingPair(await host.readOut('site.crt'), await host.readOut('site.key'))
      assert.equal(hub.eventTypes().includes('entrega_falhou'), false)
    })
  }

  test('[AGT-27] one delivery that is always cut off does not hold up the others', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    hub.entregas = [manifestEntry({ nome: 'bad' }), manifestEntry({ nome: 'good' })]
    hub.misbehave('issue', { kind: 'cut-before' })
    await pollOnce(await host.openAgent())
    assertMatchingPair(await host.readOut('good.crt'), await host.readOut('good.key'))
  })

  for (const tipo of ['selado', 'push', 'novidade']) {
    test(`[AGT-21] [DEL-2] [DEL-3] a delivery of tipo ${tipo} is warned about once and not recorded`, async () => {
      const { hub, host, stack } = await enrolledHost()
      await using _ = stack
      hub.entregas = [manifestEntry({ tipo }), manifestEntry({ nome: 'good' })]
      const state = await host.openAgent()
      await pollOnce(state)
      await pollOnce(state)
      assert.equal(host.log.filter((line) => line.includes('unknown kind')).length, 1)
      assert.deepEqual(
        state.processed.list().map(({ name }) => name),
        ['good'],
      )
      assert.equal(hub.eventTypes().includes('entrega_falhou'), false)
    })
  }

  test('[HOK-6] [EVT-20] a failing hook is retried alone, and the same failure is reported once', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    hub.entregas = [manifestEntry()]
    host.hooks.failures = [
      { hook: 'post-csr-cert', reason: 'exit status 3', exitCode: 3, durationMs: 5 },
    ]
    const state = await host.openAgent()
    for (let round = 0; round < 3; round += 1) {
      await pollOnce(state)
      host.clock.offsetMs += 400_000
    }
    assert.equal(host.hooks.invocations.length, 3)
    assert.equal(hub.eventTypes().filter((type) => type === 'hook_falhou').length, 1)
    host.hooks.failures = []
    await pollOnce(state)
    await pollOnce(state)
    assert.equal(host.hooks.invocations.length, 4)
    assert.equal(hub.requestsTo('issue').length, 1)
  })
})

describe('renewal', () => {
  test('[AGT-25] [EVT-16] a delivered certificate near its end is renewed with a new key, reported and told to the hook', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    const entry = manifestEntry()
    hub.entregas = [entry]
    hub.lifetimeMs = 3_600_000
    const state = await host.openAgent()
    await pollOnce(state)
    const [oldPem, oldKey] = [await host.readOut('site.crt'), await host.readOut('site.key')]
    host.clock.offsetMs = 3_000_000
    await pollOnce(state)
    const newPem = await host.readOut('site.crt')
    assertMatchingPair(newPem, await host.readOut('site.key'))
    assert.notEqual(await host.readOut('site.key'), oldKey)
    const renewed = hub.events.find(
      ({ tipo_evento: type, entrega_id: id }) => type === 'cert_renewed' && id === entry.id,
    )
    assert.deepEqual(renewed?.payload, {
      old_serial: new X509Certificate(oldPem).serialNumber.toLowerCase(),
      new_serial: new X509Certificate(newPem).serialNumber.toLowerCase(),
      trigger: 'auto_threshold',
      carga_nome: 'site',
    })
    assert.deepEqual(
      host.hooks.invocations.map(({ event }) => event),
      ['installed', 'renewed'],
    )
  })

  test('[AGT-19] a certificate that is due as soon as it is issued is renewed once a minute at most', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    hub.entregas = [manifestEntry()]
    hub.lifetimeMs = 3_600_000
    hub.backdateMs = 3_500_000
    const state = await host.openAgent()
    for (let round = 0; round < 5; round += 1) await pollOnce(state)
    assert.equal(hub.requestsTo('issue').length, 2)
    host.clock.offsetMs += 61_000
    await pollOnce(state)
    assert.equal(hub.requestsTo('issue').length, 3)
  })

  test('[AGT-25] a cancelled delivery keeps its files and is renewed no more', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    hub.entregas = [manifestEntry()]
    hub.lifetimeMs = 3_600_000
    const state = await host.openAgent()
    await pollOnce(state)
    const before = await host.readOut('site.crt')
    hub.misbehave('issue', { kind: 'refuse', status: 404, code: 'entrega_not_found' })
    for (const offsetMs of [3_000_000, 3_200_000]) {
      host.clock.offsetMs = offsetMs
      await pollOnce(state)
    }
    assert.equal(await host.readOut('site.crt'), before)
    assert.equal(hub.requestsTo('issue').length, 2)
  })

  test('[AGT-18] [AGT-19] [EVT-16] the identity is renewed below the threshold and the next request uses it', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    await host.enroll(3_600_000)
    const before = await loadIdentity(host.paths.identityDir)
    host.clock.offsetMs = 3_000_000
    const state = await host.openAgent()
    await pollOnce(state)
    const after = await loadIdentity(host.paths.identityDir)
    assert.notEqual(after?.leaf.serial, before?.leaf.serial)
    assert.equal(hub.requests.at(-1)?.serial, after?.leaf.serial)
    assert.deepEqual(hub.events.find(({ tipo_evento: type }) => type === 'cert_renewed')?.payload, {
      old_serial: before?.leaf.serial,
      new_serial: after?.leaf.serial,
      trigger: 'auto_threshold',
    })
    await pollOnce(await host.openAgent())
    const reports = hub
      .requestsTo('events')
      .filter(({ body }) => (body as { tipo_evento: string }).tipo_evento === 'cert_renewed')
    assert.equal(reports.length, 1)
  })

  test('[AGT-35] a certificate for another key changes nothing', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    await host.enroll(3_600_000)
    const before = await loadIdentity(host.paths.identityDir)
    host.clock.offsetMs = 3_000_000
    hub.misbehave('issue', { kind: 'foreign-key' })
    await pollOnce(await host.openAgent())
    assert.equal((await loadIdentity(host.paths.identityDir))?.leaf.serial, before?.leaf.serial)
  })
})

describe('state that is not there, or damaged', () => {
  test('[AGT-31] a damaged processed.json is named and left alone', async () => {
    const { host, stack } = await enrolledHost()
    await using _ = stack
    await writeFile(host.paths.processedFile, '{"format":1,"deliv')
    await assert.rejects(host.openAgent(), /processed\.json is damaged/)
    assert.equal(await readFile(host.paths.processedFile, 'utf8'), '{"format":1,"deliv')
  })

  test('[AGT-26] a 401 touches nothing and the work goes on when it is over', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    hub.entregas = [manifestEntry()]
    hub.misbehave('manifest', { kind: 'refuse', status: 401, code: 'agent_revoked' })
    const state = await host.openAgent()
    assert.deepEqual((await pollOnce(state)).problems, ['the hub answered 401 agent_revoked'])
    assert.deepEqual((await pollOnce(state)).problems, [])
    assertMatchingPair(await host.readOut('site.crt'), await host.readOut('site.key'))
  })

  test('[AGT-28] an outbox is read again after a restart, in its order', async () => {
    const { hub, host, stack } = await enrolledHost()
    await using _ = stack
    const state = await host.openAgent()
    await state.session.outbox.enqueue({ type: 'first', payload: {} })
    await state.session.outbox.enqueue({ type: 'second', payload: {} })
    const again = await openOutbox(host.paths.outboxDir, state.log)
    assert.equal(await again.flush(state.session.hub), 'empty')
    assert.deepEqual(hub.eventTypes(), ['first', 'second'])
  })
})
