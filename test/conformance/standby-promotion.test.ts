// A standby that becomes the hub: while the hub is there, killed on the way, with checkpoints outside of the vault, and across versions.
// docs/protocol.md STB-14 to STB-17, JRN-14.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { MIGRATIONS } from '../../src/hub/store/sqlite/migrations.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createSeededRandom, seedFrom } from '../simulation/seeded-random.ts'
import { startAgentFleet } from '../support/agent-fleet.ts'
import { type EnrolledHost, enrollHost } from '../support/enrolled-host.ts'
import { openHubFront } from '../support/hub-front.ts'
import { makeNextVersion } from '../support/next-version.ts'
import { runProgram, waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import {
  entryTypes,
  type Machine,
  makeStandbyPair,
  readLog,
  statusOf,
  untilState,
} from '../support/standby-pair.ts'
import { startTestCa } from '../support/test-hub.ts'
import { post } from '../support/wire-client.ts'

const SEED = seedFrom(process.env['PROMOTIONS_SEED'])
/** About as long as a promotion takes. */
const KILLED_MS_MAX = 400
const NOW = MIGRATIONS.length
const ADDS = { sql: 'ALTER TABLE agentes ADD COLUMN sala TEXT;', readableFrom: NOW }
/** No program of before can go on after it. */
const TAKES_AWAY = { sql: 'ALTER TABLE agentes DROP COLUMN sala;', readableFrom: NOW + 2 }

interface Load {
  readonly acknowledged: readonly string[]
  stop(): Promise<void>
}

/** Events, one after the other on each of several connections, until it is stopped. */
function sendEvents({ mtls }: EnrolledHost): Load {
  const acknowledged: string[] = []
  const stopping = new AbortController()
  const send = async (name: string): Promise<void> => {
    for (let count = 0; !stopping.signal.aborted; count += 1) {
      const request_id = `${name}-${count}`
      const event = { tipo_evento: 'noted', payload: {}, request_id }
      try {
        if ((await post(mtls, '/v1/events', event)).status === 200) acknowledged.push(request_id)
      } catch {
        // The hub ends.
        return
      }
    }
  }
  const sending = ['a', 'b', 'c', 'd'].map(send)
  return {
    acknowledged,
    stop: async () => {
      stopping.abort()
      await Promise.all(sending)
    },
  }
}

async function assertHas(machine: Machine, acknowledged: readonly string[]): Promise<void> {
  const log = await readLog(machine)
  const there = new Set(log.map(({ request_id }) => request_id))
  assert.deepEqual(
    acknowledged.filter((one) => !there.has(one)),
    [],
  )
}

describe(`a promotion [seed ${SEED}]`, () => {
  let ca: RunningCa
  let directory: string
  before(async () => {
    ca = await startTestCa()
    directory = await mkdtemp(join(tmpdir(), 'promotion-'))
  })
  after(async () => {
    await rm(directory, { recursive: true })
    await ca[Symbol.asyncDispose]()
  })

  test('[STB-15] [STB-16] [STB-17] with --force while the hub is connected and busy: it ends, and nothing is lost that it acknowledged', async (context) => {
    // On a share that both of them have.
    const checkpoints = join(directory, 'checkpoints')
    await mkdir(checkpoints)
    const environment = { SVC_CHECKPOINT_PATH: checkpoints }
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment, environment })
    const [one, two] = pair.machines
    await two.start('standby')
    await one.start('hub')
    await untilState(one, 'together')
    const host = await enrollHost(one, 'web-1.example.org')
    const load = sendEvents(host)
    await waitUntil('some events', () => load.acknowledged.length > 50 || undefined)
    const promoted = await two.svc('standby', 'promote', '--force')
    assert.equal(promoted.status, 0, promoted.stderr)
    await load.stop()
    const ended = await one.ended()
    assert.equal(ended.status, 1)
    assert.match(ended.stderr, /svc-server: error: the standby was promoted: it is the hub now\n/)
    await two.becameHub()
    await assertHas(two, load.acknowledged)
    context.diagnostic(`${load.acknowledged.length} events acknowledged`)
    await enrollHost(two, 'web-2.example.org')
    await assert.rejects(one.start('hub'), /was promoted, and is the hub now/)
    // What the old hub left outside of the vault is nothing that is held against it.
    await two.stop()
    await two.start('hub')
    await assertHas(two, load.acknowledged)
  })

  test('[STB-14] that is killed at any moment leaves the standby or the hub, with everything', async (context) => {
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
    const random = createSeededRandom(SEED)
    let [hub, standby]: readonly [Machine, Machine] = pair.machines
    await standby.start('standby')
    await hub.start('hub')
    const left: string[] = []
    for (let time = 0; time < 3; time += 1) {
      await untilState(hub, 'together')
      await hub.createToken({ hostname: `web-${time}.example.org` })
      const { record } = await statusOf(hub)
      await hub.stop('SIGKILL')
      await waitUntil('the hub to be missed', async () => {
        const { state } = await statusOf(standby)
        return state === 'silent' || undefined
      })
      const promoting = standby.svc('standby', 'promote')
      await systemClock.sleep(KILLED_MS_MAX * random())
      await Promise.all([promoting.catch(() => undefined), standby.stop('SIGKILL')])
      await standby.start('standby')
      const isHub = standby.logText().includes('"vault unsealed"')
      left.push(isHub ? 'hub' : 'standby')
      if (!isHub) {
        assert.equal((await statusOf(standby)).record, record)
        const { status, stderr } = await standby.svc('standby', 'promote')
        assert.equal(status, 0, stderr)
      }
      await standby.becameHub()
      const types = await entryTypes(standby)
      assert.equal(types.filter((type) => type === 'standby_promoted').length, time + 1)
      assert.equal(types.filter((type) => type === 'token_created').length, time + 1)
      ;[hub, standby] = [standby, hub]
      await standby.becomeStandbyOf(hub)
      await standby.start('standby')
    }
    context.diagnostic(`after the kill it was: ${left.join(', ')}`)
  })

  test('[STB-17] [CHN-24] with SVC_CHECKPOINT_PATH: the promoted hub starts again, and no agent raises an alarm', async () => {
    const checkpoints = join(directory, 'shared')
    await mkdir(checkpoints)
    const environment = { SVC_CHECKPOINT_PATH: checkpoints, SVC_SERVER_CN: 'localhost' }
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
    const goodRound = (): Promise<true> =>
      waitUntil('a good round', async () => (await agent.poll()).problems.length === 0 || undefined)
    await goodRound()
    await one.stop('SIGKILL')
    await two.svc('standby', 'promote', '--force')
    await two.becameHub()
    front.leadTo(two.ports)
    await waitUntil(
      'the new epoch',
      async () => (await entryTypes(two)).includes('log_epoch_adopted') || undefined,
    )
    await two.stop()
    await two.start('hub')
    front.leadTo(two.ports)
    await goodRound()
    const types = await entryTypes(two)
    assert.ok(!types.includes('log_alarm'))
    assert.ok(!types.includes('loss_accepted'))
  })

  test('[STB-2] of a machine whose standby.json is damaged is none: neither svc-server nor svc opens the vault', async () => {
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
    const [one] = pair.machines
    const path = join(one.vaultRoot, 'standby.json')
    await writeFile(path, '{"role":"hu')
    const hub = await runProgram('svc-server', [], one.environment)
    const words = `error: ${path} is damaged\nHINT: if this machine is the hub, remove the file; if not, make the standby again\n`
    assert.equal(hub.status, 1)
    assert.ok(
      hub.stderr.endsWith(`svc-server: ${words.replace('HINT', 'svc-server: hint')}`),
      hub.stderr,
    )
    const { status, stderr } = await one.svc('status')
    assert.equal(status, 1)
    assert.equal(stderr, `svc: ${words.replace('HINT', 'svc: hint')}`)
  })

  test('[JRN-14] of the standby that is upgraded first: it runs the step of the tables that the hub takes then', async () => {
    await using pair = await makeStandbyPair({ caEnvironment: ca.environment })
    const [one, two] = pair.machines
    const next = join(await makeNextVersion(join(directory, 'next'), [ADDS]), 'svc-server')
    const afterNext = join(
      await makeNextVersion(join(directory, 'after-next'), [ADDS, TAKES_AWAY]),
      'svc-server',
    )
    const FORWARD = 'Tables of the shared vault brought forward'
    await two.start('standby')
    await one.start('hub')
    await untilState(one, 'together')
    await enrollHost(one, 'web-1.example.org')
    // What only adds, a standby of before runs too.
    await one.stop()
    await one.start('hub', {}, next)
    assert.ok(one.logText().includes(FORWARD))
    await untilState(one, 'together')
    // A step that the standby could not go on after stops the hub, and nothing has changed.
    await one.stop()
    await assert.rejects(one.start('hub', {}, afterNext), /this one knows formats up to \d+/)
    await two.stop()
    await two.start('standby', {}, afterNext)
    await one.start('hub', {}, afterNext)
    assert.ok(one.logText().includes(FORWARD))
    await enrollHost(one, 'web-2.example.org')
    await one.stop('SIGKILL')
    const promoted = await two.svc('standby', 'promote', '--force')
    assert.equal(promoted.status, 0, promoted.stderr)
    await two.becameHub()
    await enrollHost(two, 'web-3.example.org')
  })
})
