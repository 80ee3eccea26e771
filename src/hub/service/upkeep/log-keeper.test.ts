import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { append } from '../../../../test/store/store-samples.ts'
import { waitUntil } from '../../../../test/support/processes.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { parseCheckpoint } from '../../../audit/checkpoint.ts'
import { growTree, EMPTY_FRONTIER, rootOf } from '../../../audit/merkle-tree.ts'
import { formatRecord, hashRecord } from '../../../audit/record.ts'
import { openNote } from '../../../audit/signed-note.ts'
import { createLogging } from '../../../platform/logger.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import { beginEpoch, logVerifier, openCheckpoint } from '../log-tree.ts'
import { findCheckpointFault } from '../find-checkpoint-fault.ts'
import { showLog } from '../agent/show-log.ts'
import { readRootAt } from '../read-log-nodes.ts'
import type { Store } from '../../store/store.ts'
import { createLogKeeper, decideSlice } from './log-keeper.ts'

const SILENT = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })

describe('[CHN-16] the tree over the log', () => {
  let store: Awaited<ReturnType<typeof openTemporaryStore>>
  let published: LogTree[]
  beforeEach(async () => {
    store = await openTemporaryStore()
    published = []
  })
  afterEach(() => store[Symbol.asyncDispose]())

  const appendMany = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await append(store, { requestId: null })
  }

  /** A hub that is ended by the sleep with this number; how long it slept each time. */
  async function keep(sleepsMax: number, kept: Store = store): Promise<number[]> {
    const stop = new AbortController()
    const sleeps: number[] = []
    const clock = {
      now: () => new Date(0),
      sleep: async (durationMs: number) => {
        sleeps.push(durationMs)
        if (sleeps.length === sleepsMax) stop.abort()
      },
    }
    const publish = async (tree: LogTree): Promise<void> => {
      published.push(tree)
    }
    const log = SILENT.forModule('test')
    await createLogKeeper({ store: kept, clock, log, vaultId: 'v', publish }).run(stop.signal)
    return sleeps
  }

  test('[CHN-20] [HUB-6] is shown and proven to agents who come from another hub before this one has looked', async () => {
    const stop = new AbortController()
    const clock = {
      now: () => new Date(0),
      sleep: (_durationMs: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
    }
    const log = SILENT.forModule('test')
    const isAnothers = () => true
    const keeper = createLogKeeper({ store, clock, log, vaultId: 'v', isAnothers })
    await append(store, { requestId: null })
    await keep(1)
    const run = keeper.run(stop.signal)
    await waitUntil('its first look', () => keeper.newest)
    await append(store, { requestId: null })
    await keep(1)
    assert.equal(keeper.newest?.frontier.size, 1)
    const shown = showLog(
      store.reader,
      () => keeper.newest,
      () => keeper.catchUp(),
    )
    assert.equal((await shown.prove(1, 2))?.proof.length, 1)
    assert.equal(await shown.prove(1, 3), undefined)
    await append(store, { requestId: null })
    await keep(1)
    assert.equal((await shown.describe())?.checkpoint.split('\n')[1], '3')
    stop.abort()
    await run
  })

  async function rootOfEntries(count: number): Promise<Buffer> {
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: count })
    const leaves = entries.map((entry) => hashRecord(formatRecord(entry)))
    return rootOf(growTree(EMPTY_FRONTIER, leaves).frontier)
  }

  test('is brought forward in slices by hubs that end anywhere, and then grows once a second', async () => {
    await appendMany(1203)
    assert.deepEqual(await keep(1), [2])
    assert.equal((await store.reader.findLogTree())?.frontier.size, 500)
    assert.deepEqual(await keep(2), [2, 1000])
    await appendMany(3)
    assert.deepEqual(await keep(3), [1000, 1000, 1000])
    assert.deepEqual(
      published.map(({ frontier }) => frontier.size),
      [1203, 1206],
    )
    const tree = published[1] ?? assert.fail('published')
    const opened = openNote(tree.checkpoint, [logVerifier(tree)])
    const { origin, size, root } = parseCheckpoint(opened?.text ?? '') ?? assert.fail('signed')
    assert.deepEqual({ origin, size }, { origin: 'cartorio/v', size: 1206 })
    assert.deepEqual(root, await rootOfEntries(1206))
    for (const earlier of [0, 1, 255, 256, 257, 700, 1024, 1206]) {
      assert.deepEqual(await readRootAt(store.reader, earlier), await rootOfEntries(earlier))
    }
  })

  test('of an empty log is signed too', async () => {
    await keep(2)
    assert.deepEqual(
      published.map(({ frontier }) => frontier.size),
      [0],
    )
  })

  test('waits a minute when it cannot be written, and loses nothing', async () => {
    await appendMany(2)
    const full: Store = {
      ...store,
      reader: store.reader,
      write: async () => {
        throw new Error('database or disk is full')
      },
    }
    assert.deepEqual(await keep(2, full), [60_000, 60_000])
    await keep(1)
    assert.deepEqual(published.at(-1)?.frontier.size, 2)
  })

  for (const answers of [true, false]) {
    test(`[CHN-17] ends ${answers ? 'when the place outside has answered' : 'without a place outside that does not answer'}`, async () => {
      const stop = new AbortController()
      const place = new EventEmitter()
      const written = once(place, 'answer')
      const waited: number[] = []
      const clock = {
        now: () => new Date(0),
        sleep: async (durationMs: number) => {
          waited.push(durationMs)
          if (!stop.signal.aborted) return stop.abort()
          if (answers) await written
        },
      }
      const log = SILENT.forModule('test')
      const publish = async (): Promise<void> => {
        await written
      }
      const running = createLogKeeper({ store, clock, log, vaultId: 'v', publish }).run(stop.signal)
      await waitUntil('the wait for it', () => waited.length === 2 || undefined)
      if (answers) {
        assert.match(inspect(running), /pending/)
        place.emit('answer')
      }
      await running
      assert.deepEqual(waited, [1000, 1000])
    })
  }

  test('[CHN-18] is held against a checkpoint of the same log, of any size', async () => {
    await appendMany(300)
    await keep(1)
    const early = published[0] ?? assert.fail('published')
    await appendMany(10)
    await keep(1)
    const late = published[1] ?? assert.fail('published')
    const faultOf = (tree: LogTree | undefined, note: string) =>
      findCheckpointFault(store.reader, tree, note)
    assert.equal(await faultOf(late, early.checkpoint), undefined)
    assert.equal(await faultOf(late, late.checkpoint), undefined)
    assert.equal(
      await faultOf(early, late.checkpoint),
      'the checkpoint was signed for 310 entries, and the vault has 300 of them',
    )
    assert.equal(
      await faultOf(undefined, late.checkpoint),
      'the vault is older than any checkpoint',
    )
    const strange = 'the checkpoint is of another log, or not signed by this vault'
    assert.equal(await faultOf(late, 'anything'), strange)
    assert.equal(await faultOf(beginEpoch(late, 'v'), late.checkpoint), strange)
    assert.equal(openCheckpoint(beginEpoch(late, 'v'), late.checkpoint), undefined)
    assert.equal(beginEpoch(late, 'v').origin, 'cartorio/v/2')
  })
})

test('[CHN-16] a slice of long records has fewer of them, and of short ones 500 again', () => {
  const sizes: number[] = []
  let entries = 500
  for (const characters of [8e6, 4e6, 2e6, 1e6, 600_000, 50_000, 50_000, 50_000, 50_000]) {
    entries = decideSlice(entries, characters)
    sizes.push(entries)
  }
  assert.deepEqual(sizes, [250, 125, 62, 62, 62, 124, 248, 496, 500])
  assert.equal(decideSlice(16, 1e9), 16)
})
