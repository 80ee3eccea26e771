// The real program, as a service manager and an administrator see it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, eventually, manifestEntry } from '../support/agent-host.ts'
import { runProgram } from '../support/processes.ts'
import { loadIdentity } from '../../src/agent/identity/identity.ts'

async function setUp(): Promise<{ hub: FakeHub; host: AgentHost; stack: AsyncDisposableStack }> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  hub.tokens.set('svct_token', { hostname: 'web-1', role: 'web' })
  return { hub, host, stack }
}

describe('svc-agent', () => {
  test('[AGT-5] [AGT-15] [AGT-16] [LBL-12] [AGV-33] enrols, shows its identity, does a round, and is present after that', async () => {
    const { hub, host, stack } = await setUp()
    await using _ = stack
    const before = await host.command('identity')
    assert.equal(before.status, 1)
    assert.equal(
      before.stderr,
      `svc-agent: error: no identity at ${host.dataDir}/identity — run enroll first\n`,
    )
    assert.equal((await host.command('check')).status, 2)

    assert.equal((await host.command('enroll')).status, 0)
    const identity = await host.command('identity')
    const loaded = await loadIdentity(host.paths.identityDir)
    assert.deepEqual(identity.stdout.split('\n').slice(0, 4), [
      'svc-agent identity',
      'hostname: web-1',
      'cert CN: web-1',
      `cert serial: ${loaded?.leaf.serial}`,
    ])
    assert.match(identity.stdout, /\nnot_before: \d{4}-.*Z\nnot_after: \d{4}-.*Z\ndata_dir: \//)
    assert.equal((await host.command('check')).status, 1)

    hub.entregas = [manifestEntry()]
    const hooks = join(host.dataDir, 'hooks')
    await mkdir(hooks)
    await chmod(hooks, 0o755)
    await writeFile(join(hooks, 'post-csr-cert'), '#!/bin/sh\necho "$1 $SVC_EVENT" > ../hook-ran\n')
    await chmod(join(hooks, 'post-csr-cert'), 0o755)
    const env = { ...host.env, SVC_LABELS: 'rack=r7' }
    const round = await runProgram('svc-agent', ['run', '--once'], env)
    assert.equal(round.status, 0, round.stderr)
    assert.equal(await readFile(join(host.dataDir, 'hook-ran'), 'utf8'), 'site installed\n')
    assert.deepEqual(hub.eventTypes(), ['agent_started', 'manifest_pulled', 'entrega_instalada'])

    const started = hub.events.find(({ tipo_evento: type }) => type === 'agent_started')
    const { labels } = (started?.payload ?? {}) as { labels?: Record<string, string> }
    assert.deepEqual([labels?.['os'], labels?.['rack']], [process.platform, 'r7'])

    const again = await host.command('enroll')
    assert.equal(again.status, 1)
    assert.equal(again.stderr, 'svc-agent: error: identity already present\n')
  })

  test('[AGT-22] [AGT-23] [AGT-24] run polls on SIGHUP, ends at once by SIGTERM, and the singleton is free again', async () => {
    const { hub, host, stack } = await setUp()
    await using _ = stack
    await host.enroll()
    const child = host.spawn('run')
    const exited = once(child, 'exit')
    await eventually('the agent has polled', () => hub.requestsTo('manifest').length > 0)
    assert.match((await host.command('run')).stderr, /another svc-agent is at work/)
    const enrolled = await host.command('enroll')
    assert.equal(enrolled.stderr, 'svc-agent: error: identity already present\n')
    const polls = hub.requestsTo('manifest').length
    child.kill('SIGHUP')
    await eventually('SIGHUP polls now', () => hub.requestsTo('manifest').length > polls)
    child.kill('SIGTERM')
    // A shell says 143 for a program that SIGTERM ended.
    assert.deepEqual(await exited, [null, 'SIGTERM'])
    assert.equal((await host.command('run', '--once')).status, 0)
  })

  test('[AGT-24] [AGT-33] [AGT-34] rotate goes through the running agent, whose next request uses the new identity', async () => {
    const { hub, host, stack } = await setUp()
    await using _ = stack
    await host.enroll()
    const old = await loadIdentity(host.paths.identityDir)
    const child = host.spawn('run')
    const exited = once(child, 'exit')
    await eventually('the agent listens', () =>
      stat(join(host.dataDir, 'agent.sock')).then(
        (stats) => (stats.mode & 0o777) === 0o600,
        () => false,
      ),
    )
    const rotated = await host.command('rotate', '--json')
    assert.equal(rotated.status, 0, rotated.stderr)
    const report = JSON.parse(rotated.stdout) as { old_serial: string; new_serial: string }
    const renewed = await loadIdentity(host.paths.identityDir)
    assert.deepEqual(report, { old_serial: old?.leaf.serial, new_serial: renewed?.leaf.serial })
    const event = hub.events.find(({ tipo_evento: type }) => type === 'cert_renewed')
    assert.deepEqual(event?.payload, { ...report, trigger: 'manual' })
    assert.equal((await host.command('poll')).status, 0)
    assert.equal(hub.requests.at(-1)?.serial, report.new_serial)
    const status = JSON.parse((await host.command('status', '--json')).stdout) as {
      running: boolean
    }
    assert.equal(status.running, true)
    child.kill('SIGKILL')
    await exited
    // The socket that the killed agent left behind is no obstacle.
    const alone = await host.command('rotate')
    assert.match(
      alone.stdout,
      new RegExp(`^old serial: ${report.new_serial}\nnew serial: [0-9a-f]+\n$`),
    )
  })

  test('[AGT-17] [AGT-22] a hub that is away fails one round, and run goes on until it is back', async () => {
    const { hub, host, stack } = await setUp()
    await using _ = stack
    await host.enroll()
    const port = await hub.stop()
    const once1 = await host.command('run', '--once')
    assert.equal(once1.status, 1)
    assert.match(once1.stderr, /svc-agent: error: no answer from https:\/\/127\.0\.0\.1/)
    const child = host.spawn('run')
    const exited = once(child, 'exit')
    await hub.listen(port)
    await eventually('the agent has polled', () => hub.requestsTo('manifest').length > 0)
    assert.deepEqual(hub.eventTypes().slice(0, 1), ['agent_started'])
    child.kill('SIGINT')
    assert.deepEqual(await exited, [null, 'SIGINT'])
  })

  test('[AGV-17] says which variables are missing', async () => {
    const { host, stack } = await setUp()
    await using _ = stack
    const { SVC_SERVER_URL: _url, SVC_SERVER_MTLS_URL: _mtls, ...env } = host.env
    const { execFile } = await import('node:child_process')
    const stderr = await new Promise<string>((resolve) => {
      execFile(
        new URL('../../bin/svc-agent', import.meta.url).pathname,
        ['run'],
        { env },
        (_error, _stdout, text) => resolve(text),
      )
    })
    assert.equal(
      stderr,
      'svc-agent: error: SVC_SERVER_URL required\nsvc-agent: error: SVC_SERVER_MTLS_URL required\n',
    )
  })
})
