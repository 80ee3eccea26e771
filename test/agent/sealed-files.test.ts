// What a round does with deliveries of tipo selado.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, readlink, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { FakeHub } from '../fakes/hub-server.ts'
import { type AgentHost, manifestEntry } from '../support/agent-host.ts'
import { startEnrolledAgent } from '../support/enrolled-agent.ts'
import { deliveredEvents, deliverSealed } from '../support/sealed-delivery.ts'
import { errnoCode } from '../../src/platform/errors.ts'
import { sealFor } from '../../src/sealing/sealed-file.ts'
import { generateAgeIdentity, recipientOf } from '../../src/sealing/age-identity.ts'
import { pollOnce } from '../../src/agent/round/poll.ts'

const failuresOf = (hub: FakeHub): string[] =>
  hub.events
    .filter(({ tipo_evento: type }) => type === 'entrega_falhou')
    .map(({ payload }) => (payload as { erro: string }).erro)

async function readIfPresent(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    assert.equal(errnoCode(error), 'ENOENT')
    return undefined
  })
}

describe('a sealed file', () => {
  test('[SLD-5] [SLD-6] [SLD-10] is opened, switched in, reported, and told to its hook', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const content = randomBytes(70_000)
    const entry = await deliverSealed(agent, content)
    const state = await host.openAgent()
    assert.deepEqual((await pollOnce(state)).problems, [])
    const path = join(host.paths.outDir, 'site.conf')
    assert.deepEqual(await readFile(path), content)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal(await readlink(path), '.files/site.conf/current/content')
    const [event] = deliveredEvents(hub)
    assert.equal(event?.entrega_id, entry.id)
    assert.deepEqual(event?.payload, { path, carga_nome: 'site.conf', versao: 1 })
    assert.deepEqual(host.hooks.invocations, [
      {
        hookName: 'post-selado',
        event: 'installed',
        name: 'site.conf',
        paths: [path],
        environment: { SVC_FILE_PATH: path },
        deliveryId: entry.id,
        cargoId: entry.carga_id,
        version: 1,
        hostname: 'web-1',
      },
    ])
    await pollOnce(state)
    await pollOnce(await host.openAgent())
    assert.equal(deliveredEvents(hub).length, 1)
    assert.equal(host.hooks.invocations.length, 1)
    assert.equal(hub.requestsTo('blob').length, 1)
  })

  test('[SLD-5] is opened by the program too', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const content = randomBytes(1000)
    await deliverSealed(agent, content)
    const { status, stderr } = await host.command('run', '--once')
    assert.equal(status, 0, stderr)
    assert.deepEqual(await readFile(join(host.paths.outDir, 'site.conf')), content)
    assert.equal(deliveredEvents(hub).length, 1)
  })

  test('[SLD-15] keeps no certificate waiting, and many of them no round', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    for (const nome of ['one', 'two', 'three']) await deliverSealed(agent, nome, { nome })
    hub.entregas.push(manifestEntry({ nome: 'site' }))
    const state = await host.openAgent()
    const gateway = state.deliveries.hub
    const { fetchBlob } = gateway
    const before: unknown[] = []
    gateway.fetchBlob = (cargoId) => {
      const told = hub.events.map(({ tipo_evento: type }) => type)
      before.push([told.includes('entrega_instalada'), host.hooks.invocations[0]?.name])
      host.clock.offsetMs += 40_000
      return fetchBlob(cargoId)
    }
    const { problems, nextRetryMs } = await pollOnce(state)
    assert.deepEqual(problems, [])
    assert.deepEqual(before, [
      [true, 'site'],
      [true, 'site'],
    ])
    assert.ok(nextRetryMs !== undefined && nextRetryMs <= host.clock.now().getTime())
    const newHooks = (): string[] => host.hooks.invocations.splice(0).map(({ name }) => name)
    const [pair, ...files] = newHooks()
    assert.equal(pair, 'site')
    // Hooks run beside each other: those of two files in either order.
    assert.deepEqual(files.sort(), ['one', 'two'])
    assert.equal((await pollOnce(state)).nextRetryMs, undefined)
    assert.deepEqual(newHooks(), ['three'])
  })

  test('[SLD-6] keeps its last version beside the new one', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const first = await deliverSealed(agent, 'one')
    const state = await host.openAgent()
    await pollOnce(state)
    hub.entregas = []
    await deliverSealed(agent, 'two', { carga_id: first.carga_id, versao: 2 })
    await pollOnce(state)
    assert.equal(await host.readOut('site.conf'), 'two')
    assert.equal(await host.readOut('.files/site.conf/000001/content'), 'one')
    assert.deepEqual(
      state.processed.list().map(({ version, progress }) => [version, progress]),
      [
        [1, 'done'],
        [2, 'done'],
      ],
    )
    await pollOnce(state)
    assert.deepEqual(
      state.processed.list().map(({ version }) => version),
      [2],
      'the replaced one is forgotten',
    )
  })

  test('[SLD-6] leaves its content nowhere but in its place', async () => {
    await using agent = await startEnrolledAgent()
    const { host } = agent
    const secret = randomBytes(24).toString('hex')
    await deliverSealed(agent, secret)
    await pollOnce(await host.openAgent())
    assert.deepEqual(
      host.log.filter((line) => line.includes(secret)),
      [],
    )
    const holders: string[] = []
    for (const entry of await readdir(host.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      if ((await readFile(path)).includes(secret)) holders.push(path)
    }
    assert.deepEqual(holders, [join(host.paths.outDir, '.files/site.conf/000001/content')])
  })

  const finalFailures: [
    why: string,
    spoil: (agent: { hub: FakeHub; host: AgentHost }, cargoId: string) => Promise<void> | void,
    erro: RegExp,
  ][] = [
    [
      'sealed for another host',
      async ({ hub }, cargoId) => {
        const other = await recipientOf(await generateAgeIdentity())
        hub.blobs.set(cargoId, await sealFor([other], Buffer.from('x')))
      },
      /age\.key does not open the file: /,
    ],
    [
      'damaged inside',
      ({ hub }, cargoId) => {
        const blob = hub.blobs.get(cargoId)?.slice()
        assert.ok(blob)
        blob[blob.length - 1] = (blob.at(-1) ?? 0) ^ 1
        hub.blobs.set(cargoId, blob)
      },
      /age\.key does not open the file: /,
    ],
    [
      'no age file',
      ({ hub }, cargoId) => void hub.blobs.set(cargoId, Buffer.from('plain')),
      /age\.key does not open the file: /,
    ],
    [
      'with a wrong digest twice',
      ({ hub }) => hub.misbehave('blob', { kind: 'wrong-digest' }, { kind: 'wrong-digest' }),
      /^the file does not match the digest that the hub gives for it$/,
    ],
    [
      'for a host whose key is damaged',
      ({ host }) => writeFile(host.paths.ageKeyFile, 'nonsense'),
      /age\.key does not hold a post-quantum age identity$/,
    ],
    [
      'for a host whose key is gone',
      ({ host }) => unlink(host.paths.ageKeyFile),
      /age\.key is missing, so the agent cannot open the file$/,
    ],
    [
      'with a file of somebody else in its place',
      ({ host }) => writeFile(join(host.paths.outDir, 'site.conf'), 'precious'),
      /was not made by the agent/,
    ],
  ]
  for (const [why, spoil, erro] of finalFailures) {
    test(`[SLD-7] ${why}: becomes entrega_falhou, and nothing is written`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      const entry = await deliverSealed(agent, 'secret')
      const good = manifestEntry({ nome: 'good' })
      hub.entregas.push(good)
      await spoil(agent, entry.carga_id)
      const before = await readIfPresent(join(host.paths.outDir, 'site.conf'))
      await pollOnce(await host.openAgent())
      assert.equal(failuresOf(hub).length, 1)
      assert.match(failuresOf(hub)[0] ?? '', erro)
      assert.equal(await readIfPresent(join(host.paths.outDir, 'site.conf')), before)
      assert.deepEqual(
        await readdir(join(host.paths.outDir, '.files/site.conf')).catch(() => []),
        [],
      )
      assert.ok(await host.readOut('good.crt'), 'another delivery is not held up')
    })
  }

  const passing: [why: string, ...Parameters<FakeHub['misbehave']>[]][] = [
    ['a connection that breaks', ['blob', { kind: 'cut-before' }]],
    ['a reply that is cut short', ['blob', { kind: 'short' }]],
    ['a reply without a digest', ['blob', { kind: 'no-digest' }]],
    ['a reply without an end', ['blob', { kind: 'endless' }]],
    ['a hub that is busy', ['blob', { kind: 'refuse', status: 503, code: 'ca_failed' }]],
    [
      'a carga whose delivery was just replaced',
      ['blob', { kind: 'refuse', status: 404, code: 'blob_not_found' }],
    ],
  ]
  for (const [why, plan] of passing) {
    test(`[SLD-5] [SLD-7] [AGT-26] ${why}: is tried again later and fails nothing`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      await deliverSealed(agent, 'secret')
      assert.ok(plan)
      hub.misbehave(...plan)
      const state = await host.openAgent()
      await pollOnce(state)
      assert.deepEqual(deliveredEvents(hub), [])
      host.clock.offsetMs += 6 * 60_000
      await pollOnce(state)
      assert.deepEqual(failuresOf(hub), [])
      assert.equal(await host.readOut('site.conf'), 'secret')
    })
  }

  test('[SLD-5] a wrong digest once is no failure', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    await deliverSealed(agent, 'secret')
    hub.misbehave('blob', { kind: 'wrong-digest' })
    await pollOnce(await host.openAgent())
    assert.equal(await host.readOut('site.conf'), 'secret')
    assert.deepEqual(failuresOf(hub), [])
  })

  test('[SLD-8] [AGT-40] a link that was deleted is put back, without asking the hub', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    await deliverSealed(agent, 'secret')
    const state = await host.openAgent()
    await pollOnce(state)
    await unlink(join(host.paths.outDir, 'site.conf'))
    await pollOnce(state)
    assert.equal(await host.readOut('site.conf'), 'secret')
    assert.equal(hub.requestsTo('blob').length, 1)
  })

  test('[SLD-8] a file that is gone is fetched again, and told to nobody', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    await deliverSealed(agent, 'secret')
    const state = await host.openAgent()
    await pollOnce(state)
    await rm(join(host.paths.outDir, '.files'), { recursive: true })
    host.clock.offsetMs += 61_000
    await pollOnce(state)
    assert.equal(await host.readOut('site.conf'), 'secret')
    assert.equal(deliveredEvents(hub).length, 1)
    assert.equal(host.hooks.invocations.length, 1)
  })

  test('[SLD-8] one that the hub has for us no more is not asked for again', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    await deliverSealed(agent, 'secret')
    const state = await host.openAgent()
    await pollOnce(state)
    await rm(join(host.paths.outDir, '.files'), { recursive: true })
    hub.blobs.clear()
    for (let round = 0; round < 3; round += 1) {
      host.clock.offsetMs += 10 * 60_000
      assert.deepEqual((await pollOnce(state)).problems, [])
    }
    assert.equal(hub.requestsTo('blob').length, 2)
  })

  for (const isListed of [true, false]) {
    test(`[SLD-8] [DEL-13] another carga with the same file ${isListed ? 'fails while the first is listed' : 'takes its place once the hub lists the first no more'}`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      const first = await deliverSealed(agent, 'first')
      const state = await host.openAgent()
      await pollOnce(state)
      hub.entregas = isListed ? [first] : []
      await deliverSealed(agent, 'second')
      await pollOnce(state)
      assert.equal(await host.readOut('site.conf'), isListed ? 'first' : 'second')
      assert.deepEqual(
        failuresOf(hub),
        isListed ? ['another delivery writes the same file: site.conf'] : [],
      )
    })
  }

  test('[SLD-8] a file that is called as a certificate is fails while that is listed, and the other way round', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas.push(manifestEntry({ nome: 'pair' }))
    await deliverSealed(agent, 'file', { nome: 'sealed.key' })
    const listed = [...hub.entregas]
    const state = await host.openAgent()
    await pollOnce(state)
    hub.entregas = listed
    await deliverSealed(agent, 'file', { nome: 'pair.crt' })
    hub.entregas.push(manifestEntry({ nome: 'sealed' }))
    await pollOnce(state)
    assert.deepEqual(failuresOf(hub).sort(), [
      'another delivery writes the same file: pair.crt',
      'another delivery writes the same file: sealed',
    ])
    assert.equal(await host.readOut('sealed.key'), 'file')
    assert.match(await host.readOut('pair.crt'), /BEGIN CERTIFICATE/)
  })

  test('[SLD-7] is refused by name where a pair that was cancelled has left its links', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas.push(manifestEntry({ nome: 'pair' }))
    const state = await host.openAgent()
    await pollOnce(state)
    hub.entregas = []
    await deliverSealed(agent, 'file', { nome: 'pair.crt' })
    await pollOnce(state)
    const path = join(host.paths.outDir, 'pair.crt')
    assert.deepEqual(failuresOf(hub), [
      `${path} belongs to an earlier delivery, and leads to .versions/pair/current/cert.pem`,
    ])
  })

  test('[SLD-8] a pair and a file of one name live beside each other', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.entregas.push(manifestEntry({ nome: 'site' }))
    await deliverSealed(agent, 'file', { nome: 'site' })
    const state = await host.openAgent()
    await pollOnce(state)
    await pollOnce(state)
    assert.equal(await host.readOut('site'), 'file')
    assert.match(await host.readOut('site.crt'), /BEGIN CERTIFICATE/)
    assert.deepEqual(failuresOf(hub), [])
    assert.equal(state.processed.list().length, 2)
  })
})
