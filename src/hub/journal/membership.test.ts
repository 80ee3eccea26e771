import assert from 'node:assert/strict'
import { deflateRawSync } from 'node:zlib'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { collectLog } from '../../../test/support/collected-log.ts'
import { newAgent } from '../../../test/store/store-samples.ts'
import { openSharingStores, type SharingStores } from '../../../test/support/temporary-store.ts'
import { FakeHubRegistry } from '../../../test/fakes/fake-hub-registry.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import { positionAfter } from '../store/record-seal.ts'
import { StoreError } from '../store/store-error.ts'
import { Membership } from './membership.ts'

const HUB = '6a0c2f7e-8f3b-4d0e-9d9f-2f6f6c1c7a10'
const OTHER = '7b1c2f7e-8f3b-4d0e-9d9f-2f6f6c1c7a11'

/** Time goes on only where a test says so; who sleeps is woken by that. */
class TestTime {
  nowMs = 1_000_000
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = []
  readonly clock = {
    now: (): Date => new Date(this.nowMs),
    sleep: (durationMs: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) reject(new Error('aborted'))
        this.#sleepers.push({ atMs: this.nowMs + durationMs, wake: resolve })
        signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      }),
  }

  async pass(durationMs: number): Promise<void> {
    for (let left = durationMs; left > 0; left -= 250) {
      this.nowMs += Math.min(left, 250)
      const due = this.#sleepers.filter(({ atMs }) => atMs <= this.nowMs)
      this.#sleepers = this.#sleepers.filter(({ atMs }) => atMs > this.nowMs)
      for (const { wake } of due) wake()
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    }
  }
}

let time: TestTime
let stores: SharingStores
let registry: FakeHubRegistry
let logs: ReturnType<typeof collectLog>
let stop: AbortController
let runs: Promise<unknown>[]

function memberOf(hubId: string, instanceId: string, at: number): Membership {
  const store = stores.all[at] ?? assert.fail()
  return new Membership({
    instance: { hubId, instanceId },
    registry: registry.forInstance(),
    sealed: Buffer.from('hub-1.example'),
    describe: (sealed) => sealed.toString(),
    store,
    follow: () => store.follow(),
    position: () => store.position,
    keepTogether: () => undefined,
    clock: time.clock,
    log: logs.log,
    monotonicMs: () => time.nowMs,
  })
}

async function entered(hubId = HUB, instanceId = 'first', at = 0): Promise<Membership> {
  const member = memberOf(hubId, instanceId, at)
  await member.enter(stop.signal)
  runs.push(member.run(stop.signal))
  return member
}

beforeEach(async () => {
  time = new TestTime()
  stores = await openSharingStores(2)
  registry = new FakeHubRegistry(() => time.nowMs, stores.journal)
  logs = collectLog()
  stop = new AbortController()
  runs = []
})
afterEach(async () => {
  stop.abort()
  await time.pass(1000)
  await Promise.all(runs)
  await stores[Symbol.asyncDispose]()
})

const insert = (member: Membership, hostname: string) =>
  member.storeFor('jobs').write((writer) => writer.insertAgent(newAgent(hostname)))

describe('a hub as one of several', () => {
  test('[HUB-3] answers nobody when the database has not heard it for five seconds', async () => {
    const member = await entered()
    await member.catchUp()
    registry.isAway = true
    await time.pass(4750)
    await member.catchUp()
    stores.journal.mood = 'silent'
    const waiting = assert.rejects(member.catchUp(), { code: 'store_unavailable' })
    await time.pass(1500)
    await waiting
    await assert.rejects(member.catchUp(), { code: 'store_unavailable' })
    stores.journal.mood = 'well'
    registry.isAway = false
    await time.pass(1250)
    await member.catchUp()
    assert.deepEqual(
      logs.lines.map(({ message }) => message).filter((message) => message.includes('hear')),
      [
        'The database does not hear this hub: without a beat in 5 s it answers nobody',
        'The database hears this hub again',
      ],
    )
  })

  test('[HUB-11] knows how many hubs run, and stays with that when nobody hears it', async () => {
    const member = await entered()
    assert.equal(member.running, 1)
    const other = await entered(OTHER, 'second', 1)
    assert.equal(other.running, 2)
    await time.pass(1250)
    assert.equal(member.running, 2)
    registry.silence(OTHER)
    await time.pass(4000)
    assert.equal(member.running, 2, 'it may be calling the CA')
    registry.isAway = true
    await time.pass(10_000)
    assert.equal(member.running, 2)
    registry.isAway = false
    await time.pass(1250)
    assert.equal(member.running, 1)
  })

  test('[HUB-4] catches up with what others did', async () => {
    const member = await entered()
    await entered(OTHER, 'second', 1)
    const agent = newAgent('web-1')
    await stores.all[1]?.write((writer) => writer.insertAgent(agent))
    await member.catchUp()
    assert.deepEqual(await stores.all[0]?.reader.findAgentById(agent.id), agent)
  })

  test('[HUB-1] is refused while another process of it runs, and waits for one that was killed', async () => {
    await entered()
    const twin = memberOf(HUB, 'twin', 1).enter(stop.signal)
    const refused = assert.rejects(twin, {
      code: 'hub_twice',
      message: `hub ${HUB} is running already at hub-1.example`,
    })
    await time.pass(10_000)
    await refused
    stop.abort()
    stop = new AbortController()
    const next = memberOf(HUB, 'next', 1).enter(stop.signal)
    await time.pass(6000)
    await next
  })

  test('[HUB-5] ends when it is removed, and writes nothing more', async () => {
    const member = await entered()
    stores.standing = () => member.standing
    await stores.all[0]?.write((writer) => writer.insertAgent(newAgent('web-1')))
    await registry.remove(HUB)
    await assert.rejects(
      stores.all[0]?.write((writer) => writer.insertAgent(newAgent('web-2'))) ?? assert.fail(),
      { code: 'hub_removed' },
    )
    await time.pass(1250)
    assert.ok((await member.ended) instanceof StoreError)
  })

  test('[JRN-15] ends when the journal has a record of a newer program', async () => {
    const member = await entered()
    const before = stores.journal.end
    const record = stores.seal.seal(before, deflateRawSync('{"v":2}'))
    await (await stores.journal.takeTurn()).append(record, positionAfter(before, record))
    await time.pass(500)
    assert.equal((await member.ended).code, 'store_newer')
    await assert.rejects(member.catchUp(), { code: 'store_newer' })
  })

  test('[HUB-6] does the jobs of one that is gone, which may write none of them', async () => {
    const [one, other] = [await entered(), await entered(OTHER, 'second', 1)]
    const did: string[] = []
    const jobOf = (member: Membership, name: string): Promise<void> =>
      member.whileHeld(
        'jobs',
        async (signal) => {
          did.push(`${name} begins`)
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          did.push(`${name} ends`)
        },
        stop.signal,
      )
    runs.push(jobOf(one, 'one'))
    await time.pass(1500)
    runs.push(jobOf(other, 'other'))
    await time.pass(3000)
    assert.deepEqual(did, ['one begins'])
    await insert(one, 'web-1')
    registry.silence(HUB)
    await time.pass(8500)
    assert.deepEqual(did, ['one begins', 'one ends'], 'it ends before another one begins')
    await time.pass(4000)
    assert.deepEqual(did, ['one begins', 'one ends', 'other begins'])
    await assert.rejects(insert(one, 'web-2'), { code: 'lease_lost' })
    await insert(other, 'web-3')
  })

  test('[HUB-6] a hub that was frozen, and believes that it has the lease, writes nothing', async () => {
    const [one, other] = [await entered(), await entered(OTHER, 'second', 1)]
    let begin = (): void => undefined
    const frozen = one.during('changes', async () => {
      await new Promise<void>((resolve) => {
        begin = resolve
      })
      await one.storeFor('changes').write((writer) => writer.insertAgent(newAgent('web-1')))
    })
    await waitUntil('the lease', () => one.has('changes') || undefined)
    // Its process stands still: it looks at no clock, and others go on.
    registry.expire('changes')
    await other.during('changes', async () => undefined)
    begin()
    await assert.rejects(frozen, { code: 'lease_lost' })
  })
})
