// What a round does with deliveries of tipo push.

import assert from 'node:assert/strict'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../support/own-place.ts'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, manifestEntry } from '../support/agent-host.ts'
import { type EnrolledAgent, startEnrolledAgent } from '../support/enrolled-agent.ts'
import { deliveredEvents } from '../support/sealed-delivery.ts'
import type { ManifestEntryBody } from '../../src/protocol/schemas.ts'
import { pollOnce } from '../../src/agent/round/poll.ts'

function deliver(
  { hub }: Pick<EnrolledAgent, 'hub'>,
  fields: Partial<ManifestEntryBody>,
): ManifestEntryBody {
  const entry = manifestEntry({ tipo: 'push', nome: 'motd', ...fields })
  hub.blobs.set(entry.carga_id, Buffer.from('bom dia'))
  hub.entregas.push(entry)
  return entry
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777
}

describe('a pushed file', () => {
  for (const [what, modo, mode] of [
    ['the mode that the hub says', '0640', 0o640],
    ['0644 where it says none', undefined, 0o644],
  ] as const) {
    test(`[PSH-25] [PSH-26] is written as it came, with ${what}, reported, and told to its hook`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      const entry = deliver(agent, modo === undefined ? {} : { modo })
      assert.deepEqual((await pollOnce(await host.openAgent())).problems, [])
      const path = join(host.paths.outDir, 'motd')
      assert.equal(await readFile(path, 'utf8'), 'bom dia')
      assert.equal(await modeOf(path), mode)
      const [event, ...others] = deliveredEvents(hub)
      assert.deepEqual(others, [])
      assert.deepEqual(event?.payload, { path, carga_nome: 'motd', versao: 1 })
      const [invocation] = host.hooks.invocations
      const { hookName, deliveryId } = invocation ?? {}
      assert.deepEqual([hookName, deliveryId], ['post-push', entry.id])
      // What an earlier agent reads knows nothing of it.
      await assert.rejects(stat(host.paths.deliveredFilesFile), { code: 'ENOENT' })
    })
  }

  test('[PSH-25] that is gone is put back with its mode, by an agent that was restarted', async () => {
    await using agent = await startEnrolledAgent()
    const { host } = agent
    deliver(agent, { modo: '0600' })
    await pollOnce(await host.openAgent())
    await rm(join(host.paths.outDir, '.files'), { recursive: true })
    host.clock.offsetMs += 61_000
    await pollOnce(await host.openAgent())
    assert.equal(await host.readOut('motd'), 'bom dia')
    assert.equal(await modeOf(join(host.paths.outDir, 'motd')), 0o600)
  })

  for (const modo of ['4755', '0666', '0044', 'rw-r--r--', '']) {
    test(`[PSH-25] with the mode ${JSON.stringify(modo)} fails, and nothing is written`, async () => {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      deliver(agent, { modo })
      await pollOnce(await host.openAgent())
      const failure = hub.events.find(({ tipo_evento: type }) => type === 'entrega_falhou')
      assert.deepEqual(failure?.payload, {
        erro: `the mode cannot be a file mode: ${JSON.stringify(modo)}`,
      })
      await assert.rejects(stat(join(host.paths.outDir, 'motd')), { code: 'ENOENT' })
    })
  }

  test('[PSH-26] goes where a target of its name says', WITH_OWN_PLACE, async () => {
    await using hub = await FakeHub.start()
    const directory = await makeOwnDirectory('svc-agent-pushed-')
    await using host = new AgentHost(directory, hub)
    await host.enroll()
    const path = join(directory, 'motd')
    const { targetsDir } = host.config()
    await mkdir(targetsDir, { mode: 0o755 })
    const target = `nome = "motd"\n[[file]]\npath = "${path}"\ncontent = ["file"]\nmode = "0644"\n`
    await writeFile(join(targetsDir, 'motd.toml'), target, { mode: 0o644 })
    deliver({ hub }, {})
    const state = await host.openAgent()
    await pollOnce(state)
    await pollOnce(state)
    assert.equal(await readFile(path, 'utf8'), 'bom dia')
    assert.equal(await modeOf(path), 0o644)
    const applied = hub.events.find(({ tipo_evento: type }) => type === 'alvo_aplicado')
    assert.deepEqual(applied?.payload, {
      nome: 'motd',
      alvo: 'motd.toml',
      versao: 1,
      files: [path],
    })
  })
})
