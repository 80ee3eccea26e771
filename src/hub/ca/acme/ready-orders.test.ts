import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSettableClock } from '../../../../test/support/settable-clock.ts'
import { SILENT_LOGGER } from '../../../platform/silent-logger.ts'
import { CaError } from '../certificate-authority.ts'
import { type AcmeOrder, NamesNotProved } from './acme-order.ts'
import { createReadyOrders, type ReadyOrdersOptions } from './ready-orders.ts'

const NEVER = new AbortController().signal
const NAMES = ['a.example', 'b.example']
const START = new Date('2026-11-26T12:00:00Z')
const HOUR_MS = 3_600_000

interface Proof {
  readonly names: readonly string[]
  succeed(expiresMs?: number): void
  fail(error: Error): void
  /** The CA has taken the order. */
  order(): void
}

function scene() {
  const clock = createSettableClock(START)
  const stopping = new AbortController()
  const proofs: Proof[] = []
  const prove: ReadyOrdersOptions['prove'] = (names, _signal, onOrdered) =>
    new Promise((resolve, reject) => {
      const url = `order-${proofs.length}`
      const succeed = (expiresMs = HOUR_MS): void =>
        resolve({ url, finalizeUrl: '', expires: new Date(clock.now().getTime() + expiresMs) })
      proofs.push({ names, succeed, fail: reject, order: onOrdered })
    })
  const surroundings = { clock, logger: SILENT_LOGGER, stopping: stopping.signal }
  const orders = createReadyOrders({ prove, ...surroundings })
  return { clock, stopping, proofs, orders }
}

const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Error)
  return error
}

async function urlOf(taken: Promise<{ readonly order: AcmeOrder }>): Promise<string> {
  return (await taken).order.url
}

describe('[CAX-29] orders that wait for the one who asks next', () => {
  test('one that nobody waits for any more goes to the next, whatever the order of the names', async () => {
    const { orders, proofs } = scene()
    const impatient = new AbortController()
    const first = orders.take(NAMES, impatient.signal)
    await settled()
    impatient.abort(new Error('too late'))
    assert.match((await failureOf(first)).message, /too late/)
    const next = orders.take(NAMES.toReversed(), NEVER)
    await settled()
    assert.equal(proofs.length, 1)
    proofs[0]?.succeed()
    assert.equal(await urlOf(next), 'order-0')
  })

  test('no two have the same one, and one that was used is gone', async () => {
    const { orders, proofs } = scene()
    const both = [orders.take(NAMES, NEVER), orders.take(NAMES, NEVER)]
    await settled()
    for (const proof of proofs) proof.succeed()
    assert.deepEqual(await Promise.all(both.map(urlOf)), ['order-0', 'order-1'])
    const third = orders.take(NAMES, NEVER)
    await settled()
    proofs[2]?.succeed()
    assert.equal(await urlOf(third), 'order-2')
  })

  test('two are made at a time for the same names, and the others wait for these', async () => {
    const { orders, proofs } = scene()
    const impatient = new AbortController()
    const asked = Array.from({ length: 20 }, (_, at) =>
      orders.take(NAMES, at === 19 ? impatient.signal : NEVER),
    )
    for (const each of asked) each.catch(() => undefined)
    await settled()
    assert.equal(proofs.length, 2)
    impatient.abort(new Error('too late'))
    assert.match((await failureOf(asked[19]!)).message, /too late/)
    const other = orders.take(['c.example'], NEVER)
    await settled()
    assert.equal(proofs.length, 3)
    proofs[2]?.succeed()
    assert.equal(await urlOf(other), 'order-2')
    proofs[0]?.succeed()
    assert.equal(await urlOf(asked[0]!), 'order-0')
    await settled()
    assert.equal(proofs.length, 4, 'the next of them has its turn')
    proofs[1]?.fail(new NamesNotProved('refused', 'no TXT record'))
    await failureOf(asked[1]!)
    await failureOf(asked[18]!)
    await settled()
    assert.equal(proofs.length, 4, 'a no is one for all who wait')
  })

  test('one that nobody came back for is forgotten when it ends', async () => {
    const { orders, proofs, clock } = scene()
    const impatient = new AbortController()
    const first = orders.take(NAMES, impatient.signal)
    await settled()
    impatient.abort(new Error('too late'))
    await failureOf(first)
    proofs[0]?.succeed()
    await settled()
    assert.equal(orders.size(), 1)
    clock.pass(HOUR_MS)
    void orders.take(['c.example'], NEVER)
    await settled()
    assert.equal(orders.size(), 1)
  })

  test('one that was given back is good for another CSR, until it ends', async () => {
    const { orders, proofs, clock } = scene()
    const first = orders.take(NAMES, NEVER)
    await settled()
    proofs[0]?.succeed()
    ;(await first).giveBack()
    const again = await orders.take(NAMES, NEVER)
    assert.equal(again.order.url, 'order-0')
    again.giveBack()
    clock.pass(HOUR_MS - 30_000)
    void orders.take(NAMES, NEVER)
    await settled()
    assert.equal(proofs.length, 2)
  })
})

describe('[CAX-31] names that were not proved', () => {
  const no = (): NamesNotProved => new NamesNotProved('refused', 'no TXT record', { status: 403 })

  test('are asked again after a minute, two, four, and an hour at most', async () => {
    const { orders, proofs, clock } = scene()
    const pausesMs: number[] = []
    for (let times = 0; times < 9; times += 1) {
      const asked = orders.take(NAMES, NEVER)
      await settled()
      proofs.at(-1)?.fail(no())
      assert.match((await failureOf(asked)).message, /^no TXT record$/)
      const early = await failureOf(orders.take(NAMES, NEVER))
      const [, again] = /^no TXT record \(asked again after (\S+)\)$/.exec(early.message) ?? []
      const pauseMs = Date.parse(again ?? '') - clock.now().getTime()
      pausesMs.push(pauseMs / 60_000)
      clock.pass(pauseMs)
    }
    assert.deepEqual(pausesMs, [1, 2, 4, 8, 16, 32, 60, 60, 60])
    assert.equal(proofs.length, 9)
  })

  test('are asked again when the CA has said so', async () => {
    const { orders, proofs, clock } = scene()
    const first = orders.take(NAMES, NEVER)
    await settled()
    proofs[0]?.fail(new NamesNotProved('unreachable', 'rate limited', {}, 3 * HOUR_MS))
    await failureOf(first)
    const { message } = await failureOf(orders.take(NAMES, NEVER))
    const [, again = ''] = /^rate limited \(asked again after (\S+)\)$/.exec(message) ?? []
    assert.equal(Date.parse(again) - clock.now().getTime(), 3 * HOUR_MS)
  })

  test('hold up no others, and an outage holds up nobody', async () => {
    const { orders, proofs } = scene()
    const first = orders.take(NAMES, NEVER)
    await settled()
    proofs[0]?.fail(no())
    await failureOf(first)
    const other = orders.take(['c.example'], NEVER)
    await settled()
    proofs[1]?.fail(new CaError('unreachable', 'away'))
    await failureOf(other)
    void orders.take(['c.example'], NEVER)
    await settled()
    assert.equal(proofs.length, 3)
  })

  test('for which the CA signs nothing once they are proved, are held up too', async () => {
    const { orders, proofs } = scene()
    const first = orders.take(NAMES, NEVER)
    await settled()
    proofs[0]?.succeed()
    ;(await first).refuse(new CaError('refused', 'CAA forbids it'))
    assert.match(
      (await failureOf(orders.take(NAMES, NEVER))).message,
      /CAA forbids it \(asked again/,
    )
  })

  test('begin again at a minute once there was a certificate, and not before', async () => {
    const { orders, proofs, clock } = scene()
    const pausesMs: number[] = []
    for (const isSigned of [false, false, true, false]) {
      const asked = orders.take(NAMES, NEVER)
      await settled()
      proofs.at(-1)?.succeed()
      const taken = await asked
      if (isSigned) {
        taken.done()
        continue
      }
      taken.refuse(new CaError('unreachable', 'away'))
      const { message } = await failureOf(orders.take(NAMES, NEVER))
      const [, again = ''] = /asked again after (\S+)\)$/.exec(message) ?? []
      const pauseMs = Date.parse(again) - clock.now().getTime()
      pausesMs.push(pauseMs / 60_000)
      clock.pass(pauseMs)
    }
    assert.deepEqual(pausesMs, [1, 2, 1])
  })

  test('[CAX-28] are proved eight at a time, and a full line says no at once', async () => {
    const { orders, proofs, stopping } = scene()
    const asked = Array.from({ length: 72 }, (_, at) =>
      orders.take([`h-${at}.example`], NEVER).catch((error: unknown) => error),
    )
    await settled()
    assert.equal(proofs.length, 8)
    const full = await failureOf(orders.take(['one-more.example'], NEVER))
    assert.match(full.message, /too many names wait/)
    proofs[0]?.succeed()
    await settled()
    assert.equal(proofs.length, 9)
    stopping.abort(new Error('the hub is stopping'))
    for (const proof of proofs) proof.fail(new Error('stopped'))
    await Promise.all(asked)
  })
})

describe('[CAX-33] one agent', () => {
  test('has five orders at once for the same names, then one an hour; an outage costs it none', async () => {
    const { orders, proofs, clock } = scene()
    const order = async (isTaken: boolean): Promise<void> => {
      const asked = orders.take(NAMES, NEVER)
      await settled()
      const proof = proofs.at(-1)
      if (isTaken) {
        proof?.order()
        proof?.succeed()
        ;(await asked).done()
      } else {
        proof?.fail(new CaError('unreachable', 'away'))
        await failureOf(asked)
      }
    }
    for (let times = 0; times < 9; times += 1) await order(false)
    for (let times = 0; times < 5; times += 1) await order(true)
    const full = await failureOf(orders.take(NAMES, NEVER))
    assert.equal((full as CaError).reason, 'overloaded')
    assert.match(
      full.message,
      /^too many orders were made for these names: the next is made after 2026-11-26T13:00:00\.00[01]Z$/,
    )
    const other = orders.take(['c.example'], NEVER)
    await settled()
    proofs.at(-1)?.succeed()
    await other
    clock.pass(HOUR_MS + 1)
    await order(true)
    await failureOf(orders.take(NAMES, NEVER))
  })
})
