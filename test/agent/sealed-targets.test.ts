// Where sealed files go on a host, as its targets say.

import assert from 'node:assert/strict'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../support/own-place.ts'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost } from '../support/agent-host.ts'
import { deliverSealed } from '../support/sealed-delivery.ts'
import { pollOnce } from '../../src/agent/round/poll.ts'

test(
  '[SLD-11] [SLD-12] a target gets each version of its file, reloads, reports, and goes back when that fails',
  WITH_OWN_PLACE,
  async () => {
    await using hub = await FakeHub.start()
    await using host = new AgentHost(await makeOwnDirectory('svc-agent-sealed-'), hub)
    await host.enroll()
    const { targetsDir } = host.config()
    const path = join(host.directory, 'app.conf')
    const marker = join(host.directory, 'fails')
    await mkdir(targetsDir, { mode: 0o755 })
    await writeFile(
      join(targetsDir, 'app.toml'),
      `nome = "app.conf"
reload = ["/usr/bin/test", "!", "-e", "${marker}"]
[[file]]
path = "${path}"
content = ["file"]
`,
      { mode: 0o644 },
    )
    const agent = { hub, host }
    const first = await deliverSealed(agent, 'one', { nome: 'app.conf' })
    const state = await host.openAgent()
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal(await readFile(path, 'utf8'), 'one')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    await pollOnce(state)
    const applied = hub.events.filter(({ tipo_evento: type }) => type === 'alvo_aplicado')
    assert.deepEqual(
      applied.map(({ payload, entrega_id: id }) => [id, payload]),
      [[first.id, { nome: 'app.conf', alvo: 'app.toml', versao: 1, files: [path] }]],
    )
    const types = hub.eventTypes()
    assert.ok(types.indexOf('entrega_entregue') < types.indexOf('alvo_aplicado'))

    await writeFile(path, 'changed by somebody', { mode: 0o600 })
    await pollOnce(state)
    assert.equal(await readFile(path, 'utf8'), 'one')

    await writeFile(marker, '')
    const { nome, carga_id } = first
    await deliverSealed(agent, 'two', { nome, carga_id, versao: 2 })
    await pollOnce(state)
    assert.equal(await readFile(path, 'utf8'), 'one', 'the one that the program takes')
    assert.equal(await host.readOut('app.conf'), 'two')
    await pollOnce(state)
    const reverted = hub.events.filter(({ tipo_evento: type }) => type === 'alvo_revertido')
    assert.deepEqual(
      reverted.map(({ payload }) => payload),
      [
        {
          nome: 'app.conf',
          alvo: 'app.toml',
          versao: 2,
          step: 'reload',
          reason: 'exit status 1',
        },
      ],
    )
    await rm(marker)
    host.clock.offsetMs += 2 * 60_000
    await pollOnce(state)
    assert.equal(await readFile(path, 'utf8'), 'two')
  },
)
