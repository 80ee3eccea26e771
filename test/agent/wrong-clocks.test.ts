// Hosts whose clock is wrong, and a hub whose clock is set: what is due, expired or valid is so by the hub's time.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, manifestEntry } from '../support/agent-host.ts'
import { requireIdentity } from '../../src/agent/identity/identity.ts'
import { pollOnce, type PollState } from '../../src/agent/round/poll.ts'
import { rotateAndReport } from '../../src/agent/identity/session.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** No port of this machine: whoever asks there is refused at once. */
const CLOSED_PORT = 'http://127.0.0.1:1'

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
  identitySerial(): Promise<string>
}

async function setUp(identityLifeMs = DAY): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll(identityLifeMs)
  return {
    hub,
    host,
    identitySerial: async () => (await requireIdentity(host.paths.identityDir)).leaf.serial,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Rounds a little over a minute apart; the problems of all of them. */
async function minutes({ host }: Fixture, state: PollState, count: number): Promise<string[]> {
  const problems: string[] = []
  for (let minute = 0; minute < count; minute += 1) {
    problems.push(...(await pollOnce(state)).problems)
    host.clock.offsetMs += 61_000
  }
  return problems
}

/** For hub and host alike. */
function passTime({ hub, host }: Fixture, durationMs: number): void {
  hub.clockOffsetMs += durationMs
  host.clock.offsetMs += durationMs
}

describe('a host whose clock is wrong', () => {
  const offsets: [what: string, offsetMs: number][] = [
    ['ahead by five sixths of a life', 20 * HOUR],
    ['ahead by two lives', 48 * HOUR],
    ['behind by an hour', -HOUR],
    ['behind by two lives', -48 * HOUR],
  ]
  for (const [what, offsetMs] of offsets) {
    test(`[REC-3] [AGT-41] [HOK-7] ${what}: neither renews nor recovers what the hub sees as new`, async () => {
      await using fixture = await setUp()
      const { hub, host } = fixture
      const serial = await fixture.identitySerial()
      host.clock.offsetMs = offsetMs
      hub.entregas = [manifestEntry()]
      const state = await host.openAgent()
      assert.deepEqual(await minutes(fixture, state, 5), [])
      assert.equal(await fixture.identitySerial(), serial)
      assert.deepEqual(hub.requestsTo('recover'), [])
      assert.equal(hub.requestsTo('issue').length, 1)
      assert.equal(host.hooks.invocations.length, 1)
    })

    test(`[AGT-41] ${what}: renews identity and delivery once each when it is time for the hub`, async () => {
      await using fixture = await setUp()
      const { hub, host } = fixture
      host.clock.offsetMs = offsetMs
      hub.entregas = [manifestEntry()]
      const state = await host.openAgent()
      await pollOnce(state)
      const serial = await fixture.identitySerial()
      // What is issued then must be valid for the fake hub's TLS as well, which goes by real time.
      hub.backdateMs = DAY
      hub.lifetimeMs = 2 * DAY
      passTime(fixture, 20 * HOUR)
      assert.deepEqual(await minutes(fixture, state, 5), [])
      assert.notEqual(await fixture.identitySerial(), serial)
      assert.deepEqual(hub.requestsTo('recover'), [])
      assert.equal(hub.requestsTo('issue').length, 3)
      if (offsetMs > 0) assert.equal(host.hooks.invocations.length, 2)
    })
  }

  test('[REC-8] right, at a hub whose clock was ahead: an identity from that time is recovered at once', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    hub.clockOffsetMs = 2 * HOUR
    const state = await host.openAgent()
    await rotateAndReport(state.session)
    const serial = await fixture.identitySerial()
    hub.clockOffsetMs = 0
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.notEqual(await fixture.identitySerial(), serial)
    assert.equal(hub.requestsTo('recover').length, 1)
    assert.equal(hub.requestsTo('manifest').length, 1)
  })

  test('[REC-3] ahead by two lives: rotate renews, and does not recover', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    host.clock.offsetMs = 48 * HOUR
    const { session } = await host.openAgent()
    await rotateAndReport(session)
    assert.deepEqual(hub.requestsTo('recover'), [])
    assert.equal(hub.requestsTo('issue').length, 1)
  })

  test('[AGT-41] behind by two lives: the only round of its process renews what is due for the hub', async () => {
    await using fixture = await setUp(30 * MINUTE)
    const { hub, host } = fixture
    hub.clockOffsetMs = 25 * MINUTE
    hub.backdateMs = HOUR
    host.clock.offsetMs = -HOUR
    const serial = await fixture.identitySerial()
    assert.deepEqual((await pollOnce(await host.openAgent())).problems, [])
    assert.notEqual(await fixture.identitySerial(), serial)
    assert.equal(hub.requestsTo('issue').length, 1)
  })

  test('[REC-3] that is set by two lives between two rounds: the hub is asked before anything is decided', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    hub.entregas = [manifestEntry()]
    const state = await host.openAgent()
    for (const stepMs of [48 * HOUR, -96 * HOUR, 48 * HOUR]) {
      assert.deepEqual(await minutes(fixture, state, 2), [])
      host.clock.offsetMs += stepMs
    }
    assert.deepEqual(await minutes(fixture, state, 2), [])
    assert.deepEqual(hub.requestsTo('recover'), [])
    assert.equal(hub.requestsTo('issue').length, 1)
  })
})

describe('a hub that has not said what time it is', () => {
  test('[REC-3] a host that starts ahead while the hub is away recovers nothing, then or later', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    const { enrollUrl } = hub
    hub.enrollUrl = CLOSED_PORT
    host.clock.offsetMs = 48 * HOUR
    hub.misbehave('manifest', { kind: 'cut-before' })
    const state = await host.openAgent()
    const result = await pollOnce(state)
    assert.equal(result.hasManifest, false)
    const left = await readdir(host.paths.identityDir)
    assert.equal(left.includes('pending-recovery'), false)
    host.clock.offsetMs += 10 * MINUTE
    hub.enrollUrl = enrollUrl
    const restarted = await host.openAgent()
    assert.deepEqual(await minutes(fixture, restarted, 3), [])
    assert.deepEqual(hub.requestsTo('recover'), [])
    assert.deepEqual(hub.requestsTo('issue'), [])
  })

  test('[REC-3] a host that is ahead and cannot reach the enroll port goes on with the other one', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    hub.enrollUrl = CLOSED_PORT
    host.clock.offsetMs = 48 * HOUR
    hub.entregas = [manifestEntry()]
    const state = await host.openAgent()
    assert.equal((await pollOnce(state)).hasManifest, true)
    assert.deepEqual(await minutes(fixture, state, 3), [])
    assert.deepEqual(hub.requestsTo('recover'), [])
    assert.equal(hub.requestsTo('issue').length, 1)
  })

  for (const [isDue, minutesLeft] of [
    [true, 0.3],
    [false, 50],
  ] as const) {
    test(`[AGT-41] a host that cannot reach the enroll port and thinks it is time renews in its first round ${isDue ? 'if it is' : 'only if it is'}`, async () => {
      await using fixture = await setUp(minutesLeft * MINUTE)
      const { hub, host } = fixture
      hub.enrollUrl = CLOSED_PORT
      host.clock.offsetMs = (minutesLeft - 0.1) * MINUTE
      const { problems } = await pollOnce(await host.openAgent())
      assert.deepEqual(problems, [])
      assert.equal(hub.requestsTo('issue').length, isDue ? 1 : 0)
    })
  }
})

describe('a hub whose clock is set', () => {
  for (const jumpMs of [2 * HOUR, -2 * HOUR]) {
    test(`[AGT-41] by ${jumpMs / HOUR} h and back: what that makes due is renewed once, and nothing twice`, async () => {
      // Due after the jump whatever the spread of its serial.
      await using fixture = await setUp(2.75 * HOUR)
      const { hub, host } = fixture
      // Valid by real time, too, with three hours left when they are issued.
      hub.backdateMs = 3 * HOUR
      hub.lifetimeMs = 6 * HOUR
      hub.entregas = [manifestEntry()]
      const state = await host.openAgent()
      assert.deepEqual(await minutes(fixture, state, 2), [])
      passTime(fixture, 5 * MINUTE)
      hub.clockOffsetMs += jumpMs
      assert.deepEqual(await minutes(fixture, state, 5), [])
      const renewed = jumpMs > 0 ? 2 : 0
      assert.equal(hub.requestsTo('issue').length, 1 + renewed)
      hub.clockOffsetMs -= jumpMs
      assert.deepEqual(await minutes(fixture, state, 5), [])
      assert.equal(hub.requestsTo('issue').length, 1 + renewed)
      assert.deepEqual(hub.requestsTo('recover'), [])
    })
  }

  test('[REC-3] by two lives, while its door goes on opening: the identity is renewed, and not recovered', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    hub.clockOffsetMs = 48 * HOUR
    // Valid by real time, too.
    hub.backdateMs = 49 * HOUR
    hub.lifetimeMs = 6 * DAY
    const serial = await fixture.identitySerial()
    assert.deepEqual(await minutes(fixture, await host.openAgent(), 5), [])
    assert.notEqual(await fixture.identitySerial(), serial)
    assert.equal(hub.requestsTo('issue').length, 1)
    assert.deepEqual(hub.requestsTo('recover'), [])
  })
})

describe('a certificate that was mostly over when it was issued', () => {
  test('[AGT-42] is renewed when a third of what was left is over, and not at once', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    hub.entregas = [manifestEntry()]
    hub.lifetimeMs = 24 * HOUR
    hub.backdateMs = 23 * HOUR
    const state = await host.openAgent()
    await rotateAndReport(state.session)
    assert.deepEqual(await minutes(fixture, state, 5), [])
    assert.equal(hub.requestsTo('issue').length, 2)
    passTime(fixture, 25 * MINUTE)
    assert.deepEqual(await minutes(fixture, state, 5), [])
    assert.equal(hub.requestsTo('issue').length, 4)
    assert.deepEqual(hub.requestsTo('recover'), [])
  })
})
