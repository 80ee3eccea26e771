// The hub's pushes as stories on real processes: docs/protocol.md PSH.

import assert from 'node:assert/strict'
import { access, chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost } from '../support/agent-host.ts'
import { readEvents } from '../support/audit-log.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { type RunningProgram, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'

/** Nothing that happens here is a poll's doing. */
const SELDOM = { SVC_AGENT_POLL_INTERVAL: '1h' }

let ca: RunningCa
let hub: HubProcess
before(async () => {
  ca = await startDevCa()
  const environment = { SVC_SERVER_SANS: 'localhost' }
  hub = await startHubProcess({ caEnvironment: ca.environment, environment })
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

const STREAM_UP = '"msg":"Stream up"'

async function streamUp(running: RunningProgram, times = 1): Promise<void> {
  await waitUntil(`stream number ${times}`, () =>
    running.stderr().split(STREAM_UP).length > times ? true : undefined,
  )
}

async function createCargo(host: ManagedHost, nome: string): Promise<void> {
  const request = { tipo: 'csr_cert', nome, agentes: [host.hostname], roles: [], sans: [] }
  await hub.admin('POST', '/v1/admin/cargas', request)
}

function onDisk(host: ManagedHost, name: string): Promise<true> {
  return waitUntil(name, () =>
    access(join(host.dataDir, 'out', name)).then(
      () => true,
      () => undefined,
    ),
  )
}

async function serialOf(host: ManagedHost): Promise<unknown> {
  const path = '/v1/admin/agentes/show'
  const agent = await hub.admin<Record<string, unknown>>('POST', path, { agente: host.hostname })
  return agent['cert_serial']
}

describe('an agent that polls once an hour', () => {
  test('[PSH-6] [PSH-15] has a new delivery on its disk in under a second', async () => {
    await using host = await enrolHost(hub, 'push-01', SELDOM)
    const running = host.run()
    await streamUp(running)
    // The first one waits for nobody, and warms both sides up.
    await createCargo(host, 'first')
    await onDisk(host, 'first.crt')
    let fastestMs = Number.POSITIVE_INFINITY
    // The machine may be busy with something else for a moment.
    for (let round = 0; round < 5 && fastestMs >= 1000; round += 1) {
      await waitUntil('quiet', async () => (await host.agent('status')).stdout)
      const startedMs = Date.now()
      await createCargo(host, `site-${round}`)
      await onDisk(host, `site-${round}.crt`)
      fastestMs = Math.min(fastestMs, Date.now() - startedMs)
    }
    assert.ok(fastestMs < 1000, `${fastestMs} ms`)
  })

  test('[PSH-5] gets what it missed when it is back', async () => {
    await using host = await enrolHost(hub, 'push-02', SELDOM)
    const running = host.run()
    await streamUp(running)
    running.kill('SIGKILL')
    await running.ended
    await createCargo(host, 'missed')
    const sent = await hub.svc('agente', 'rotate', host.hostname, '--json')
    assert.deepEqual([sent.status, JSON.parse(sent.stdout)], [0, { online: false }])
    const oldSerial = await serialOf(host)
    host.run()
    await onDisk(host, 'missed.crt')
    await waitUntil('another identity', async () =>
      (await serialOf(host)) === oldSerial ? undefined : true,
    )
  })

  test('[PSH-12] [PSH-16] renews its identity when it is told to, once, and goes on with the new one', async () => {
    await using host = await enrolHost(hub, 'push-03', SELDOM)
    const running = host.run()
    await streamUp(running)
    const oldSerial = await serialOf(host)
    const { stdout } = await hub.svc('agente', 'rotate', host.hostname)
    assert.equal(stdout, `agent ${host.hostname} is to renew its identity; it is online\n`)
    await streamUp(running, 2)
    assert.notEqual(await serialOf(host), oldSerial)
    const serial = await serialOf(host)
    await hub.admin('POST', `/v1/push/${host.hostname}`, { acao: 'sync' })
    await createCargo(host, 'after')
    await onDisk(host, 'after.crt')
    assert.equal(await serialOf(host), serial)
    assert.equal(running.stderr().split('The hub asked for a rotation').length, 2)
  })

  test('[PSH-9] [PSH-14] holds its stream again after the hub was restarted', async () => {
    await using host = await enrolHost(hub, 'push-04', SELDOM)
    const running = host.run()
    await streamUp(running)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { enroll, mtls } = hub.ports
      const ups = running.stderr().split(STREAM_UP).length
      await hub.stop(signal)
      await hub.start({
        SVC_ENROLL_BIND: `127.0.0.1:${enroll}`,
        SVC_MTLS_BIND: `127.0.0.1:${mtls}`,
      })
      await streamUp(running, ups)
      await createCargo(host, `after-${signal}`)
      await onDisk(host, `after-${signal}.crt`)
    }
  })

  test('[PSH-7] is cut off when it is revoked', async () => {
    await using host = await enrolHost(hub, 'push-05', SELDOM)
    const running = host.run()
    await streamUp(running)
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
    const status = await waitUntil('the stream to be down', async () => {
      const { stdout } = await host.agent('status', '--json')
      const { stream } = JSON.parse(stdout) as { stream: { state: string; problem: string } }
      return stream.state === 'down' && stream.problem.includes('401') ? stream : undefined
    })
    assert.match(status.problem, /agent_revoked/)
    assert.equal(running.hasEnded(), false)
  })
})

describe('a file that is pushed', () => {
  test('[PSH-25] [PSH-26] is on the host with its mode, its event and its hook, and so is the next one', async () => {
    await using host = await enrolHost(hub, 'push-08', SELDOM)
    const hook = join(host.dataDir, 'hooks/post-push')
    const trace = join(hub.directory, 'post-push')
    await writeFile(
      hook,
      `#!/bin/sh\necho "$SVC_EVENT $SVC_NOME $SVC_VERSAO $(cat "$SVC_FILE_PATH")" >> '${trace}'\n`,
    )
    await chmod(hook, 0o755)
    await streamUp(host.run())
    const source = join(hub.directory, 'motd')
    const path = join(host.dataDir, 'out/motd')
    for (const [version, text, modo, mode] of [
      [1, 'bom dia', [], 0o644],
      [2, 'boa noite', ['--modo', '0600'], 0o600],
    ] as const) {
      await writeFile(source, text)
      const pushed = await hub.svc(
        'agente',
        'push',
        host.hostname,
        '--nome',
        'motd',
        '--file',
        source,
        ...modo,
      )
      assert.equal(pushed.status, 0, pushed.stderr)
      const lines = await waitUntil(`the hook of version ${version}`, async () => {
        const written = (await readFile(trace, 'utf8').catch(() => '')).trim().split('\n')
        return written.length === version && written[0] !== '' ? written : undefined
      })
      assert.equal(lines.at(-1), `installed motd ${version} ${text}`)
      assert.equal(await readFile(path, 'utf8'), text)
      assert.equal((await stat(path)).mode & 0o777, mode)
    }
    const eventos = await readEvents(hub, 'entrega_entregue', host)
    assert.deepEqual(
      eventos.map(({ payload }) => payload),
      [1, 2].map((versao) => ({ path, carga_nome: 'motd', versao })),
    )
  })
})

describe('the state of the stream', () => {
  test('[PSH-19] [PSH-20] status shows it: up, or switched off', async () => {
    await using host = await enrolHost(hub, 'push-06', SELDOM)
    const running = host.run()
    await streamUp(running)
    const { stdout } = await host.agent('status')
    assert.match(stdout, /^stream: up since \d{4}-\d\d-\d\dT[\d:.]+Z$/m)
    running.kill('SIGTERM')
    await running.ended
    assert.doesNotMatch((await host.agent('status')).stdout, /^stream:/m)

    await using off = await enrolHost(hub, 'push-07', { SVC_AGENT_STREAM: 'off' })
    off.run()
    await createCargo(off, 'polled')
    await onDisk(off, 'polled.crt')
    assert.match((await off.agent('status')).stdout, /^stream: off$/m)
  })

  test('[PSH-17] a hub without streams is no error: the agent polls', async () => {
    await using old = await FakeHub.start()
    await using host = await AgentHost.create(old)
    await host.enroll()
    const running = host.spawn('run')
    try {
      const stdout = await waitUntil('the state', async () => {
        const status = await host.command('status')
        return status.stdout.includes('stream: not offered') ? status.stdout : undefined
      })
      assert.match(stdout, /^stream: not offered by the hub since /m)
      assert.doesNotMatch(stdout, /^problem/m)
      await waitUntil('a poll', () => old.requestsTo('manifest').length > 0 || undefined)
    } finally {
      running.kill('SIGKILL')
    }
  })
})
