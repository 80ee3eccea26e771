// svc-agent at the command line: docs/protocol.md AGT, AGV. What its commands need, print and exit with.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost } from '../support/agent-host.ts'
import { type Ended, runProgram, type Variables } from '../support/processes.ts'

let hub: FakeHub

before(async () => {
  hub = await FakeHub.start()
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
})

const agent = (host: AgentHost, args: readonly string[], extra: Variables = {}): Promise<Ended> =>
  runProgram('svc-agent', args, { ...host.env, ...extra })

/** A host whose identity is there; nothing of it has been asked for on the wire. */
async function enrolledHost(lifetimeMs?: number): Promise<AgentHost> {
  const host = await AgentHost.create(hub)
  await host.enroll(lifetimeMs)
  return host
}

describe('commands of svc-agent', () => {
  test('[AGT-1] are these', async () => {
    const { status, stdout } = await runProgram('svc-agent', ['--help'], {})
    assert.equal(status, 0)
    const [, list = ''] = /\nCommands:\n(.*?)\n\n/s.exec(stdout) ?? []
    const names = list.split('\n').flatMap((line) => /^ {2}([a-z-]+)/.exec(line)?.[1] ?? [])
    assert.deepEqual(
      names,
      'enroll identity tpm run rotate poll status audit check targets adopt self-update completion'.split(
        ' ',
      ),
    )
  })

  test('[AGT-3] exit with 1 for a command, an option or a directory that cannot be', async () => {
    await using host = await enrolledHost()
    const file = join(host.directory, 'a-file')
    await writeFile(file, '')
    assert.equal((await agent(host, ['nothing'])).status, 1)
    assert.equal((await agent(host, ['identity', '--nothing'])).status, 1)
    assert.equal((await agent(host, ['enroll'], { SVC_AGENT_DATA_DIR: join(file, 'x') })).status, 1)
  })

  const missing: [command: string, stderr: string][] = [
    [
      'enroll',
      'svc-agent: error: SVC_SERVER_URL required\n' +
        'svc-agent: error: SVC_AGENT_ROLE required\n' +
        'svc-agent: error: SVC_ENROLL_TOKEN required\n',
    ],
    [
      'run',
      'svc-agent: error: SVC_SERVER_URL required\nsvc-agent: error: SVC_SERVER_MTLS_URL required\n',
    ],
    [
      'rotate',
      'svc-agent: error: SVC_SERVER_URL required\nsvc-agent: error: SVC_SERVER_MTLS_URL required\n',
    ],
  ]
  for (const [command, stderr] of missing) {
    test(`[AGT-3] [AGV-1] [AGV-2] [AGV-5] [AGV-7] [AGV-17] ${command} names all missing variables and exits 1`, async () => {
      const ended = await runProgram('svc-agent', [command], { SVC_AGENT_DATA_DIR: '/nonexistent' })
      assert.deepEqual([ended.status, ended.stdout, ended.stderr], [1, '', stderr])
    })
  }

  test('[AGV-17] an empty variable is a missing one', async () => {
    await using host = await AgentHost.create(hub)
    const ended = await agent(host, ['run'], { SVC_SERVER_MTLS_URL: '' })
    assert.deepEqual(
      [ended.status, ended.stderr],
      [1, 'svc-agent: error: SVC_SERVER_MTLS_URL required\n'],
    )
  })

  for (const [variable, value] of [
    ['SVC_AGENT_POLL_INTERVAL', '30'],
    ['SVC_AGENT_RENEWAL_THRESHOLD', '6 parsecs'],
  ] as const) {
    test(`[AGV-15] ${variable}=${value} is an error`, async () => {
      await using host = await enrolledHost()
      const { status, stderr } = await agent(host, ['run', '--once'], { [variable]: value })
      assert.equal(status, 1)
      assert.equal(
        stderr,
        `svc-agent: error: ${variable} is not a duration such as 30s or 1h 30m: ${value}\n`,
      )
    })
  }

  test('[AGV-16] an unknown SVC_ variable is a warning, and the command goes on', async () => {
    await using host = await enrolledHost()
    const { status, stderr } = await agent(host, ['run', '--once'], {
      SVC_AGENT_OUT_DRI: 'x',
    })
    assert.equal(status, 0)
    const warning = stderr.split('\n').find((line) => line.includes('SVC_AGENT_OUT_DRI'))
    const { level, msg, did_you_mean } = JSON.parse(warning ?? '{}') as Record<string, string>
    assert.deepEqual([level, msg], ['warn', 'Unknown variable ignored'])
    assert.equal(did_you_mean, 'SVC_AGENT_OUT_DIR')
  })

  test('[AGV-13] RUST_LOG decides what is logged', async () => {
    await using host = await enrolledHost()
    const levelsWith = async (filter: string): Promise<Set<string | undefined>> => {
      const { stderr } = await agent(host, ['run', '--once'], { RUST_LOG: filter })
      return new Set(stderr.match(/"level":"[a-z]+"/g))
    }
    assert.deepEqual(await levelsWith('error'), new Set())
    assert.deepEqual(await levelsWith('info'), new Set(['"level":"info"']))
    assert.ok((await levelsWith('error,agent.poll=debug')).has('"level":"debug"'))
  })

  test('[AGV-19] SVC_LOG_FORMAT chooses text or JSON; without a terminal it is JSON', async () => {
    await using host = await enrolledHost()
    const firstLineWith = async (extra: Variables): Promise<string> =>
      (await agent(host, ['run', '--once'], extra)).stderr.split('\n')[0] ?? ''
    assert.match(await firstLineWith({}), /^\{"level":"info".*"msg":"Agent started"\}$/)
    assert.match(await firstLineWith({ SVC_LOG_FORMAT: 'json' }), /^\{"level":"info"/)
    assert.match(await firstLineWith({ SVC_LOG_FORMAT: 'text' }), /^\[.*INFO.*Agent started/)
  })
})

describe('svc-agent identity', () => {
  test('[AGT-15] [SLD-13] prints title and lines, or the same as JSON, and calls nobody', async () => {
    await using host = await enrolledHost()
    const pem = await readFile(join(host.dataDir, 'identity/agent.crt'), 'utf8')
    const { serialNumber, validFromDate, validToDate } = new X509Certificate(pem)
    const serial = serialNumber.toLowerCase()
    const instant = (date: Date): string => date.toISOString().replace('.000Z', 'Z')
    const calls = hub.requests.length
    const { status, stdout, stderr } = await agent(host, ['identity'])
    assert.equal(
      stdout,
      [
        'svc-agent identity',
        'hostname: web-1',
        'cert CN: web-1',
        `cert serial: ${serial}`,
        `not_before: ${instant(validFromDate)}`,
        `not_after: ${instant(validToDate)}`,
        `data_dir: ${host.dataDir}`,
        'recipient: none: run makes one',
        '',
      ].join('\n'),
    )
    assert.deepEqual([status, stderr], [0, ''])
    const json = await agent(host, ['identity', '--json'])
    assert.deepEqual(JSON.parse(json.stdout), {
      hostname: 'web-1',
      cert_cn: 'web-1',
      cert_serial: serial,
      not_before: instant(validFromDate),
      not_after: instant(validToDate),
      data_dir: host.dataDir,
      recipient: null,
      recipient_fingerprint: null,
      recipient_problem: 'run makes one',
    })
    assert.equal(hub.requests.length, calls)
  })

  test('[AGT-16] [AGV-6] without an identity it says where it looked, and exits 1', async () => {
    await using host = await AgentHost.create(hub)
    const { status, stdout, stderr } = await agent(host, ['identity'])
    assert.deepEqual([status, stdout], [1, ''])
    assert.equal(
      stderr,
      `svc-agent: error: no identity at ${host.dataDir}/identity — run enroll first\n`,
    )
  })

  test('[AGT-15] needs no variable but the directory', async () => {
    await using host = await enrolledHost()
    const { status } = await runProgram('svc-agent', ['identity'], {
      SVC_AGENT_DATA_DIR: host.dataDir,
    })
    assert.equal(status, 0)
  })
})

describe('svc-agent check', () => {
  test('[AGT-32] exits 0 when renewal is due, 1 when not yet, 2 without an identity, 255 on an error', async () => {
    const calls = hub.requests.length
    await using fresh = await enrolledHost()
    assert.equal((await agent(fresh, ['check'])).status, 1)
    await using due = await enrolledHost(10_000)
    assert.equal((await agent(due, ['check'])).status, 0)
    await using none = await AgentHost.create(hub)
    assert.equal((await agent(none, ['check'])).status, 2)
    await truncate(join(fresh.dataDir, 'identity/agent.crt'))
    assert.equal((await agent(fresh, ['check'])).status, 255)
    assert.equal((await agent(none, ['check'], { SVC_AGENT_POLL_INTERVAL: 'x' })).status, 255)
    assert.equal(hub.requests.length, calls)
  })

  test('[AGV-9] [AGT-19] follows SVC_AGENT_RENEWAL_THRESHOLD, up to a third of the life', async () => {
    await using host = await enrolledHost(10 * 3_600_000)
    const statusWith = async (threshold: string): Promise<number | null> =>
      (await agent(host, ['check'], { SVC_AGENT_RENEWAL_THRESHOLD: threshold })).status
    assert.equal(await statusWith('1h'), 1)
    assert.equal(await statusWith('14d'), 1)
    await using late = await enrolledHost(60_000)
    assert.equal((await agent(late, ['check'], { SVC_AGENT_RENEWAL_THRESHOLD: '1s' })).status, 1)
  })
})

describe('variables of svc-agent rotate', () => {
  test('[AGV-1] [AGV-3] the hub is trusted by SVC_SERVER_CA_PATH, else by identity/ca.pem', async () => {
    await using host = await enrolledHost()
    await using other = await FakeHub.start()
    const otherRoot = join(host.directory, 'other.pem')
    await writeFile(otherRoot, other.ca.rootPem)
    const rotateWith = async (extra: Variables): Promise<Ended> => agent(host, ['rotate'], extra)
    assert.equal((await rotateWith({})).status, 0)
    const refused = await rotateWith({ SVC_SERVER_CA_PATH: otherRoot })
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /svc-agent: error: no answer from https:\/\/127\.0\.0\.1:\d+: /)
    const absent = join(host.directory, 'absent.pem')
    const missingFile = await rotateWith({ SVC_SERVER_CA_PATH: absent })
    assert.equal(missingFile.status, 1)
    assert.ok(
      missingFile.stderr.startsWith(`svc-agent: error: read root CA from ${absent}: not found\n`),
    )
    await writeFile(otherRoot, hub.ca.rootPem)
    assert.equal((await rotateWith({ SVC_SERVER_CA_PATH: otherRoot })).status, 0)
  })

  test('[AGV-2] the mutual TLS port is https always', async () => {
    await using host = await enrolledHost()
    const { status, stderr } = await agent(host, ['rotate'], {
      SVC_SERVER_MTLS_URL: 'http://hub.example:8443',
      SVC_ALLOW_HTTP: '1',
    })
    assert.equal(status, 1)
    assert.match(stderr, /^svc-agent: error: SVC_SERVER_MTLS_URL must be https/)
  })
})
