import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeHub } from '../../../test/fakes/hub-server.ts'
import { AgentHost, eventually, manifestEntry } from '../../../test/support/agent-host.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { pollOnce, type PollState } from '../round/poll.ts'
import type { HookFailureReport } from '../hub/wire.ts'
import { HookLane } from './hook-lane.ts'
import type { HookInvocation, HookRunner } from './hook-runner.ts'

const BESIDE = { hooks: 'beside' } as const

/** Each hook runs until the test lets it end. */
class HeldHooks implements HookRunner {
  readonly running: {
    invocation: HookInvocation
    end: (failures?: HookFailureReport[]) => void
  }[] = []
  invocationCount = 0

  run(invocation: HookInvocation): Promise<HookFailureReport[]> {
    this.invocationCount += 1
    return new Promise((resolve) => {
      const held = {
        invocation,
        end: (failures: HookFailureReport[] = []) => {
          this.running.splice(this.running.indexOf(held), 1)
          resolve(failures)
        },
      }
      this.running.push(held)
    })
  }

  names(): string[] {
    return this.running.map(({ invocation }) => invocation.name).sort()
  }
}

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
  readonly hooks: HeldHooks
  readonly state: PollState
}

async function setUp(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll()
  const hooks = new HeldHooks()
  const state = await host.openAgent(hooks)
  return { hub, host, hooks, state, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

describe('hooks beside the rounds', () => {
  test('[HOK-7] a hook that hangs holds up neither the next round nor the hooks of others', async () => {
    await using fixture = await setUp()
    const { hub, hooks, state } = fixture
    hub.entregas = [manifestEntry({ nome: 'hangs' })]
    await pollOnce(state, BESIDE)
    await eventually('the first hook', () => hooks.names().length === 1)
    hub.entregas = [manifestEntry({ nome: 'other' })]
    await pollOnce(state, BESIDE)
    await eventually('the second hook', () => hooks.names().length === 2)
    assert.deepEqual(hooks.names(), ['hangs', 'other'])
    await pollOnce(state, BESIDE)
    assert.equal(hooks.invocationCount, 2)
    hooks.running[1]?.end()
    hooks.running[0]?.end()
    assert.deepEqual(await state.deliveries.hooks.settled(), [])
    assert.deepEqual(
      state.processed.list().map(({ progress }) => progress),
      ['done', 'done'],
    )
  })

  test('[HOK-5] [HOK-7] a version installed while the hook of the one before runs gets a run of its own, afterwards', async () => {
    await using fixture = await setUp()
    const { hub, host, hooks, state } = fixture
    hub.entregas = [manifestEntry()]
    hub.lifetimeMs = 3_600_000
    await pollOnce(state, BESIDE)
    await eventually('the first hook', () => hooks.names().length === 1)
    const [first] = state.processed.list()
    host.clock.offsetMs = 3_000_000
    hub.clockOffsetMs = 3_000_000
    await pollOnce(state, BESIDE)
    const [second] = state.processed.list()
    assert.notEqual(second?.mark, first?.mark)
    assert.equal(hooks.invocationCount, 1)
    hooks.running[0]?.end()
    await eventually('the second hook', () => hooks.invocationCount === 2)
    assert.equal(hooks.running[0]?.invocation.environment['SVC_SERIAL'], second?.mark)
    assert.equal(state.processed.list()[0]?.progress, 'event_queued')
    hooks.running[0]?.end()
    await state.deliveries.hooks.settled()
    assert.equal(state.processed.list()[0]?.progress, 'done')
  })

  test('[HOK-5] a restart while a hook runs runs it again', async () => {
    await using fixture = await setUp()
    const { hub, host, hooks, state } = fixture
    hub.entregas = [manifestEntry()]
    await pollOnce(state, BESIDE)
    await eventually('the hook', () => hooks.names().length === 1)
    await pollOnce(await host.openAgent())
    assert.deepEqual(
      host.hooks.invocations.map(({ name }) => name),
      ['site'],
    )
  })

  test('[HOK-7] no hook runs before the certificate is valid', async () => {
    await using fixture = await setUp()
    const { hub, host } = fixture
    hub.entregas = [manifestEntry()]
    hub.backdateMs = -120_000
    const reopened = await host.openAgent()
    await pollOnce(reopened)
    assert.deepEqual(host.hooks.invocations, [])
    assert.equal(hub.eventTypes().includes('entrega_instalada'), true)
    host.clock.offsetMs = 121_000
    hub.clockOffsetMs = 121_000
    await pollOnce(reopened)
    assert.equal(host.hooks.invocations.length, 1)
  })
})

/** Each look at it takes a millisecond, and who sleeps wakes two too early. */
function createHastyClock(): Clock {
  let nowMs = Date.now()
  return {
    now: () => {
      nowMs += 1
      return new Date(nowMs)
    },
    sleep: async (durationMs, signal) => {
      await systemClock.sleep(1, signal)
      nowMs += Math.max(durationMs - 2, 0)
    },
  }
}

for (const [kind, clock] of [
  ['the system’s clock', systemClock],
  ['a clock that wakes it too early', createHastyClock()],
] as const) {
  test(`[HOK-6] a lane that drives itself tries a failing hook again without a round, by ${kind}`, async () => {
    await using fixture = await setUp()
    const { hub, host, hooks, state } = fixture
    hub.entregas = [manifestEntry()]
    await pollOnce(state, BESIDE)
    await eventually('the hook', () => hooks.names().length === 1)
    hooks.running[0]?.end()
    await state.deliveries.hooks.settled()
    const [record] = state.processed.list()
    assert.ok(record)
    await state.processed.put({ ...record, progress: 'event_queued' })
    const lane = new HookLane({
      outDir: host.paths.outDir,
      caPath: '/ca.pem',
      clock,
      hubTime: clock,
      random: () => 0,
      processed: state.processed,
      outbox: state.session.outbox,
      hookRunner: hooks,
      hookLog: state.log,
    })
    lane.driveItself()
    lane.start('web-1')
    await eventually('the first try', () => hooks.running.length === 1)
    hooks.running[0]?.end([{ hook: 'x', reason: 'exit status 1', exitCode: 1, durationMs: 1 }])
    await eventually('the second try', () => hooks.running.length === 1)
    hooks.running[0]?.end()
    await lane.settled()
    assert.equal(state.processed.list()[0]?.progress, 'done')
    assert.equal(
      state.session.outbox.listWaiting().filter(({ type }) => type === 'hook_falhou').length,
      1,
    )
  })
}
