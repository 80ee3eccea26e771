import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SvcError, UserError } from '../../../platform/errors.ts'
import { HubBusy } from '../../doors/hub-busy.ts'
import { actOnHosts, summarize } from './act-on-hosts.ts'

const hostsOf = (count: number): { name: string }[] =>
  Array.from({ length: count }, (_, index) => ({ name: `web-${index}` }))

/** Wakes sleepers at once, and remembers how long they wanted to sleep. */
function createWorld() {
  let nowMs = 0
  const slept: number[] = []
  const clock = {
    now: () => new Date(nowMs),
    sleep: async (durationMs: number) => {
      slept.push(durationMs)
      nowMs += durationMs
    },
  }
  const told: string[] = []
  let closedAfter = Number.POSITIVE_INFINITY
  const reports = {
    done: async (host: string, result: string) => void told.push(`${host} ${result}`),
    failed: async ({ host, error }: { host: string; error: SvcError }) =>
      void told.push(`${host} failed: ${error.message}`),
    progress: () => undefined,
    isClosed: () => told.length >= closedAfter,
  }
  return {
    clock,
    slept,
    told,
    reports,
    closeAfter: (count: number) => {
      closedAfter = count
    },
  }
}

describe('[CLI-61] an act for many hosts', () => {
  test('asks for four at a time, and for each once', async () => {
    const { clock, told, reports } = createWorld()
    let underWay = 0
    let most = 0
    const act = async (): Promise<string> => {
      most = Math.max(most, (underWay += 1))
      await new Promise((resolve) => setImmediate(resolve))
      underWay -= 1
      return 'ok'
    }
    const counts = await actOnHosts(hostsOf(50), act, reports, { clock })
    assert.deepEqual(counts, { done: 50, failed: 0, stoppedBy: undefined })
    assert.equal(most, 4)
    assert.equal(new Set(told).size, 50)
    assert.equal(summarize(50, counts, 'again'), '50 of 50 hosts done')
  })

  test('stops at what would lose the outcome of each host', async () => {
    const { clock, reports } = createWorld()
    const error = new UserError('file_unwritable', '--out: cannot write tokens: ENOSPC')
    const counts = await actOnHosts(hostsOf(9), () => Promise.reject(error), reports, { clock })
    assert.deepEqual(counts, { done: 0, failed: 0, stoppedBy: error })
    assert.throws(() => summarize(9, counts, 'again'), {
      message: '0 of 9 hosts done, 9 not tried: --out: cannot write tokens: ENOSPC',
    })
  })

  test('goes on after a host that fails, and says how many did', async () => {
    const { clock, told, reports } = createWorld()
    const act = async ({ name }: { name: string }): Promise<string> => {
      if (name === 'web-1') throw new UserError('agent_not_found', 'no agent web-1')
      return 'ok'
    }
    const counts = await actOnHosts(hostsOf(3), act, reports, { clock })
    assert.deepEqual(told.sort(), ['web-0 ok', 'web-1 failed: no agent web-1', 'web-2 ok'])
    assert.throws(() => summarize(3, counts, 'run it again'), {
      code: 'hosts_left',
      message: '2 of 3 hosts done, 1 failed',
      hint: 'run it again',
    })
  })

  test('waits as a busy hub asks, and gives the host up at the fifth no', async () => {
    const { clock, slept, told, reports } = createWorld()
    let asked = 0
    const act = async ({ name }: { name: string }): Promise<string> => {
      asked += 1
      if (name === 'web-0' && asked > 2) return 'ok'
      throw new HubBusy('unavailable', 'too much to do', {
        retryAfter: name === 'web-0' ? '7' : '',
      })
    }
    const [first = { name: '' }] = hostsOf(1)
    await actOnHosts([first], act, reports, { clock })
    assert.deepEqual([slept, told], [[7000, 7000], ['web-0 ok']])
    slept.length = 0
    const counts = await actOnHosts([{ name: 'other' }], act, reports, { clock })
    assert.deepEqual(slept, [1000, 1000, 1000, 1000])
    assert.deepEqual([counts.failed, counts.stoppedBy], [1, undefined])
  })

  test('stops when the hub is away, or refuses the caller: each host would fail so', async () => {
    for (const [code, waits] of [
      ['hub_unreachable', [1000, 2000, 4000, 8000]],
      ['admin_token_invalid', []],
    ] as const) {
      const { clock, slept, told, reports } = createWorld()
      const act = async ({ name }: { name: string }): Promise<string> => {
        if (name === 'web-0') return 'ok'
        throw new SvcError(code, 'it is gone', { hint: 'look' })
      }
      const hosts = hostsOf(2)
      const counts = await actOnHosts(hosts, act, reports, { clock })
      assert.deepEqual(slept, waits)
      assert.deepEqual(told, ['web-0 ok'])
      assert.throws(() => summarize(2000, counts, 'run it again'), {
        message: '1 of 2000 hosts done, 1999 not tried: it is gone',
        hint: 'look; then run it again',
      })
    }
  })

  test('begins no host when nobody reads what it says', async () => {
    const world = createWorld()
    world.closeAfter(10)
    const { clock, told, reports } = world
    const counts = await actOnHosts(hostsOf(1000), async () => 'ok', reports, { clock })
    assert.ok(counts.done < 20, `${counts.done}`)
    assert.equal(told.length, counts.done)
  })

  test('begins no host when it is interrupted, ends those under way, and counts both', async () => {
    const { clock, told, reports } = createWorld()
    const ending = new AbortController()
    const act = async ({ name }: { name: string }): Promise<string> => {
      if (name === 'web-9') ending.abort()
      await new Promise((resolve) => setImmediate(resolve))
      return 'ok'
    }
    const pace = { clock, ending: ending.signal }
    const counts = await actOnHosts(hostsOf(1000), act, reports, pace)
    assert.ok(counts.done >= 10 && counts.done < 20, `${counts.done}`)
    assert.deepEqual([counts.failed, told.length], [0, counts.done])
    assert.throws(() => summarize(1000, counts, 'run it again'), {
      code: 'hosts_left',
      message: `${counts.done} of 1000 hosts done, ${1000 - counts.done} not tried: interrupted`,
      hint: 'run it again',
    })
  })

  test('waits for no busy hub when it is interrupted', async () => {
    const { clock, slept, reports } = createWorld()
    const ending = new AbortController()
    const act = async (): Promise<string> => {
      ending.abort()
      throw new HubBusy('rate_limited', 'busy')
    }
    const counts = await actOnHosts(hostsOf(9), act, reports, { clock, ending: ending.signal })
    assert.deepEqual([counts.done, counts.failed], [0, 0])
    assert.ok(slept.length <= 4, `${slept.length}`)
  })

  test('keeps its pace', async () => {
    const { clock, slept, reports } = createWorld()
    await actOnHosts(hostsOf(101), async () => 'ok', reports, { clock, perSecond: 50 })
    assert.ok(clock.now().getTime() >= 2000, `${clock.now().getTime()} ms`)
    assert.ok(slept.length > 0)
  })

  test('begins no host whose turn comes when it is interrupted, and waits for no turn any more', async () => {
    const { clock, told, reports } = createWorld()
    const ending = new AbortController()
    const held = {
      ...clock,
      // All but the first wait for their turn; nothing but the interruption wakes them.
      sleep: (_durationMs: number, signal?: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          assert.equal(signal, ending.signal)
          signal?.addEventListener('abort', () => reject(new Error('aborted')))
          setImmediate(() => ending.abort())
        }),
    }
    const pace = { clock: held, perSecond: 50, ending: ending.signal }
    const counts = await actOnHosts(hostsOf(9), async () => 'ok', reports, pace)
    assert.deepEqual(told, ['web-0 ok'])
    assert.throws(() => summarize(9, counts, 'run it again'), {
      message: '1 of 9 hosts done, 8 not tried: interrupted',
    })
  })

  test('begins no host whose turn comes when one has stopped them all', async () => {
    const { clock, reports } = createWorld()
    const begun: string[] = []
    const act = ({ name }: { name: string }): Promise<string> => {
      begun.push(name)
      return Promise.reject(new SvcError('admin_token_invalid', 'it is revoked'))
    }
    const later = {
      ...clock,
      sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
    }
    await actOnHosts(hostsOf(9), act, reports, { clock: later, perSecond: 50 })
    assert.deepEqual(begun, ['web-0'])
  })

  test('ends with a bug of ours', async () => {
    const { clock, reports } = createWorld()
    const act = () => Promise.reject(new TypeError('a bug'))
    await assert.rejects(actOnHosts(hostsOf(3), act, reports, { clock }), /a bug/)
  })
})
