// svc-agent run and the commands beside it, at a hub that misbehaves on demand: docs/protocol.md AGT, EVT, HOK.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseCertificatePem } from '../../src/pki/certificates.ts'
import type { EventRequestBody, ManifestEntryBody } from '../../src/protocol/schemas.ts'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, eventually, manifestEntry } from '../support/agent-host.ts'
import {
  type Ended,
  runProgram,
  type RunningProgram,
  startProgram,
  type Variables,
} from '../support/processes.ts'

const SVC_AGENT = fileURLToPath(new URL('../../bin/svc-agent', import.meta.url))

let hub: FakeHub
let host: AgentHost
let started: RunningProgram[]

beforeEach(async () => {
  started = []
  hub = await FakeHub.start()
  host = await AgentHost.create(hub)
  await host.enroll()
})
afterEach(async () => {
  for (const running of started) {
    if (!running.hasEnded()) running.kill('SIGKILL')
    await running.ended
  }
  await host[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
})

const agent = (...args: string[]): Promise<Ended> => runProgram('svc-agent', args, host.env)

function startRun(extra: Variables = {}): RunningProgram {
  const running = startProgram('svc-agent', ['run'], { ...host.env, ...extra })
  started.push(running)
  return running
}

const polls = (): number => hub.requestsTo('manifest').length
const untilPolled = (count = 1): Promise<true> =>
  eventually(`${count} polls`, () => polls() >= count)
const eventOf = (type: string): EventRequestBody | undefined =>
  hub.events.find(({ tipo_evento: found }) => found === type)
const payloadOf = (event: EventRequestBody | undefined): Record<string, unknown> =>
  event?.payload as Record<string, unknown>
const identitySerial = async (): Promise<string> =>
  parseCertificatePem(await readFile(join(host.dataDir, 'identity/agent.crt'), 'utf8')).serial

/** An executable `hooks/NAME` of the host. */
async function putHook(script: string, interpreter = '/bin/sh'): Promise<string> {
  const directory = join(host.dataDir, 'hooks')
  await mkdir(directory, { recursive: true })
  await chmod(directory, 0o755)
  const path = join(directory, 'post-csr-cert')
  await writeFile(path, `#!${interpreter}\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

function deliver(fields: Partial<ManifestEntryBody> = {}): ManifestEntryBody {
  const entry = manifestEntry(fields)
  hub.entregas.push(entry)
  return entry
}

describe('the end of svc-agent run', () => {
  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    test(`[AGT-3] [AGT-22] is exit status ${status} in a shell, by ${signal}`, async () => {
      // With -m, since a shell's background commands ignore SIGINT otherwise.
      const script = 'set -m; "$@" & echo "pid $!" >&2; wait $!; echo "status $?"'
      const shell = startProgram('/bin/sh', ['-c', script, 'sh', SVC_AGENT, 'run'], host.env)
      started.push(shell)
      await untilPolled()
      const pid = Number(/^pid (\d+)$/m.exec(shell.stderr())?.[1])
      process.kill(pid, signal)
      await eventually('its end', () => shell.hasEnded()).catch((error: unknown) => {
        process.kill(pid, 'SIGKILL')
        throw error
      })
      assert.equal((await shell.ended).stdout, `status ${status}\n`)
    })
  }

  test(
    '[AGT-22] comes by SIGTERM in a container too, where the kernel ends no first process by a signal that it does not handle',
    { skip: process.geteuid?.() === 0 ? false : 'only root can make a namespace of processes' },
    async () => {
      const namespace = ['--pid', '--fork', '--kill-child', '--mount-proc']
      const running = startProgram('/usr/bin/unshare', [...namespace, SVC_AGENT, 'run'], host.env)
      started.push(running)
      await untilPolled()
      const children = await readFile(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8')
      process.kill(Number(children), 'SIGTERM')
      await eventually('its end', () => running.hasEnded())
      assert.equal((await running.ended).status, 143)
    },
  )

  test('[AGT-3] [AGT-22] is exit status 124 under timeout: it does not end by itself', async () => {
    const { status } = await runProgram(
      '/usr/bin/env',
      ['timeout', '1', SVC_AGENT, 'run'],
      host.env,
    )
    assert.equal(status, 124)
  })

  test('[AGT-22] [HOK-8] comes at once by SIGTERM while a hook runs, which ends with it', async () => {
    await putHook('echo $$ > pid.new && mv pid.new pid; exec sleep 600')
    deliver()
    const running = startRun()
    const pid = Number(
      await eventually('the hook runs', () => host.readOut('pid').catch(() => undefined)),
    )
    running.kill('SIGTERM')
    await eventually('its end', () => running.hasEnded())
    await eventually('the end of the hook', () => !existsSync(`/proc/${pid}`))
    const { status, signal } = await running.ended
    assert.deepEqual([status, signal], [null, 'SIGTERM'])
  })

  test('[AGT-22] [AGT-26] comes by nothing that a hub answers', async () => {
    for (const [status, code] of [
      [401, 'agent_revoked'],
      [403, 'forbidden'],
      [404, 'route_not_found'],
      [500, 'internal_error'],
    ] as const) {
      hub.misbehave('manifest', { kind: 'refuse', status, code })
    }
    hub.misbehave('manifest', { kind: 'not-json' }, { kind: 'cut-before' })
    const running = startRun({ SVC_AGENT_POLL_INTERVAL: '100ms' })
    for (let count = 1; count <= 7; count += 1) {
      await untilPolled(count)
      running.kill('SIGHUP')
    }
    await untilPolled(8)
    assert.equal(running.hasEnded(), false)
  })
})

describe('svc-agent run', () => {
  test('[AGT-17] [EVT-15] sends agent_started with the hostname, and what the host says of itself', async () => {
    startRun()
    const event = await eventually('agent_started', () => eventOf('agent_started'))
    const { labels, ...rest } = event.payload as { labels: Record<string, string> }
    assert.deepEqual(rest, { hostname: 'web-1' })
    assert.deepEqual([labels['os'], labels['arch']], [process.platform, process.arch])
    assert.equal(hub.eventTypes()[0], 'agent_started')
  })

  test('[AGT-17] is held up by no event that the hub does not take', async () => {
    const cut = { kind: 'cut-before' } as const
    hub.misbehave('events', cut, cut)
    deliver()
    startRun({ SVC_AGENT_POLL_INTERVAL: '200ms' })
    await eventually('the files', () => host.readOut('site.crt').catch(() => undefined))
    await eventually('its event', () => eventOf('entrega_instalada'))
    assert.deepEqual(
      hub.eventTypes().filter((type) => type !== 'manifest_pulled'),
      ['agent_started', 'entrega_instalada'],
    )
  })

  test('[AGT-18] [AGV-8] [SLD-4] renews what is due, polls, installs, and polls again after the interval', async () => {
    await host.enroll(10_000)
    const old = await identitySerial()
    deliver()
    startRun({ SVC_AGENT_POLL_INTERVAL: '200ms' })
    await untilPolled(3)
    const routes = hub.requests.map(({ route }) => route).filter((route) => route !== 'events')
    assert.deepEqual(routes.slice(0, 5), ['issue', 'manifest', 'issue', 'recipient', 'manifest'])
    const [renewal, manifest] = hub.requests.filter(({ route }) => route !== 'events')
    assert.equal(renewal?.serial, old)
    assert.equal(manifest?.serial, await identitySerial())
    const event = await eventually('cert_renewed', () => eventOf('cert_renewed'))
    assert.deepEqual(event.payload, {
      old_serial: old,
      new_serial: await identitySerial(),
      trigger: 'auto_threshold',
    })
  })

  test('[AGT-23] polls now on SIGHUP', async () => {
    const running = startRun({ SVC_AGENT_POLL_INTERVAL: '1h' })
    await untilPolled()
    for (const count of [2, 3]) {
      running.kill('SIGHUP')
      await untilPolled(count)
    }
    assert.equal(running.hasEnded(), false)
  })

  test('[AGT-24] runs once per data directory, and again after kill -9', async () => {
    const running = startRun()
    await untilPolled()
    for (const args of [['run'], ['run', '--once']]) {
      const { status, stderr } = await agent(...args)
      const message = `svc-agent: error: another svc-agent is at work in ${host.dataDir}\n`
      assert.deepEqual([status, stderr], [1, message])
    }
    running.kill('SIGKILL')
    await running.ended
    assert.equal((await agent('run', '--once')).status, 0)
  })

  test('[AGT-24] listens on agent.sock, for its own user only', async () => {
    startRun()
    await untilPolled()
    const stats = await eventually('the socket', () =>
      stat(join(host.dataDir, 'agent.sock')).catch(() => undefined),
    )
    assert.ok(stats.isSocket())
    assert.equal(stats.mode & 0o777, 0o600)
  })

  test('[AGT-28] keeps its events through an outage and kill -9, each once and in order', async () => {
    const lost = { kind: 'cut-after' } as const
    const cut = { kind: 'cut-before' } as const
    hub.settlesDeliveries = false
    deliver()
    hub.misbehave('events', cut, lost, cut, lost)
    const first = startRun({ SVC_AGENT_POLL_INTERVAL: '1h' })
    await eventually('the files', () => host.readOut('site.crt').catch(() => undefined))
    first.kill('SIGKILL')
    await first.ended
    startRun({ SVC_AGENT_POLL_INTERVAL: '100ms' })
    await eventually('its event', () => eventOf('entrega_instalada'))
    hub.settlesDeliveries = true
    const types = hub.eventTypes()
    assert.equal(types[0], 'agent_started')
    assert.equal(types.filter((type) => type === 'entrega_instalada').length, 1)
    const ids = hub.events.map(({ request_id: id }) => id)
    assert.ok(ids.every((id) => typeof id === 'string'))
    assert.equal(new Set(ids).size, ids.length)
  })

  test('[AGT-29] uses an identity that was put there while it runs', async () => {
    const running = startRun({ SVC_AGENT_POLL_INTERVAL: '1h' })
    await untilPolled()
    await host.enroll()
    running.kill('SIGHUP')
    await untilPolled(2)
    assert.equal(hub.requestsTo('manifest').at(-1)?.serial, await identitySerial())
  })
})

describe('commands beside svc-agent run', () => {
  test('[AGT-32] poll does a round now, through the agent that runs, or by itself', async () => {
    assert.equal((await agent('poll')).status, 0)
    assert.equal(polls(), 1)
    const running = startRun({ SVC_AGENT_POLL_INTERVAL: '1h' })
    await untilPolled(2)
    assert.deepEqual([(await agent('poll')).status, polls()], [0, 3])
    hub.misbehave('manifest', { kind: 'refuse', status: 500, code: 'internal_error' })
    const failed = await agent('poll')
    assert.equal(failed.status, 1)
    assert.match(failed.stderr, /svc-agent: error: the hub answered 500 internal_error\n/)
    assert.equal(running.hasEnded(), false)
  })

  test('[AGT-32] run --once exits 0 when all of the round succeeded, else 1', async () => {
    deliver()
    assert.equal((await agent('run', '--once')).status, 0)
    deliver({ nome: 'mail' })
    hub.misbehave('issue', { kind: 'refuse', status: 502, code: 'ca_failed' })
    const { status, stderr } = await agent('run', '--once')
    assert.equal(status, 1)
    assert.match(stderr, /svc-agent: error: the hub answered 502 ca_failed\n/)
    assert.equal(polls(), 2)
  })

  test('[AGT-32] status shows identity, deliveries and waiting events, with and without run', async () => {
    deliver()
    const cut = { kind: 'cut-before' } as const
    hub.misbehave('events', cut, cut, cut, cut)
    await agent('run', '--once')
    const calls = hub.requests.length
    const status = async (): Promise<Record<string, unknown>> => {
      const { stdout } = await agent('status', '--json')
      return JSON.parse(stdout) as Record<string, unknown>
    }
    const alone = await status()
    assert.equal(alone['running'], false)
    assert.equal((alone['identity'] as { cert_serial: string }).cert_serial, await identitySerial())
    const [delivery] = alone['deliveries'] as { name: string; version: number }[]
    assert.deepEqual([delivery?.name, delivery?.version], ['site', 1])
    assert.ok((alone['events_waiting'] as number) >= 2)
    assert.equal(hub.requests.length, calls)
    startRun({ SVC_AGENT_POLL_INTERVAL: '1h' })
    const beside = await eventually('a status of the agent that runs', async () => {
      const current = await status()
      return current['running'] === true && current['events_waiting'] === 0 ? current : undefined
    })
    assert.deepEqual((beside['deliveries'] as unknown[]).length, 1)
  })

  test('[AGT-33] [AGT-34] [EVT-16] rotate renews whatever is left, prints both serials, and reports it', async () => {
    const first = await identitySerial()
    const alone = await agent('rotate')
    const second = await identitySerial()
    assert.notEqual(second, first)
    assert.deepEqual(
      [alone.status, alone.stdout],
      [0, `old serial: ${first}\nnew serial: ${second}\n`],
    )
    startRun({ SVC_AGENT_POLL_INTERVAL: '1h' })
    await untilPolled()
    const beside = await agent('rotate', '--json')
    const third = await identitySerial()
    assert.deepEqual(JSON.parse(beside.stdout), { old_serial: second, new_serial: third })
    const renewals = hub.events.filter(({ tipo_evento: type }) => type === 'cert_renewed')
    assert.deepEqual(
      renewals.map(({ payload }) => payload),
      [
        { old_serial: first, new_serial: second, trigger: 'manual' },
        { old_serial: second, new_serial: third, trigger: 'manual' },
      ],
    )
    assert.equal(hub.requestsTo('issue').length, 2)
    for (const { body } of hub.requestsTo('issue')) {
      assert.deepEqual(Object.keys(body as object), ['csr_pem'])
    }
  })

  test('[AGT-33] a rotate that the hub refuses changes nothing and exits 1', async () => {
    const before = await identitySerial()
    hub.misbehave('issue', { kind: 'refuse', status: 502, code: 'ca_failed' })
    const { status, stderr } = await agent('rotate')
    assert.deepEqual([status, stderr], [1, 'svc-agent: error: the hub answered 502 ca_failed\n'])
    assert.equal(await identitySerial(), before)
  })
})

describe('the hook of a delivery', () => {
  test('[HOK-1] [HOK-2] is told in arguments and environment what was installed', async () => {
    await putHook(
      `const given = { arguments: process.argv.slice(2), environment: process.env }
      process.getBuiltinModule('node:fs').writeFileSync('given', JSON.stringify(given))`,
      process.execPath,
    )
    const entry = deliver({ versao: 7 })
    assert.equal((await agent('run', '--once')).status, 0)
    const given = JSON.parse(await host.readOut('given')) as {
      arguments: string[]
      environment: Record<string, string>
    }
    const certificatePath = join(host.dataDir, 'out/site.crt')
    const keyPath = join(host.dataDir, 'out/site.key')
    const { serial, notAfter } = parseCertificatePem(await readFile(certificatePath, 'utf8'))
    assert.deepEqual(given.arguments, ['site', certificatePath, keyPath])
    const { HOME: home, ...environment } = given.environment
    assert.match(home ?? '', /^\//)
    assert.deepEqual(environment, {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LANG: 'C.UTF-8',
      SVC_EVENT: 'installed',
      SVC_NOME: 'site',
      SVC_CERT_PATH: certificatePath,
      SVC_KEY_PATH: keyPath,
      SVC_CA_PATH: join(host.dataDir, 'identity/ca.pem'),
      SVC_SERIAL: serial,
      SVC_NOT_AFTER: notAfter.toISOString(),
      SVC_ENTREGA_ID: entry.id,
      SVC_CARGA_ID: entry.carga_id,
      SVC_VERSAO: '7',
      SVC_HOSTNAME: 'web-1',
    })
  })

  test('[HOK-6] [EVT-20] that fails is reported, its output stays in the log, and it is tried again alone', async () => {
    const hook = await putHook('echo a secret of the host; exit 3')
    const entry = deliver()
    const { status, stderr } = await agent('run', '--once')
    assert.equal(status, 1)
    assert.match(stderr, /a secret of the host/)
    const failed = eventOf('hook_falhou')
    assert.equal(failed?.entrega_id, entry.id)
    const { duration_ms: durationMs, ...payload } = payloadOf(failed)
    assert.equal(typeof durationMs, 'number')
    assert.deepEqual(payload, {
      carga_nome: 'site',
      hook,
      erro: 'exit status 3',
      exit_code: 3,
    })
    assert.equal(JSON.stringify(hub.requests).includes('a secret of the host'), false)
    await putHook('echo ran > ran')
    assert.equal((await agent('run', '--once')).status, 0)
    assert.equal(await host.readOut('ran'), 'ran\n')
    assert.equal(hub.requestsTo('issue').length, 1)
  })

  test('[HOK-4] that others could change is not run, and that is a failure of the hook', async () => {
    const hook = await putHook('echo ran > ran')
    await chmod(hook, 0o775)
    deliver()
    assert.equal((await agent('run', '--once')).status, 1)
    await assert.rejects(host.readOut('ran'), { code: 'ENOENT' })
    const { erro } = payloadOf(eventOf('hook_falhou'))
    assert.equal(erro, 'refused: it is writable by group or others')
    assert.ok(eventOf('entrega_instalada'))
  })
})
