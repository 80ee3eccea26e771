// A hub and its standby, on two machines of one. docs/protocol.md STB.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startAgentFleet } from '../support/agent-fleet.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { type Ended, runProgram, startProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import type { RunningCa } from '../support/running-ca.ts'
import {
  entryTypes,
  type Machine,
  makeStandbyPair,
  statusOf,
  untilState,
} from '../support/standby-pair.ts'
import { startTestCa } from '../support/test-hub.ts'
import { scrape } from '../support/scrape.ts'
import { openHubFront } from '../support/hub-front.ts'
import { post, send } from '../support/wire-client.ts'

async function doctor(machine: Machine): Promise<string> {
  return (await machine.svc('doctor')).stdout
}

async function stateMetric(machine: Machine): Promise<Readonly<Record<string, number>>> {
  const line = machine
    .logText()
    .split('\n')
    .find((one) => one.includes('"metrics listening"'))
  const { port } = JSON.parse(line ?? '{}') as { port: number }
  const samples = await scrape(`http://127.0.0.1:${port}`)
  const found = samples.filter(({ name }) => name === 'svc_standby_state')
  return Object.fromEntries(found.map(({ labels, value }) => [labels['state'] ?? '', value]))
}

describe('a hub with a standby', () => {
  let ca: RunningCa
  before(async () => {
    ca = await startTestCa()
  })
  after(() => ca[Symbol.asyncDispose]())

  test('[STB-2] [STB-3] svc leaves the vault of a standby alone, and says what is wrong with --from', async () => {
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
    const [, two] = pair.machines
    const used = await two.svc('status')
    assert.equal(
      used.stderr,
      `svc: error: the vault at ${two.vaultRoot} is the copy of a standby\nsvc: hint: use the hub; when the hub is lost, svc standby promote makes this machine the hub\n`,
    )
    for (const command of [['standby', 'init'], ['join']]) {
      const { status, stderr } = await runSvcHere([...command, '--from', '/missing/config.json'], {
        ...two.environment,
        SVC_STANDBY_BIND: '',
        SVC_STANDBY_OF: '',
        SVC_DATABASE_URL: 'postgresql://svc@127.0.0.1:1/none',
      })
      assert.equal(status, 1)
      assert.match(stderr, /^svc: error: --from: ENOENT: no such file or directory/)
    }
  })

  test('[STB-1] [STB-2] [STB-3] [STB-6] [STB-8] [STB-10] [STB-13] [CLI-146] [CLI-147] [CLI-148] [ENV-54] [ENV-56] [STB-15] [STB-14] [STB-16] required: the promoted standby has what was acknowledged, the old hub ends, and becomes the standby', async () => {
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
    const [one, two] = pair.machines
    await two.start('standby')
    assert.equal((await statusOf(two)).state, 'empty')
    await one.start('hub')
    await untilState(one, 'together')
    const host = await enrollHost(one, 'web-1.example.org')
    assert.equal((await statusOf(two)).record, (await statusOf(one)).record)
    const { other } = JSON.parse((await two.svc('standby', 'status', '--json')).stdout)
    assert.equal(other, two.environment['SVC_STANDBY_OF'])
    const [there, here] = await Promise.all([doctor(one), doctor(two)])
    assert.match(there, /^ok +standby +the standby at 127\.0\.0\.1 has every write$/m)
    assert.match(here, /^ok +standby +this machine is the standby of https:\/\/127\.0\.0\.1:\d+, /m)
    assert.match(here, /^skipped +hub +this machine is a standby: ask on the hub$/m)
    const early = await two.svc('standby', 'promote')
    assert.match(early.stderr, /^svc: error: the hub is connected to this standby\n/)
    const used = await two.svc('token', 'list')
    assert.equal(used.status, 1)

    await one.stop('SIGKILL')
    const promoted = await two.svc('standby', 'promote', '--json')
    assert.equal(promoted.status, 0, promoted.stderr)
    assert.equal(promoted.stderr, '')
    await two.becameHub()
    const again = await two.svc('standby', 'promote')
    assert.match(again.stderr, /^svc: error: this machine is the hub\n/)
    const served = await send(
      { ...host.mtls, port: two.ports.mtls },
      { method: 'GET', path: '/v1/manifest' },
    )
    assert.equal(served.status, 200)
    const types = await entryTypes(two)
    assert.ok(types.includes('standby_promoted'))
    assert.ok(types.includes('agent_enrolled'))

    await assert.rejects(one.start('hub'), /the standby was promoted: it is the hub now/)
    await assert.rejects(
      one.start('hub'),
      /the standby of the vault at \S+ was promoted, and is the hub now/,
    )
    await one.becomeStandbyOf(two)
    await one.start('standby')
    await untilState(two, 'together')
    assert.equal((await statusOf(one)).record, (await statusOf(two)).record)
  })

  test('[STB-1] [STB-3] svc-server --standby says of which hub, --check tries it, and no vault of a hub becomes a copy', async () => {
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
    const [one, two] = pair.machines
    const hub = two.environment['SVC_STANDBY_OF'] ?? ''
    const asStandby = { ...two.environment, SVC_STANDBY_OF: '', SVC_STANDBY_BIND: '' }
    const check = (): Promise<Ended> =>
      runProgram('svc-server', ['--check', '--standby', hub], asStandby)
    const { stderr } = await runProgram('svc-server', ['--standby', hub], {
      ...one.environment,
      SVC_STANDBY_BIND: '',
    })
    assert.equal(
      stderr.trimEnd().split('\n').slice(-2).join('\n'),
      `svc-server: error: there is no copy of a standby at ${one.vaultRoot}\nsvc-server: hint: svc standby init --from config.json makes an empty directory that of a standby`,
    )
    const alone = await check()
    assert.equal(alone.status, 0, alone.stdout)
    assert.match(
      alone.stdout,
      /^warning +standby +SVC_STANDBY_OF: https:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/m,
    )
    await one.start('hub')
    const there = await check()
    assert.match(
      there.stdout,
      /^ok +standby +https:\/\/127\.0\.0\.1:\d+ is the hub of this vault$/m,
    )
    const status = await one.svc('status')
    assert.match(status.stdout, /^ {2}the standby lacks writes: no standby is connected$/m)
    const none = await runProgram('svc-server', [], asStandby)
    assert.match(none.stderr, /SVC_STANDBY_OF required/)
    const standby = startProgram('svc-server', ['--standby', hub], asStandby)
    try {
      await untilState(one, 'together')
    } finally {
      standby.kill('SIGTERM')
      await standby.ended
    }
  })

  test('[STB-12] [ENV-55] required: nothing is acknowledged without the standby, and a hub that starts without it serves nobody', async () => {
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
    const [one, two] = pair.machines
    await two.start('standby')
    await one.start('hub')
    await untilState(one, 'together')
    const host = await enrollHost(one, 'web-1.example.org')
    const event = { tipo_evento: 'noted', payload: {}, request_id: 'noted-1' }
    await two.stop('SIGKILL')
    assert.equal((await post(host.mtls, '/v1/events', event)).status, 503)
    await two.start('standby')
    await untilState(one, 'together')
    assert.equal((await post(host.mtls, '/v1/events', event)).status, 200)
    await two.stop('SIGKILL')
    await one.stop('SIGKILL')
    await assert.rejects(
      one.start('hub'),
      /the standby has not what this vault has: no standby is connected/,
    )
    await two.start('standby')
    await one.start('hub')
    assert.equal((await entryTypes(one)).filter((type) => type === 'noted').length, 1)
  })

  test('[MET-33] [STB-9] [STB-17] [STB-11] [STB-20] preferred: the hub goes on alone and brings the standby up; agents refuse it once the standby was promoted', async () => {
    const environment = {
      SVC_STANDBY: 'preferred',
      SVC_SERVER_CN: 'localhost',
      SVC_METRICS_BIND: '127.0.0.1:0',
    }
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment, environment })
    const [one, two] = pair.machines
    await two.start('standby')
    await one.start('hub')
    await untilState(one, 'together')
    await using front = await openHubFront()
    front.leadTo(one.ports)
    await using fleet = await startAgentFleet(
      { ports: front.ports, createToken: (request) => one.createToken(request) },
      ['web-1.example.org'],
    )
    const [agent] = fleet.agents
    assert.ok(agent)
    await two.stop('SIGKILL')
    await one.createToken({ hostname: 'web-2.example.org' })
    assert.equal((await statusOf(one)).state, 'alone')
    assert.deepEqual(await stateMetric(one), { together: 0, alone: 1, apart: 0 })
    for (let at = 0; at < 80; at += 1) await one.createToken({ hostname: `late-${at}.example.org` })
    await two.start('standby')
    await untilState(one, 'together')
    assert.ok(!one.logText().includes('Copy of the vault goes to the standby'.repeat(2)))
    assert.equal((await statusOf(two)).record, (await statusOf(one)).record)
    await waitUntil(
      'a good round',
      async () => (await agent.poll()).problems.length === 0 || undefined,
    )

    await one.stop('SIGKILL')
    const promoted = await two.svc('standby', 'promote')
    assert.match(
      promoted.stderr,
      /SVC_STANDBY=preferred: what it acknowledged while this standby was away is lost/,
    )
    await two.becameHub()
    front.leadTo(two.ports)
    await waitUntil(
      'the new epoch',
      async () => (await entryTypes(two)).includes('log_epoch_adopted') || undefined,
    )
    // The old hub, which cannot ask anybody.
    await one.start('hub', { SVC_STANDBY_BIND: '127.0.0.1:0' })
    front.leadTo(one.ports)
    const { problems } = await agent.poll()
    assert.match(problems.join('\n'), /a hub that was replaced answered: it shows the log/)
    front.leadTo(two.ports)
    await waitUntil(
      'a good round',
      async () => (await agent.poll()).problems.length === 0 || undefined,
    )
    assert.ok(!(await entryTypes(two)).includes('log_alarm'))
    await one.stop('SIGKILL')
    await assert.rejects(one.start('hub'), /the standby was promoted: it is the hub now/)
  })
})
