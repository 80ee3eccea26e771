import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import { HubUnreachableError } from '../hub/request.ts'
import { createHubFollower, type HubFollower } from './follow-hub.ts'
import type { HubStreamReply } from '../hub/hub-stream.ts'
import type { StreamMessage } from '../../platform/parse-event-stream.ts'

const LOG = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

/** What the hub does at each connection, one after the other; then it answers no more. */
type Deed = (identityChange: AbortController, clock: { nowMs: number }) => Promise<HubStreamReply>

interface Told {
  readonly follower: HubFollower
  /** How long was waited between the connections. */
  readonly waits: number[]
  readonly lastEventIds: (string | undefined)[]
  readonly acts: string[]
}

async function follow(deeds: readonly Deed[]): Promise<Told> {
  const waits: number[] = []
  const lastEventIds: (string | undefined)[] = []
  const acts: string[] = []
  const time = { nowMs: 1_000_000 }
  const clock: Clock = {
    now: () => new Date(time.nowMs),
    sleep: async (durationMs) => {
      waits.push(durationMs)
      time.nowMs += durationMs
    },
  }
  let change = new AbortController()
  const left = [...deeds]
  const follower = createHubFollower({
    clock,
    random: () => 0.5,
    log: LOG,
    hub: {
      identityChange: () => {
        if (change.signal.aborted) change = new AbortController()
        return change.signal
      },
      openStream: async (lastEventId) => {
        const deed = left.shift()
        if (deed === undefined) return new Promise(() => undefined)
        lastEventIds.push(lastEventId)
        return deed(change, time)
      },
    },
    onManifest: () => acts.push('manifest'),
    onRotate: () => acts.push('rotate'),
    onCheckpoint: (data) => acts.push(`checkpoint ${data}`),
  })
  void follower.run()
  for (let turn = 0; turn < 200; turn += 1) await nextTurn()
  return { follower, waits, lastEventIds, acts }
}

const message = (event: string, id?: string, data = '{}'): StreamMessage => ({ event, id, data })

/** A stream with these messages, that the hub ends after so long. */
function stream(messages: readonly StreamMessage[], durationMs = 0): Deed {
  return async (_change, time) => ({
    ok: true,
    messages: (async function* () {
      yield* messages
      time.nowMs += durationMs
    })(),
  })
}

function refuse(status: number, code: string, retryAfterMs?: number): Deed {
  const refusal = { ok: false as const, status, code }
  return async () => (retryAfterMs === undefined ? refusal : { ...refusal, retryAfterMs })
}

const unreachable: Deed = () => Promise.reject(new HubUnreachableError('no stream'))

describe('following the hub', () => {
  test('[PSH-14] does what messages say, ignores others, and gives the last id back', async () => {
    const { acts, lastEventIds } = await follow([
      stream([message('manifest', 'a'), message('party', 'b'), message('rotate', 'c')]),
      stream([message('manifest', undefined)]),
      stream([]),
    ])
    assert.deepEqual(acts, ['manifest', 'rotate', 'manifest'])
    assert.deepEqual(lastEventIds, [undefined, 'c', 'c'])
  })

  test('[CHN-38] hands on what the hub has signed, which has no id of its own', async () => {
    const { acts, lastEventIds } = await follow([
      stream([message('manifest', 'a'), message('checkpoint', 'a', '{"checkpoint":"eA=="}')]),
      stream([]),
    ])
    assert.deepEqual(acts, ['manifest', 'checkpoint {"checkpoint":"eA=="}'])
    assert.deepEqual(lastEventIds, [undefined, 'a'])
  })

  test('[PSH-14] comes back later and later to a hub that does not hold it', async () => {
    const { waits, follower } = await follow([unreachable, stream([]), unreachable, unreachable])
    assert.deepEqual(waits, [750, 1500, 3000, 6000])
    const { state, since, problem } = follower.state
    assert.deepEqual([state, since.getTime(), problem], ['down', 1_000_000 + 750, 'no stream'])
  })

  test('[PSH-14] comes back soon to one that held it long', async () => {
    const { waits } = await follow([unreachable, unreachable, stream([], 60_000), unreachable])
    assert.deepEqual(waits, [750, 1500, 750, 1500])
  })

  test('[PSH-14] waits for as long as the hub says', async () => {
    const { waits } = await follow([
      refuse(503, 'unavailable', 40_000),
      refuse(401, 'agent_revoked'),
    ])
    assert.deepEqual(waits, [40_000, 1500])
  })

  test('[PSH-14] goes on with another identity at once', async () => {
    const { waits, lastEventIds, follower } = await follow([
      unreachable,
      async (change) => {
        change.abort()
        throw new HubUnreachableError('aborted')
      },
      async () => ({
        ok: true,
        messages: {
          [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
        },
      }),
    ])
    assert.deepEqual(waits, [750])
    assert.equal(lastEventIds.length, 3)
    assert.equal(follower.state.state, 'up')
  })

  test('[PSH-17] asks a hub without streams again in an hour, and anything else that answers 404 sooner', async () => {
    const { waits, follower } = await follow([
      refuse(404, 'unknown'),
      refuse(404, 'route_not_found'),
    ])
    assert.deepEqual(waits.slice(0, 1), [750])
    const total = waits.slice(1).reduce((sum, ms) => sum + ms, 0)
    assert.equal(total, 3_600_000)
    assert.equal(follower.state.state, 'not_offered')
  })
})
