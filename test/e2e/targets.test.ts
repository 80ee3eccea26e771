// Targets on real processes: CA, hub, agent and a server that takes its certificate from where a target puts it.

import assert from 'node:assert/strict'
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { createDelivery } from '../support/deliveries.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { runProgram, runTool, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { AGENT_USER, endOf, ServedHost } from '../support/served-host.ts'

const skip =
  process.geteuid?.() === 0 ? false : 'only root has places that nobody else can write in'

describe('targets', { skip }, () => {
  let ca: RunningCa
  let hub: TestHub
  before(async () => {
    ca = await startDevCa()
    const environment = { SVC_SERVER_CN: 'localhost' }
    hub = await startTestHub({ caEnvironment: ca.environment, environment })
  })
  after(async () => {
    await hub[Symbol.asyncDispose]()
    await ca[Symbol.asyncDispose]()
  })

  test('[TGT-1] [TGT-15] [TGT-20] [TGT-21] [EVT-23] a delivery reaches its server, and so does its renewal', async () => {
    await using host = await ServedHost.create(hub, 'served')
    await host.writeTarget()
    await host.writeHook()
    host.run()
    const { id } = await createDelivery(hub, host.hostname, 'site')
    const applied = await host.waitForEvent('alvo_aplicado')
    const first = await host.newestSerial()
    assert.equal(applied.entrega_id, id)
    assert.deepEqual(applied.payload, {
      nome: 'site',
      alvo: 'site.toml',
      serial: first,
      files: [host.pemPath, host.path('tls/ca.pem')],
      probe: 'ok',
    })
    assert.equal(await host.servedSerial(), first)
    const { uid, gid, mode } = await stat(host.pemPath)
    assert.deepEqual([uid, gid, mode & 0o7777], [0, AGENT_USER, 0o640])
    assert.deepEqual((await readdir(host.path('tls'))).sort(), ['ca.pem', 'site.pem'])
    const seenByHook = await waitUntil('the hook', () =>
      readFile(host.path('server/seen-by-hook'), 'utf8').catch(() => undefined),
    )
    assert.equal(seenByHook, await readFile(host.pemPath, 'utf8'))

    // Gone from out/, so renewed for the same entrega.
    await rm(host.path('data/out/.versions/site'), { recursive: true })
    const renewed = await host.waitForEvent('cert_renewed', ({ entrega_id }) => entrega_id === id)
    const again = await host.waitForEvent(
      'alvo_aplicado',
      ({ payload }) => payload['serial'] === renewed.payload['new_serial'],
    )
    assert.equal(again.entrega_id, id)
    assert.notEqual(again.payload['serial'], first)
    assert.equal(await host.servedSerial(), again.payload['serial'])
  })

  test('[TGT-16] [TGT-22] [TGT-23] [EVT-24] a server that goes on with its old certificate gets its old files back', async () => {
    await using host = await ServedHost.create(hub, 'stubborn')
    await host.writeTarget()
    host.run()
    const { cargaId } = await createDelivery(hub, host.hostname, 'site')
    await host.waitForEvent('alvo_aplicado')
    const first = await host.servedSerial()
    const contentBefore = await readFile(host.pemPath, 'utf8')

    await host.raise('stubborn')
    const id = await host.update(cargaId)
    const reverted = await host.waitForEvent('alvo_revertido')
    const second = await host.newestSerial()
    assert.notEqual(second, first)
    const { reason, ...rest } = reverted.payload
    assert.deepEqual(rest, { nome: 'site', alvo: 'site.toml', serial: second, step: 'probe' })
    assert.match(String(reason), new RegExp(`serves serial ${first}`))
    assert.equal(await readFile(host.pemPath, 'utf8'), contentBefore)
    assert.equal(await host.servedSerial(), first)
    // The delivery itself is installed; what its target could not do is shown.
    const shown = await waitUntil('the delivery to be installed with its error', async () => {
      const delivery = await host.delivery(id)
      return delivery?.status === 'instalada' && delivery.erro !== null ? delivery : undefined
    })
    assert.equal(shown.erro, `alvo_revertido probe: ${String(reason)}`)
    assert.match((await hub.svc('entrega', 'list')).stdout, / reverted .* alvo_revertido probe: /)

    // A person has mended it, and does not wait for the agent’s next try: the same pair, and no new certificate.
    const issuedBefore = (await hub.svc('evento', 'list', '--tipo', 'certificate_issued', '--json'))
      .stdout
    await host.lower('stubborn')
    const byHand = await host.agent('targets', 'apply', '--now')
    assert.equal(byHand.status, 0, byHand.stderr + byHand.stdout)
    assert.equal(await host.servedSerial(), second)
    await waitUntil('the error to be gone', async () =>
      (await host.delivery(id))?.erro === null ? true : undefined,
    )
    const issued = (await hub.svc('evento', 'list', '--tipo', 'certificate_issued', '--json'))
      .stdout
    assert.equal(issued, issuedBefore)
    assert.equal((await host.events('alvo_revertido')).length, 1)
  })

  test('[TGT-2] [TGT-16] [TGT-29] a reload that fails leaves the old files, and is told once however often the agent looks', async () => {
    await using host = await ServedHost.create(hub, 'broken')
    await host.writeTarget()
    await host.raise('broken')
    host.run()
    const { id } = await createDelivery(hub, host.hostname, 'site')
    const reverted = await host.waitForEvent('alvo_revertido')
    assert.equal(reverted.payload['step'], 'reload')
    assert.equal(reverted.payload['reason'], 'exit status 1')
    assert.deepEqual(await readdir(host.path('tls')), [], 'what was not there is removed')
    await waitUntil('the delivery to be installed with its error', async () => {
      const delivery = await host.delivery(id)
      return delivery?.status === 'instalada' && delivery.erro !== null ? delivery : undefined
    })
    const shown = await host.delivery(id)
    assert.equal(shown?.erro, 'alvo_revertido reload: exit status 1\nthe server says no')
    const agent = await hub.svc('agente', 'show', host.hostname)
    assert.match(
      agent.stdout,
      /site: target site\.toml is taken back since .*\n  alvo_revertido reload: exit status 1\n    the server says no\n/,
    )
    assert.match((await hub.svc('status')).stdout, /deliveries reverted +[1-9]/)
    const again = await host.agent('targets', 'apply', '--now')
    assert.equal(again.status, 1)
    assert.match(
      again.stdout,
      /site \(.*site\.toml\): reverted, reload: exit status 1\n    the server says no\n/,
    )
    const heldBack = await host.agent('targets', 'apply')
    assert.equal(heldBack.status, 1)
    assert.match(heldBack.stdout, /held back, not before .*: reload: exit status 1/)
    assert.equal((await host.events('alvo_revertido')).length, 1)
  })

  test('[TGT-18] a file that others change or remove is put back and reported', async () => {
    await using host = await ServedHost.create(hub, 'drifting')
    await host.writeTarget()
    host.run()
    await createDelivery(hub, host.hostname, 'site')
    await host.waitForEvent('alvo_aplicado')
    const contentBefore = await readFile(host.pemPath, 'utf8')
    await rm(host.pemPath)
    const applied = await host.waitForEvent('alvo_aplicado', ({ payload }) => 'drift' in payload)
    assert.deepEqual(applied.payload['drift'], [host.pemPath])
    assert.equal(await readFile(host.pemPath, 'utf8'), contentBefore)
  })

  test('[TGT-17] an agent that is killed in the middle of a reload puts everything back when it is started again', async () => {
    await using host = await ServedHost.create(hub, 'killed')
    await host.writeTarget()
    const hanging = host.path('server/hanging')
    const toml = await readFile(host.path('targets.d/site.toml'), 'utf8')
    const hang = `if test ! -e ${hanging}; then touch ${hanging}; sleep 60; fi; `
    await writeFile(host.path('targets.d/site.toml'), toml.replace('"test !', `"${hang}test !`))
    const running = host.run()
    const { id } = await createDelivery(hub, host.hostname, 'site')
    await waitUntil('the reload', () => readFile(hanging, 'utf8').catch(() => undefined))
    assert.deepEqual(
      (await readdir(host.path('tls'))).filter((name) => !name.startsWith('.')).sort(),
      ['ca.pem', 'site.pem'],
    )
    await endOf(running)
    host.run()
    const reverted = await host.waitForEvent('alvo_revertido')
    assert.equal(reverted.entrega_id, id)
    assert.equal(reverted.payload['step'], 'interrupted')
    assert.deepEqual(await readdir(host.path('tls')), [])
    assert.equal((await host.agent('targets', 'apply', '--now')).status, 0)
    await host.waitForEvent('alvo_aplicado')
    assert.equal(await host.servedSerial(), await host.newestSerial())
    assert.equal((await host.events('alvo_revertido')).length, 1)
  })

  test('[TGT-25] [TGT-26] [TGT-29] root applies beside an agent without its rights, which reports for it', async () => {
    await using host = await ServedHost.create(hub, 'beside', AGENT_USER)
    await host.writeTarget()
    const running = host.run()
    const { id, cargaId } = await createDelivery(hub, host.hostname, 'site')
    await host.waitForEvent('entrega_instalada')
    const changed = await stat(host.path('data/out/.changed'))
    assert.equal(changed.uid, AGENT_USER)
    assert.deepEqual(await readdir(host.path('tls')), [], 'the agent leaves root’s targets to root')

    const applied = await host.agent('targets', 'apply', '--json')
    assert.equal(applied.status, 0, applied.stderr + applied.stdout)
    const serial = await host.newestSerial()
    const source = host.path('targets.d/site.toml')
    assert.deepEqual(JSON.parse(applied.stdout), {
      ok: true,
      targets: [
        { source, nome: 'site', result: 'applied', serial, detail: 'first_version', output: null },
      ],
      problems: [],
      reports_waiting: 0,
    })
    assert.equal(await host.servedSerial(), serial)
    assert.equal((await stat(host.pemPath)).uid, 0)
    const event = await host.waitForEvent('alvo_aplicado')
    assert.equal(event.entrega_id, id)
    assert.equal(event.payload['serial'], serial)
    const state = await stat(host.path('data-targets'))
    assert.deepEqual([state.uid, state.mode & 0o777], [0, 0o700])

    // [DEL-18] What root takes back is seen at the hub as what the agent takes back.
    await host.raise('broken')
    const second = await host.update(cargaId)
    await host.waitForEvent('entrega_instalada', ({ entrega_id }) => entrega_id === second)
    assert.equal((await host.agent('targets', 'apply')).status, 1)
    const reverted = await waitUntil('the delivery to be revertida', async () => {
      const delivery = await host.delivery(second)
      return typeof delivery?.reverted_at === 'string' ? delivery : undefined
    })
    assert.equal(reverted.status, 'instalada')
    assert.equal(reverted.erro, 'alvo_revertido reload: exit status 1\nthe server says no')
    await host.lower('broken')
    assert.equal((await host.agent('targets', 'apply', '--now')).status, 0)
    await waitUntil('the delivery to be in order', async () =>
      (await host.delivery(second))?.reverted_at === null ? true : undefined,
    )

    // While no agent runs the report is kept, and told to the next one.
    await host.update(cargaId)
    await host.waitForEvent(
      'entrega_instalada',
      ({ entrega_id }) => entrega_id !== id && entrega_id !== second,
    )
    await endOf(running)
    const alone = await host.agent('targets', 'apply')
    assert.equal(alone.status, 0, alone.stderr)
    assert.match(alone.stdout, /^reports that wait for the agent: 1$/m)
    const next = host.run()
    await waitUntil('the agent', () => (next.stderr().includes('Agent started') ? true : undefined))
    await waitUntil('the report to be taken', async () => {
      const { stdout } = await host.agent('targets', 'apply')
      return stdout.includes('reports that wait') ? undefined : true
    })
    await host.waitForEvent(
      'alvo_aplicado',
      ({ entrega_id: entregaId }) => entregaId !== null && entregaId !== id && entregaId !== second,
    )
    assert.equal((await host.events('alvo_aplicado')).length, 3)
  })

  test('[TGT-27] what root reports is at the hub long before the next poll', async () => {
    await using host = await ServedHost.create(hub, 'soon', AGENT_USER)
    await host.writeTarget()
    host.pollInterval = '1h'
    host.run()
    await createDelivery(hub, host.hostname, 'site')
    await host.waitForEvent('entrega_instalada')
    assert.equal((await host.agent('targets', 'apply')).status, 0)
    await host.waitForEvent('alvo_aplicado')
  })

  test('[TGT-14] root takes nothing from a data directory that others could put another one in the place of', async () => {
    await using host = await ServedHost.create(hub, 'open')
    await host.writeTarget()
    await mkdir(host.path('open'))
    await chmod(host.path('open'), 0o1777)
    await mkdir(host.path('open/data'))
    await chown(host.path('open/data'), AGENT_USER, AGENT_USER)
    const environment = { ...host.environment, SVC_AGENT_DATA_DIR: host.path('open/data') }
    const { status, stderr } = await runProgram('svc-agent', ['targets', 'apply'], environment)
    assert.equal(status, 1)
    assert.match(stderr, /root applies nothing from .*open is writable by group or others/)
  })

  test('[TGT-25] an agent without root’s rights applies what is its own', async () => {
    await using host = await ServedHost.create(hub, 'own', AGENT_USER)
    for (const name of ['targets.d', 'tls']) await chown(host.path(name), AGENT_USER, AGENT_USER)
    const file = `[[file]]\npath = ${JSON.stringify(host.pemPath)}\ncontent = ["key", "cert"]\n`
    const toml = host.path('targets.d/own.toml')
    await writeFile(toml, `nome = "site"\nkey_type = "ec-p384"\n${file}`)
    await chown(toml, AGENT_USER, AGENT_USER)
    host.run()
    await createDelivery(hub, host.hostname, 'site')
    const applied = await host.waitForEvent('alvo_aplicado')
    assert.deepEqual(applied.payload['files'], [host.pemPath])
    assert.equal(applied.payload['probe'], null)
    const { uid, mode } = await stat(host.pemPath)
    assert.deepEqual([uid, mode & 0o7777], [AGENT_USER, 0o600])
    assert.match(await runTool('openssl', ['pkey', '-in', host.pemPath, '-text']), /secp384r1/)
    const state = await stat(host.path('data/targets-state'))
    assert.deepEqual([state.uid, state.mode & 0o777], [AGENT_USER, 0o700])
    // Root, asked to apply what is not its own, does so as the agent's user.
    const byRoot = await host.agent('targets', 'apply')
    assert.equal(byRoot.status, 0, byRoot.stderr)
    assert.match(byRoot.stdout, /site \(.*own\.toml\): up to date/)
  })
})
