import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import { HubBusy } from '../../doors/hub-busy.ts'
import type { Ring } from '../../doors/hub-changes.ts'
import { followEntries } from './follow-entries.ts'
import type { EntryQuery } from './read-entries.ts'

type Step = Ring | Error | (() => void)

/** A hub with a log, whose streams each do what a test says, one after the other. */
class FakeHub {
  readonly log: { readonly seq: number; readonly tipo_evento: string }[] = []
  readonly printed: number[] = []
  readonly notes: string[] = []
  readonly opened: number[] = []
  readonly slept: number[] = []
  asked = 0
  #streams: (readonly Step[] | Error | 'none')[] = []
  #end: () => void = () => undefined

  append(count: number, tipo = 'cert_renewed'): void {
    for (let at = 0; at < count; at += 1) {
      this.log.push({ seq: this.log.length + 1, tipo_evento: tipo })
    }
  }

  async follow(
    streams: (readonly Step[] | Error | 'none')[],
    { query = {}, after = 0 }: { query?: EntryQuery; after?: number } = {},
  ): Promise<void> {
    this.#streams = streams
    await followEntries(
      {
        output: { isClosed: false },
        note: (text) => void this.notes.push(text),
        untilEnded: () => new Promise((resolve) => (this.#end = resolve)),
        clock: {
          now: () => new Date(0),
          sleep: async (ms) => {
            this.slept.push(ms)
            this.onSleep()
          },
        },
      },
      {
        query,
        after,
        operations: { listEntries: async (request) => this.#list(request) },
        openChanges: async (place, signal) => this.#open(place, signal),
        printer: {
          print: async (entries) => void this.printed.push(...entries.map(({ seq }) => seq)),
          end: () => Promise.resolve(),
        },
      },
    )
  }

  onSleep: () => void = () => undefined

  end(): void {
    this.#end()
  }

  #list({ after = 0, tipo }: { after?: number; tipo?: string }) {
    this.asked += 1
    const eventos = this.log.filter(
      (entry) => entry.seq > after && (tipo === undefined || entry.tipo_evento === tipo),
    )
    return { eventos: eventos as unknown as AdminEntry[], next: null }
  }

  #open(place: number, signal: AbortSignal): AsyncGenerator<Ring, void> | undefined {
    this.opened.push(place)
    const steps = this.#streams.shift()
    if (steps === 'none') return undefined
    if (steps instanceof Error) throw steps
    return ring(steps ?? [() => this.end()], signal)
  }
}

async function* ring(steps: readonly Step[], signal: AbortSignal): AsyncGenerator<Ring, void> {
  for (const step of steps) {
    if (step instanceof Error) throw step
    if (typeof step === 'function') step()
    else yield step
  }
  await new Promise(setImmediate)
  if (signal.aborted) throw new Error('aborted')
  throw lost()
}

const lost = (): SvcError => new SvcError('hub_connection_broke', 'the connection broke')
const one = (seq: number, tipo = 'cert_renewed'): Ring => ({ kind: 'entries', seq, tipo })
const many = (seq: number): Ring => ({ kind: 'entries', seq, tipo: undefined })

describe('[CLI-185] svc event list --follow', () => {
  test('prints each entry once, whatever rings, and goes on where it was after a lost connection', async () => {
    const hub = new FakeHub()
    hub.append(3)
    await hub.follow(
      [
        [() => hub.append(2), one(4), one(5), one(5)],
        [() => hub.append(7), many(12), lost()],
        new HubBusy('unavailable', 'the hub has too much to do'),
        [one(12), () => hub.append(1), one(13), () => hub.end()],
      ],
      { after: 3 },
    )
    assert.deepEqual(hub.printed, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    assert.deepEqual(hub.opened, [3, 5, 12, 12])
    // Who was back is waited for anew.
    assert.deepEqual(hub.slept, [500, 500, 1000])
    assert.deepEqual(hub.notes, [
      'the hub is away, svc waits for it: the connection broke',
      'the hub is back',
      'the hub is away, svc waits for it: the connection broke',
      'the hub is back',
    ])
  })

  test('says once that the hub is away, and asks more and more rarely', async () => {
    const hub = new FakeHub()
    await hub.follow([...Array.from({ length: 6 }, lost), [() => hub.end()]])
    assert.deepEqual(hub.notes, [
      'the hub is away, svc waits for it: the connection broke',
      'the hub is back',
    ])
    assert.deepEqual(hub.slept, [500, 1000, 2000, 4000, 5000, 5000])
  })

  test('asks for nothing when what rings is of another type, and does not look there again', async () => {
    const hub = new FakeHub()
    const query = { tipo: 'agent_revoked' }
    const rings = [() => hub.append(2), one(1), one(2)]
    const wanted = [() => hub.append(1, 'agent_revoked'), one(3, 'agent_revoked')]
    await hub.follow([[...rings, ...wanted], [() => hub.end()]], { query })
    // Twice: what follows the third entry is asked for too.
    assert.deepEqual([hub.printed, hub.asked, hub.opened], [[3], 2, [0, 3]])
  })

  test('ends with what does not pass by itself', async () => {
    const hub = new FakeHub()
    const revoked = new UserError('admin_token_invalid', 'the hub does not accept the token')
    await assert.rejects(hub.follow([[revoked]]), revoked)
    assert.deepEqual(hub.notes, [])
  })

  test('says that the log is another one, and goes on from its end', async () => {
    const hub = new FakeHub()
    hub.append(2)
    const begun: readonly Step[] = [{ kind: 'reset', seq: 2 }, () => hub.append(1), one(3)]
    await hub.follow([begun, [() => hub.end()]], { after: 9 })
    assert.deepEqual(hub.printed, [3])
    assert.equal(
      hub.notes[0],
      'the log of the hub ends at 2, before 9: it is another log, or that of a backup',
    )
  })

  test('[VER-8] asks a hub without the stream each second', async () => {
    const hub = new FakeHub()
    hub.append(2)
    hub.onSleep = () => {
      if (hub.slept.length < 3) hub.append(1)
      else hub.end()
    }
    await hub.follow(['none'])
    assert.deepEqual(hub.printed, [1, 2, 3, 4])
    assert.deepEqual(hub.slept, [1000, 1000, 1000])
  })
})
