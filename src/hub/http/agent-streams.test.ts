import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import type { Agent } from '../domain/agent.ts'
import type { AgentNews } from '../service/agent/read-agent-news.ts'
import { newAgent } from '../../../test/store/store-samples.ts'
import { type AgentStreams, createAgentStreams, type StreamConnection } from './agent-streams.ts'

const LOG = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

/** Time passes when a test says so. */
class SteppedClock implements Clock {
  #wake: (() => void) | undefined
  now(): Date {
    return new Date(0)
  }
  sleep(_durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  async beats(count: number): Promise<void> {
    for (let beat = 0; beat < count; beat += 1) {
      this.#wake?.()
      await settle()
    }
  }
}

class Connection implements StreamConnection {
  text = ''
  bufferedBytes = 0
  hasEnded = false
  write(text: string): void {
    assert.equal(this.hasEnded, false, 'nothing is written after the end')
    this.text += text
  }
  end(): void {
    this.hasEnded = true
  }
  onClose(): void {}
}

interface Setting {
  checkpoint: string | undefined
  readonly clock: SteppedClock
  readonly streams: AgentStreams
  news: AgentNews
  readonly stop: () => void
}

function start(): Setting {
  const clock = new SteppedClock()
  const stop = new AbortController()
  const setting: Setting = {
    clock,
    news: { manifest: 'm1', rotation: undefined },
    checkpoint: undefined,
    streams: createAgentStreams({
      clock,
      log: LOG,
      readNews: async () => setting.news,
      checkpoint: () => setting.checkpoint,
    }),
    stop: () => stop.abort(),
  }
  void setting.streams.run(stop.signal)
  return setting
}

interface Held {
  readonly agent: Agent
  readonly connection: Connection
}

async function hold(
  { streams }: Setting,
  hostname: string,
  authenticate: (agent: Agent) => Promise<Agent | undefined> = async (agent) => agent,
  lastEventId?: string,
): Promise<Held> {
  const agent = newAgent(hostname)
  const connection = new Connection()
  const held = { agentId: agent.id, connection, authenticate: () => authenticate(agent) }
  streams.hold({ ...held, lastEventId })
  await settle()
  return { agent, connection }
}

/** All that is due now has happened. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await nextTurn()
}

describe('held streams', () => {
  test('[PSH-3] a comment goes out after 25 seconds without anything else', async () => {
    const setting = start()
    const { connection, agent } = await hold(setting, 'web-1', undefined, 'm1.0')
    assert.equal(connection.text, ':\n\n')
    await setting.clock.beats(24)
    assert.equal(connection.text, ':\n\n')
    await setting.clock.beats(1)
    assert.equal(connection.text, ':\n\n:\n\n')
    await setting.clock.beats(10)
    setting.news = { manifest: 'm2', rotation: undefined }
    setting.streams.announce([agent.id])
    await settle()
    assert.equal(connection.text, ':\n\n:\n\nid: m2.0\nevent: manifest\ndata: {}\n\n')
    await setting.clock.beats(24)
    assert.match(connection.text, /data: \{\}\n\n$/)
    await setting.clock.beats(1)
    assert.match(connection.text, /data: \{\}\n\n:\n\n$/)
    setting.stop()
  })

  test('[CHN-38] [PSH-4] a checkpoint goes out in the place of a comment, once in ten minutes', async () => {
    const setting = start()
    const { connection } = await hold(setting, 'web-1', undefined, 'm1.0')
    const shown = (): number => connection.text.split('event: checkpoint\n').length - 1
    await setting.clock.beats(625)
    assert.equal(shown(), 0)
    setting.checkpoint = 'bm90ZQ=='
    await setting.clock.beats(24)
    assert.equal(shown(), 0)
    await setting.clock.beats(1)
    assert.match(connection.text, /:\n\nevent: checkpoint\ndata: \{"checkpoint":"bm90ZQ=="\}\n\n$/)
    await setting.clock.beats(599)
    assert.equal(shown(), 1)
    await setting.clock.beats(25)
    assert.equal(shown(), 2)
    setting.stop()
  })

  test('[AUT-17] [AUT-18] a stream that throws another one out says from where both came, and since when it is held', async () => {
    const swaps: unknown[] = []
    const streams = createAgentStreams({
      clock: new SteppedClock(),
      log: LOG,
      readNews: async () => ({ manifest: 'm1', rotation: undefined }),
      onSwap: ({ hostname }, swap) => swaps.push([hostname, swap]),
    })
    const agent = newAgent('web-1')
    assert.equal(streams.onlineSince?.(agent.id), undefined)
    for (const address of ['192.0.2.1', '192.0.2.2', undefined, '192.0.2.1']) {
      const authenticate = () => Promise.resolve(agent)
      streams.hold({
        agentId: agent.id,
        agent,
        address,
        connection: new Connection(),
        lastEventId: undefined,
        authenticate,
      })
      await settle()
    }
    assert.deepEqual(swaps, [['web-1', { from: '192.0.2.1', to: '192.0.2.2' }]])
    assert.deepEqual(streams.onlineSince?.(agent.id), new Date(0))
    streams.close()
  })

  for (const [what, authenticate] of [
    ['refused', async () => undefined],
    ['another agent by now', async () => newAgent('web-1')],
    ['not to be asked for', () => Promise.reject(new Error('the store is closed'))],
  ] as const) {
    test(`[PSH-7] a heartbeat ends the stream of one that is ${what}`, async () => {
      const setting = start()
      let isFine = true
      const { connection, agent } = await hold(
        setting,
        'web-1',
        async (own) => (isFine ? own : authenticate()),
        'm1.0',
      )
      await setting.clock.beats(25)
      assert.equal(connection.text, ':\n\n:\n\n')
      isFine = false
      await setting.clock.beats(25)
      assert.deepEqual([connection.hasEnded, connection.text], [true, ':\n\n:\n\n'])
      assert.equal(setting.streams.isOnline(agent.id), false)
      setting.stop()
    })
  }

  test('[PSH-7] one that is refused by now is told nothing', async () => {
    const setting = start()
    let isFine = true
    const { connection, agent } = await hold(setting, 'web-1', async (own) =>
      isFine ? own : undefined,
    )
    const before = connection.text
    isFine = false
    setting.news = { manifest: 'm2', rotation: 'r1' }
    setting.streams.announce([agent.id])
    await settle()
    assert.deepEqual([connection.hasEnded, connection.text], [true, before])
    setting.stop()
  })

  test('[PSH-6] many announcements become one message, and none is lost while another is told', async () => {
    const setting = start()
    const { connection, agent } = await hold(setting, 'web-1')
    const messages = (): number => connection.text.split('event: manifest').length - 1
    assert.equal(messages(), 1)
    setting.news = { manifest: 'm2', rotation: undefined }
    for (let time = 0; time < 100; time += 1) setting.streams.announce([agent.id])
    await settle()
    assert.equal(messages(), 2)
    setting.streams.announce([agent.id])
    setting.news = { manifest: 'm3', rotation: undefined }
    setting.streams.announce([agent.id])
    await settle()
    assert.ok(connection.text.endsWith('id: m3.0\nevent: manifest\ndata: {}\n\n'))
    setting.stop()
  })

  test('[PSH-6] a thousand agents do not keep others waiting', async () => {
    const setting = start()
    const held: Held[] = []
    for (let number = 0; number < 1000; number += 1) {
      held.push(await hold(setting, `web-${number}`, undefined, 'm1.0'))
    }
    setting.news = { manifest: 'm2', rotation: undefined }
    setting.streams.announce(held.map(({ agent }) => agent.id))
    const told = (): number => held.filter(({ connection }) => connection.text.length > 3).length
    await nextTurn()
    assert.ok(told() < 100, 'others had their turn meanwhile')
    while (told() < held.length) await nextTurn()
    setting.stop()
  })

  test('[PSH-8] one that is not read is ended when too much waits', async () => {
    const setting = start()
    const { connection, agent } = await hold(setting, 'web-1')
    connection.bufferedBytes = 17 * 1024
    setting.news = { manifest: 'm2', rotation: undefined }
    setting.streams.announce([agent.id])
    await settle()
    assert.equal(connection.hasEnded, true)
    setting.stop()
  })

  test('[PSH-12] a rotation is told at every connection, and once on each', async () => {
    const setting = start()
    setting.news = { manifest: 'm1', rotation: 'r1' }
    const { connection, agent } = await hold(setting, 'web-1', undefined, 'm1.r1')
    assert.equal(connection.text, ':\n\nid: m1.r1\nevent: rotate\ndata: {}\n\n')
    setting.streams.announce([agent.id])
    await settle()
    assert.equal(connection.text.split('rotate').length, 2)
    setting.news = { manifest: 'm1', rotation: 'r2' }
    setting.streams.announce([agent.id])
    await settle()
    assert.equal(connection.text.split('rotate').length, 3)
    setting.stop()
  })

  test('[PSH-2] [PSH-9] an earlier one of the agent ends, all end when the hub stops, and none begins after that', async () => {
    const setting = start()
    const { agent, connection } = await hold(setting, 'web-1')
    const again = (): Connection => {
      const second = new Connection()
      const authenticate = async (): Promise<Agent> => agent
      const stream = { agentId: agent.id, connection: second, authenticate }
      setting.streams.hold({ ...stream, lastEventId: undefined })
      return second
    }
    const second = again()
    assert.deepEqual([connection.hasEnded, second.hasEnded], [true, false])
    assert.equal(setting.streams.count, 1)
    setting.streams.close()
    assert.equal(second.hasEnded, true)
    assert.equal(again().hasEnded, true)
    setting.stop()
  })
})
