import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newAgent } from '../../../../test/store/store-samples.ts'
import { openSharingStores } from '../../../../test/support/temporary-store.ts'
import { parseChangeRecord } from './change-record-form.ts'
import { createSeededRandom, seedFrom } from '../../../../test/simulation/seeded-random.ts'
import { appendEntry } from '../../service/append-entries.ts'
import { hubAct } from '../../service/hub-acts.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { inspectJournalPosition } from './enter-journal.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'

describe('a store that shares a journal', () => {
  test('[JRN-2] appends what each transaction did, without what was taken back', async () => {
    await using stores = await openSharingStores(1)
    const [store] = stores.all
    assert.ok(store)
    const start = stores.journal.end
    const [kept, other, refused] = [newAgent('web-1'), newAgent('web-2'), newAgent('web-3')]
    const outcomes = await Promise.allSettled([
      store.write((writer) => writer.insertAgent(kept)),
      store.write(async (writer) => {
        await writer.insertAgent(refused)
        throw new Error('taken back')
      }),
      store.write((writer) => writer.setAgentSeen(kept.id, new Date(0))),
      store.write((writer) => writer.insertAgent(other)),
      store.write((writer) => writer.findAgentById(kept.id)),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
    assert.equal(await store.write(async () => 'nothing'), 'nothing')
    assert.equal(stores.journal.records.length, 1, 'what changes nothing is no record')
    const [only] = stores.journal.records
    assert.ok(only)
    const { statements, agents } = parseChangeRecord(stores.seal.open(start, only))
    assert.equal(statements.length, 3)
    for (const { id } of [kept, other]) assert.ok(agents.includes(id))
  })

  test('[JRN-1] sees in a write what the others did, whoever wrote last', async () => {
    await using stores = await openSharingStores(3)
    const seed = seedFrom(process.env['JOURNAL_SEED'])
    const random = createSeededRandom(seed)
    const anyStore = (): SqliteStore => {
      const store = stores.all[Math.floor(random() * stores.all.length)]
      assert.ok(store)
      return store
    }
    const append = (at: number) =>
      anyStore().write((writer) =>
        appendEntry(writer, hubAct(new Date(at), HubEventType.tokenRevoked, { actor: 'hub' })),
      )
    const entries = await Promise.all(Array.from({ length: 200 }, (_, at) => append(at)))
    const seqs = entries.map(({ seq }) => seq).toSorted((one, other) => one - other)
    assert.deepEqual(
      seqs,
      Array.from({ length: 200 }, (_, at) => at + 1),
      `each number once; JOURNAL_SEED=${seed}`,
    )
    for (const store of stores.all) await store.follow()
    stores.assertSame()
  })

  test('that another one changed says so to those who keep what they read', async () => {
    await using stores = await openSharingStores(2)
    const [here, there] = stores.all
    assert.ok(here && there)
    const [known, other] = [newAgent('web-1'), newAgent('web-2')]
    for (const agent of [known, other]) await here.write((writer) => writer.insertAgent(agent))
    const { version } = here
    await there.write((writer) => writer.updateAgent({ ...known, revokedAt: new Date(1) }))
    assert.equal((await here.reader.findAgentById(known.id))?.revokedAt, null)
    await here.follow()
    assert.deepEqual((await here.reader.findAgentById(known.id))?.revokedAt, new Date(1))
    assert.ok(here.versionOf(known.id) > version)
    assert.ok(here.versionOf(other.id) <= version)
  })

  test('writes nothing while the journal is away, and goes on when it is back', async () => {
    await using stores = await openSharingStores(2)
    const [store, other] = stores.all
    assert.ok(store && other)
    stores.journal.mood = 'away'
    const insert = () => store.write((writer) => writer.insertAgent(newAgent('web-1')))
    await assert.rejects(insert(), { code: 'store_unavailable' })
    assert.equal(await store.reader.findAgentByHostname('web-1'), undefined)
    stores.journal.mood = 'well'
    await insert()
    await other.follow()
    stores.assertSame()
  })

  test('[JRN-5] does not say that a write failed whose record nobody has answered for: it follows it', async () => {
    await using stores = await openSharingStores(2)
    const [store, other] = stores.all
    assert.ok(store && other)
    stores.journal.mood = 'loses replies'
    const agent = newAgent('web-1')
    await assert.rejects(
      store.write((writer) => writer.insertAgent(agent)),
      { code: 'store_unknown' },
    )
    assert.equal(await store.reader.findAgentByHostname('web-1'), undefined)
    stores.journal.mood = 'well'
    assert.deepEqual(await store.write((writer) => writer.findAgentById(agent.id)), agent)
    await other.follow()
    stores.assertSame()
  })

  test('runs again what the journal refused, and gives up in the end', async () => {
    await using stores = await openSharingStores(2)
    const [store, other] = stores.all
    assert.ok(store && other)
    let runs = 0
    const insert = (hostname: string) =>
      store.write(async (writer) => {
        runs += 1
        await writer.insertAgent(newAgent(hostname))
      })
    stores.journal.refusals = 2
    await Promise.all([insert('web-1'), insert('web-2')])
    assert.equal(runs, 6)
    stores.journal.refusals = 4
    await assert.rejects(insert('web-3'), { code: 'store_unavailable' })
    await other.follow()
    stores.assertSame()
    assert.equal(await other.reader.findAgentByHostname('web-3'), undefined)
  })

  test('[JRN-2] makes several records of what is too large for one', async () => {
    await using stores = await openSharingStores(2)
    const [store, other] = stores.all
    assert.ok(store && other)
    const text = 'x'.repeat(1024 * 1024)
    const append = () =>
      store.write((writer) =>
        appendEntry(writer, hubAct(new Date(0), HubEventType.tokenRevoked, { actor: 'hub', text })),
      )
    stores.journal.refusals = 1
    await Promise.all(Array.from({ length: 11 }, append))
    assert.equal(stores.journal.records.length, 3)
    assert.equal((await store.reader.findChainEnd())?.seq, 11)
    await other.follow()
    stores.assertSame()
  })

  test('[JRN-4] goes no further with a journal that lost records, or has others', async () => {
    await using stores = await openSharingStores(2)
    const [store, other] = stores.all
    assert.ok(store && other)
    for (const hostname of ['web-1', 'web-2']) {
      await store.write((writer) => writer.insertAgent(newAgent(hostname)))
    }
    const lost = stores.journal.records.pop()
    assert.ok(lost)
    await assert.rejects(
      store.write(async () => 'anything'),
      {
        code: 'store_diverged',
        message: 'the journal lost records: this vault has followed 2, the journal has 1',
      },
    )
    // It has not seen the lost one, and takes its number.
    await other.write((writer) => writer.insertAgent(newAgent('web-3')))
    await other.write((writer) => writer.insertAgent(newAgent('web-4')))
    await assert.rejects(
      store.write(async () => 'anything'),
      {
        code: 'store_diverged',
        message: 'record 3 of the journal does not follow record 2 of this vault',
      },
    )
    assert.equal(await store.reader.findAgentByHostname('web-3'), undefined)
  })

  test('[JRN-4] takes nothing of a journal that is as long as its own, and another one', async () => {
    await using here = await openSharingStores(1)
    await using there = await openSharingStores(1)
    for (const { all } of [here, there]) {
      await all[0]?.write((writer) => writer.insertAgent(newAgent('web-1')))
    }
    const [store] = here.all
    assert.ok(store)
    const refused = {
      code: 'store_diverged',
      message:
        'the journal is another one: its record 1 is not the one that this vault has followed',
    }
    here.journal.become(there.journal)
    await assert.rejects(store.follow(), refused)
    await assert.rejects(
      store.write((writer) => writer.insertAgent(newAgent('web-2'))),
      refused,
    )
    assert.equal(there.journal.records.length, 1)
  })

  test('[JRN-11] that lacks records which nobody has any more says so', async () => {
    await using stores = await openSharingStores(2)
    const [store, other] = stores.all
    assert.ok(store && other)
    for (const hostname of ['web-1', 'web-2', 'web-3']) {
      await store.write((writer) => writer.insertAgent(newAgent(hostname)))
    }
    stores.journal.dropUntil(2)
    const behind = { code: 'store_behind' }
    await assert.rejects(other.follow(), behind)
    await assert.rejects(
      other.write(async () => 'anything'),
      behind,
    )
    assert.equal(await store.write(async () => 'anything'), 'anything')
  })

  test('[JRN-4] leaves its journal with the first write that it makes without', async () => {
    await using stores = await openSharingStores(2)
    const [store, other] = stores.all
    const [path] = stores.paths
    assert.ok(store && other && path !== undefined)
    await store.write((writer) => writer.insertAgent(newAgent('web-1')))
    await store.close()
    const read = () => inspectJournalPosition(path, stores.dataKey)
    const alone = await openSqliteStore({ path, dataKey: stores.dataKey })
    assert.deepEqual(read(), stores.journal.end)
    await alone.write((writer) => writer.insertAgent(newAgent('web-2')))
    await alone.close()
    assert.deepEqual(read(), { number: 0, hash: Buffer.alloc(32) })
    const { journal, seal, dataKey } = stores
    const again = await openSqliteStore({ path, dataKey, shared: { journal, seal } })
    await assert.rejects(again.follow(), {
      code: 'store_diverged',
      message: 'record 1 of the journal does not follow record 0 of this vault',
    })
    await again.close()
  })
})
