import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AgentId } from '../../protocol/identifiers.ts'
import { createLogging } from '../../platform/logger.ts'
import type { ReadDoorbells } from '../service/admin/read-doorbells.ts'
import { ChangeBell } from './change-bell.ts'
import { type ChangeStreams, createChangeStreams, type NewChangeStream } from './change-streams.ts'

const LOG = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

interface Sleeper {
  readonly ms: number
  readonly resolve: () => void
}

/** A log whose end moves, streams that keep what they are told, and a clock that sleeps until it is told. */
class Scene {
  end = 10
  lists = 0
  readonly sleepers: Sleeper[] = []
  readonly bell: ChangeBell = new ChangeBell()
  /** Whom an entry is about, by its number. */
  readonly agents: Map<number, AgentId> = new Map()
  /** Those of every bounded token. */
  readonly within: Set<AgentId> = new Set()
  readonly streams: ChangeStreams
  beforeEnd: () => Promise<void> = () => Promise.resolve()

  constructor() {
    const doorbells: ReadDoorbells = {
      findEnd: async () => {
        const { end } = this
        await this.beforeEnd()
        return end
      },
      list: async (after, limit) => {
        this.lists += 1
        return Array.from({ length: limit }, (_, at) => {
          const seq = after + 1 + at
          const agent = this.agents.get(seq)
          return { seq, tipo: 'noted', ...(agent !== undefined && { agente_id: agent }) }
        })
      },
      findWithin: async (ids) => new Set([...ids].filter((id) => this.within.has(id as AgentId))),
    }
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        this.sleepers.push({ ms, resolve })
        signal?.addEventListener('abort', () => reject(new Error('aborted')))
      })
    const clock = { now: () => new Date('2026-11-26T10:00:00Z'), sleep }
    this.streams = createChangeStreams({ clock, log: LOG, bell: this.bell, doorbells })
  }

  hold(options: Partial<NewChangeStream> = {}): Held {
    const held: Held = { text: '', bufferedBytes: 0, isOver: false, close: () => undefined }
    this.streams.hold({
      connection: {
        write: (text) => {
          held.text += text
        },
        get bufferedBytes() {
          return held.bufferedBytes
        },
        end: (last = '') => {
          held.text += last
          held.isOver = true
        },
        onClose: (listener) => {
          held.close = listener
        },
      },
      address: '192.0.2.1',
      holder: 'token',
      after: undefined,
      authenticate: async () => ({ only: null }),
      ...options,
    })
    return held
  }

  async settle(): Promise<void> {
    // Two hundred streams, each in a turn of its own, and the turns around them.
    for (let turn = 0; turn < 250; turn += 1) await nextTurn()
  }

  async commit(count: number): Promise<void> {
    this.end += count
    this.bell.ringEntries()
    await this.settle()
  }

  /** Until nobody waits to tell anything. */
  async rest(): Promise<void> {
    await this.settle()
    while (this.sleepers.some(({ ms }) => ms === PAUSE_MS)) await this.wake(PAUSE_MS)
  }

  async wake(ms: number): Promise<void> {
    const due = this.sleepers.splice(0).filter((sleeper) => {
      if (sleeper.ms !== ms) this.sleepers.push(sleeper)
      return sleeper.ms === ms
    })
    for (const { resolve } of due) resolve()
    await this.settle()
  }
}

interface Held {
  text: string
  bufferedBytes: number
  isOver: boolean
  /** By the caller. */
  close: () => void
}

/** What rings; how long readers are to wait is told beside it. */
function toldOf({ text }: Held): string[] {
  return pacedOf(text).rings
}

function stretchesOf({ text }: Held): string[] {
  return pacedOf(text).paces
}

function pacedOf(text: string): { readonly rings: string[]; readonly paces: string[] } {
  const messages = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(
    ([, event = '', data = '']) => {
      const { seq, after, stretch } = JSON.parse(data) as Partial<Record<string, number>>
      const parts = event === 'pace' ? [event, stretch] : [event, after, seq]
      return parts.filter((part) => part !== undefined).join(' ')
    },
  )
  const isPace = (told: string): boolean => told.startsWith('pace ')
  return { rings: messages.filter((told) => !isPace(told)), paces: messages.filter(isPace) }
}

/** From one message to the next. */
const PAUSE_MS = 1000

describe('streams of changes', () => {
  test('[DOR-3] the first entry is told at once, twenty a second later one by one, and more by one message', async () => {
    const scene = new Scene()
    const stream = scene.hold()
    await scene.rest()
    await scene.commit(1)
    assert.deepEqual(toldOf(stream), ['hello 10', 'entry 11'])
    await scene.commit(2)
    await scene.commit(18)
    assert.deepEqual(toldOf(stream).length, 2, 'the next ones wait')
    await scene.wake(PAUSE_MS)
    const later = Array.from({ length: 20 }, (_, at) => `entry ${12 + at}`)
    assert.deepEqual(toldOf(stream).slice(2), later)
    await scene.commit(21)
    await scene.wake(PAUSE_MS)
    assert.deepEqual(toldOf(stream).slice(22), ['many 31 52'])
  })

  test('[DOR-4] what is committed while a stream is welcomed is told, and once', async () => {
    const scene = new Scene()
    const other = scene.hold()
    await scene.rest()
    let go = (): void => undefined
    scene.beforeEnd = () => new Promise((resolve) => (go = resolve))
    const stream = scene.hold({ after: 8 })
    await scene.settle()
    scene.beforeEnd = () => Promise.resolve()
    await scene.commit(2)
    go()
    await scene.rest()
    assert.deepEqual(toldOf(stream), ['hello 10', 'entry 9', 'entry 10', 'entry 11', 'entry 12'])
    assert.deepEqual(toldOf(other), ['hello 10', 'entry 11', 'entry 12'])
  })

  test('[DOR-8] two hundred streams are told of an entry that was read once; there is no room for more', async () => {
    const scene = new Scene()
    const held = Array.from({ length: 200 }, (_, at) =>
      scene.hold({ holder: `token-${at % 10}`, address: `192.0.2.${at % 10}` }),
    )
    await scene.rest()
    assert.equal(scene.streams.count, 200)
    assert.equal(scene.streams.hasRoom({ holder: 'other', address: '198.51.100.1' }), false)
    await scene.commit(1)
    assert.equal(scene.lists, 1)
    for (const stream of held) assert.deepEqual(toldOf(stream), ['hello 10', 'entry 11'])
  })

  test('[DOR-11] readers hear how many look, before the next ring and only when that changed', async () => {
    const scene = new Scene()
    const first = scene.hold()
    await scene.rest()
    await scene.commit(1)
    await scene.wake(PAUSE_MS)
    assert.deepEqual(stretchesOf(first), [], 'one reader waits as long as usual')
    for (let at = 1; at < 10; at += 1) scene.hold({ holder: `token-${at}` })
    await scene.rest()
    await scene.commit(1)
    await scene.wake(PAUSE_MS)
    assert.deepEqual(stretchesOf(first), [], 'and so do ten')
    const last = scene.hold({ holder: 'eleventh' })
    await scene.rest()
    assert.match(last.text, /^id: 12\nevent: hello\n.*\n\nevent: pace\ndata: \{"stretch":2\}\n\n$/)
    assert.deepEqual(stretchesOf(first), [], 'nothing is written for that alone')
    await scene.commit(1)
    await scene.wake(PAUSE_MS)
    await scene.commit(1)
    await scene.wake(PAUSE_MS)
    assert.deepEqual([stretchesOf(first), stretchesOf(last)], [['pace 2'], ['pace 2']])
    assert.match(first.text, /event: pace\n.*\n\nid: 13\nevent: entry\n/)
    last.close()
    await scene.commit(1)
    await scene.wake(PAUSE_MS)
    assert.deepEqual(stretchesOf(first), ['pace 2', 'pace 1'])
  })

  test('[DOR-8] the socket has twenty places of its own, which no token takes', () => {
    const scene = new Scene()
    const { streams } = scene
    const onSocket = { holder: 'socket', address: undefined }
    for (let at = 0; at < 200; at += 1) {
      scene.hold({ holder: `token-${at % 4}`, address: `192.0.2.${at % 2}` })
    }
    for (let at = 0; at < 20; at += 1) {
      assert.equal(streams.hasRoom(onSocket), true)
      scene.hold(onSocket)
    }
    assert.equal(streams.hasRoom(onSocket), false)
    streams.close()
    assert.equal(streams.hasRoom(onSocket), true)
    assert.equal(streams.hasRoom({ holder: 'other', address: '192.0.2.1' }), true)
  })

  test('[DOR-8] the streams of the socket take no place of a token', () => {
    const scene = new Scene()
    const { streams } = scene
    for (let at = 0; at < 20; at += 1) scene.hold({ holder: 'socket', address: undefined })
    for (let at = 0; at < 200; at += 1) {
      const byToken = { holder: `token-${at}`, address: `192.0.2.${at}` }
      assert.equal(streams.hasRoom(byToken), true)
      scene.hold(byToken)
    }
    assert.equal(streams.hasRoom({ holder: 'other', address: '192.0.2.250' }), false)
  })

  test('[DOR-6] a bounded token hears of no other hosts, and of no entry that is about none', async () => {
    const scene = new Scene()
    const [own, other] = ['own' as AgentId, 'other' as AgentId]
    scene.within.add(own)
    scene.agents.set(11, other).set(13, own)
    const bounded = scene.hold({ authenticate: async () => ({ only: 'role=db' }) })
    const whole = scene.hold()
    await scene.rest()
    await scene.commit(3)
    for (const agent of [other, own]) scene.bell.ringPresence(agent)
    await scene.rest()
    const toldTo = ({ text }: Held): string[] =>
      text.split('\n').filter((line) => line.startsWith('data: '))
    assert.deepEqual(toldTo(bounded).slice(1), [
      'data: {"seq":13,"tipo":"noted","agente_id":"own"}',
      'data: {"agente_id":"own"}',
    ])
    assert.equal(toldTo(whole).length, 6)
    await scene.commit(21)
    assert.deepEqual(toldOf(bounded).at(-1), 'many 13 34')
  })

  test('[DOR-8] one address has a hundred streams, one holder twenty', () => {
    const scene = new Scene()
    const { streams } = scene
    for (let at = 0; at < 20; at += 1) {
      assert.equal(streams.hasRoom({ holder: 'busy', address: '2001:db8::1' }), true)
      scene.hold({ holder: 'busy', address: '2001:db8::1' })
    }
    assert.equal(streams.hasRoom({ holder: 'busy', address: '192.0.2.9' }), false)
    assert.equal(streams.hasRoom({ holder: 'other', address: '2001:db8::2' }), true)
    for (let at = 0; at < 80; at += 1) scene.hold({ holder: `t-${at}`, address: '2001:db8::2' })
    assert.equal(streams.hasRoom({ holder: 'other', address: '2001:db8::3' }), false)
    assert.equal(streams.hasRoom({ holder: 'other', address: undefined }), true)
  })

  test('[DOR-9] a stream that is not read is cut, and the one beside it goes on', async () => {
    const scene = new Scene()
    const [deaf, fine] = [scene.hold(), scene.hold()]
    await scene.rest()
    deaf.bufferedBytes = 64 * 1024 + 1
    await scene.commit(1)
    assert.equal(deaf.isOver, true)
    assert.deepEqual(toldOf(deaf), ['hello 10'])
    assert.deepEqual(toldOf(fine), ['hello 10', 'entry 11'])
    assert.equal(scene.streams.count, 1)
  })

  test('[DOR-5] a stream whose caller is refused now, or whom the store cannot look up, is told so and nothing else', async () => {
    const scene = new Scene()
    let refusal: 'admin_token_invalid' | undefined
    let isStoreAway = false
    const revoked = scene.hold({ authenticate: async () => refusal ?? { only: null } })
    const unlucky = scene.hold({
      authenticate: async () => {
        if (isStoreAway) throw new Error('the store is away')
        return { only: null }
      },
    })
    await scene.rest()
    refusal = 'admin_token_invalid'
    isStoreAway = true
    await scene.commit(1)
    assert.deepEqual([toldOf(revoked), revoked.isOver], [['hello 10', 'end'], true])
    assert.match(revoked.text, /"error":"admin_token_invalid","message":"the request has no/)
    assert.deepEqual([toldOf(unlucky), unlucky.isOver], [['hello 10', 'end'], true])
    assert.match(unlucky.text, /"error":"unavailable"/)
  })

  test('[DOR-2] [DOR-5] after fifteen silent seconds a comment has the time of the hub, for callers that are good', async () => {
    const scene = new Scene()
    let isGood = true
    const stream = scene.hold({
      authenticate: async () => (isGood ? { only: null } : 'admin_token_invalid'),
    })
    const stop = new AbortController()
    const running = scene.streams.run(stop.signal)
    await scene.settle()
    for (let second = 0; second < 14; second += 1) await scene.wake(1000)
    assert.doesNotMatch(stream.text, /^: /m)
    await scene.wake(1000)
    assert.match(stream.text, /\n: 2026-11-26T10:00:00.000Z\n\n$/)
    isGood = false
    for (let second = 0; second < 15; second += 1) await scene.wake(1000)
    assert.equal(stream.isOver, true)
    stop.abort()
    await running
  })

  test('[DOR-7] more agents than can be told come and go as one message', async () => {
    const scene = new Scene()
    const stream = scene.hold()
    await scene.rest()
    for (let at = 0; at < 1000; at += 1) scene.bell.ringPresence(`agent-${at}` as AgentId)
    await scene.settle()
    assert.deepEqual(stream.text.match(/event: presence\ndata: .*/g), [
      'event: presence\ndata: {"agente_id":null}',
    ])
  })

  test('[DOR-9] a hub that stops ends them, and those that come later', async () => {
    const scene = new Scene()
    const stream = scene.hold()
    await scene.settle()
    scene.streams.close()
    assert.deepEqual([toldOf(stream), stream.isOver], [['hello 10', 'end'], true])
    assert.deepEqual([scene.hold().isOver, scene.streams.count], [true, 0])
  })
})
