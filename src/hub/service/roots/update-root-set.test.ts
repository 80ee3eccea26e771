import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog, type LoggedLine } from '../../../../test/support/collected-log.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import { TestTrustKey } from '../../../../test/support/trust-keys.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { Store } from '../../store/store.ts'
import { type AdminTurn, entriesOfActs } from '../admin-act.ts'
import { appendEntries } from '../append-entries.ts'
import { CurrentRootSet } from './current-root-set.ts'
import {
  createUpdateRootSet,
  type RootSetHub,
  type RootSetRequest,
  type RootSetUpdate,
} from './update-root-set.ts'

const DAY_MS = 86_400_000

let store: Store & AsyncDisposable
let old: Certificate
let next: Certificate
let expired: Certificate

before(async () => {
  store = await openTemporaryStore()
  old = await createSampleRoot('Old', new Date(NOW.getTime() + DAY_MS))
  next = await createSampleRoot('Next', new Date(NOW.getTime() + 2 * DAY_MS))
  expired = await createSampleRoot('Expired', NOW)
})
after(() => store[Symbol.asyncDispose]())

/** What of a hub hangs on its roots, as it is now; whatever is done to it is in `done`, in order. */
class FakeRootSetHub implements RootSetHub {
  readonly done: string[] = []
  serverRootIs: Certificate | undefined
  renews: () => void = () => undefined
  readonly #names: ReadonlyMap<string, string>

  constructor() {
    this.serverRootIs = old
    const names = { old, next, expired }
    this.#names = new Map(Object.entries(names).map(([name, { pem }]) => [pem, name]))
  }
  useForAuthority(rootPem: string): void {
    this.done.push(`authority ${this.#namesOf(rootPem)}`)
  }
  serverRoot(roots: readonly Certificate[]): Certificate | undefined {
    return roots.find(({ sha256 }) => sha256 === this.serverRootIs?.sha256)
  }
  async renewServerCertificate(): Promise<void> {
    this.done.push('renew')
    this.renews()
  }
  async useForAgents({ pem }: { pem: string }, { isAnyRemoved }: { isAnyRemoved: boolean }) {
    this.done.push(`agents ${this.#namesOf(pem)}${isAnyRemoved ? ', some went' : ''}`)
  }
  #namesOf(pem: string): string {
    return [...this.#names].flatMap(([one, name]) => (pem.includes(one) ? [name] : [])).join('+')
  }
}

let file: () => Certificate[]
let hub: FakeRootSetHub
let current: CurrentRootSet
let lines: LoggedLine[]
let isDiskFull: boolean
let epoch = 0
let seq: number
let update: (request: RootSetRequest) => Promise<RootSetUpdate>

/** A running hub with the root `old` as set 4 of an época of its own. */
beforeEach(async () => {
  file = () => [old, next]
  hub = new FakeRootSetHub()
  isDiskFull = false
  const collected = collectLog()
  ;({ lines } = collected)
  // A test may begin the next one.
  epoch += 2
  current = new CurrentRootSet({ epoch, number: 4, pem: old.pem, createdAt: NOW })
  await store.write((writer) => writer.insertRootSet(current.set))
  seq = await lastSeq(store.reader)
  const failing: Store = {
    ...store,
    write: (change) =>
      isDiskFull ? Promise.reject(new Error('no space left')) : store.write(change),
  }
  const turn: Pick<AdminTurn, 'commit'> = {
    commit: (write) =>
      failing.write(async (writer) => {
        const { acts, reply } = await write(writer)
        await appendEntries(writer, entriesOfActs(acts, NOW, 'admin'))
        return reply as never
      }),
  }
  const updateRootSet = createUpdateRootSet({
    store: failing,
    clock: { now: () => NOW, sleep: () => Promise.resolve() },
    log: collected.log,
    current,
    readFileRoots: async () => file(),
    hub,
  })
  update = (request) => updateRootSet(turn, request, { actor: 'admin' })
})

/** They have said nothing of what they trust, until the work is done. */
async function withAgents(hostnames: readonly string[], work: () => Promise<void>): Promise<void> {
  const agents = await Promise.all(hostnames.map((hostname) => insertAgent(store, hostname)))
  try {
    await work()
  } finally {
    await store.write(async (writer) => {
      for (const agent of agents) await writer.updateAgent({ ...agent, removedAt: NOW })
    })
  }
}

async function assertUnchanged(): Promise<void> {
  assert.equal(current.set.number, 4)
  assert.deepEqual(await store.reader.findRootSet(), current.set)
  assert.deepEqual(await readActs(store.reader, seq), [])
}

describe('svc bundle update', () => {
  test('[TRU-1] [TRU-10] puts what the file has more in force: first for the CA, then in the vault, then for the agents', async () => {
    file = () => [old, next, next]
    assert.deepEqual(await update({}), { isChanged: true, endangered: [] })
    assert.deepEqual(hub.done, ['authority old+next', 'authority old+next', 'agents old+next'])
    assert.deepEqual([current.set.number, current.reply.roots.length], [5, 2])
    assert.equal((await store.reader.findRootSet())?.number, 5)
    const [[type, payload] = []] = await readActs(store.reader, seq)
    const { actor, numero, agentes_endangered } = payload as Record<string, unknown>
    assert.deepEqual([type, actor, numero, agentes_endangered], ['bundle_changed', 'admin', 5, 0])
    const fields = { numero: 5, epoca: epoch, added: 1, removed: 0, agents: 0 }
    assert.deepEqual(lines, [{ level: 'warn', message: 'Roots changed', fields }])
  })

  test('[TRU-10] changes nothing when the file has the roots in force, in any order and number', async () => {
    file = () => [old, old]
    assert.deepEqual(await update({}), { isChanged: false, endangered: [] })
    assert.deepEqual(hub.done, [])
    await assertUnchanged()
  })

  test('[TRU-10] cuts who is connected by a root that goes, once the hub has a certificate by one that stays', async () => {
    file = () => [next]
    hub.renews = () => {
      hub.serverRootIs = next
    }
    assert.deepEqual(await update({}), { isChanged: true, endangered: [] })
    assert.deepEqual(hub.done, [
      'authority old+next',
      'renew',
      'authority next',
      'agents next, some went',
    ])
    assert.deepEqual(lines[0]?.fields, { numero: 5, epoca: epoch, added: 1, removed: 1, agents: 0 })
  })

  test('[TRU-13] [TRU-17] takes a number, or a new época, also where the roots stay the same', async () => {
    file = () => [old]
    const numbers = async (request: RootSetRequest): Promise<number[]> => {
      assert.equal((await update(request)).isChanged, true)
      return [current.set.epoch, current.set.number]
    }
    assert.deepEqual(await numbers({ numero: 9 }), [epoch, 9])
    assert.deepEqual(await numbers({ nova_epoca: true }), [epoch + 1, 1])
    assert.deepEqual(await numbers({ numero: 5000, force: true }), [epoch + 1, 5000])
  })
})

describe('svc bundle update is refused', () => {
  test('[HUB-8] while another hub puts other roots in force: the CA is trusted by these from then on', async () => {
    file = () => [next]
    hub.renews = () => {
      const pem = `${old.pem}${next.pem}`
      current.replace({ epoch, number: 5, pem, createdAt: NOW })
      throw new Error('the CA does not answer')
    }
    await assert.rejects(update({}), { code: 'server_certificate_root' })
    assert.deepEqual(hub.done, ['authority old+next', 'renew', 'authority old+next'])
  })

  test('[TRU-2] [TRU-17] [TRU-10] for the first of what is wrong: the file, the number, the agents that need a root', () =>
    withAgents(['silent'], async () => {
      file = () => [expired]
      await assert.rejects(update({ numero: 1 }), {
        code: 'bundle_invalid',
        message: 'the hub does not accept the root file: none of the roots is valid now',
      })
      file = () => [next]
      await assert.rejects(update({ numero: 4 }), {
        code: 'bundle_number',
        message: 'the set in force has the number 4 already',
      })
      await assert.rejects(update({ numero: 1005 }), {
        code: 'bundle_number',
        message: '1005 is more than 1000 ahead of the set in force, 4',
      })
      await assert.rejects(update({ numero: 2_146_483_648, force: true }), {
        code: 'bundle_number',
        message: 'the number of a set may be at most 2146483647',
      })
      await assert.rejects(update({}), {
        code: 'bundle_in_use',
        message:
          '1 agent needs a root that this would remove: silent (has not said what it trusts)',
      })
      assert.deepEqual(hub.done, [])
      await assertUnchanged()
    }))

  test('[TRU-10] with the first twenty of those that need a root, and how many there are', () =>
    withAgents(
      Array.from({ length: 22 }, (_, index) => `web-${index + 10}`),
      async () => {
        file = () => [next]
        const names = Array.from({ length: 20 }, (_, index) => `web-${index + 10}`)
        const list = names.map((name) => `${name} (has not said what it trusts)`).join(', ')
        await assert.rejects(update({}), {
          message: `22 agents need a root that this would remove: ${list}, and 2 more`,
        })
      },
    ))

  test('[TRU-10] but not with --force, which says who is lost', () =>
    withAgents(['silent'], async () => {
      file = () => [next]
      hub.serverRootIs = next
      const endangered = [{ hostname: 'silent', reasons: ['has not said what it trusts'] }]
      assert.deepEqual(await update({ force: true }), { isChanged: true, endangered })
      const [[, payload] = []] = await readActs(store.reader, seq)
      assert.equal((payload as { agentes_endangered: number }).agentes_endangered, 1)
    }))

  test('[TRU-10] when the hub’s own certificate would lead to nothing, by force neither', async () => {
    file = () => [next]
    const message =
      'the hub’s own certificate leads to a root that this would remove, and the hub has no other certificate: '
    await assert.rejects(update({ force: true }), {
      code: 'server_certificate_root',
      message: `${message}the CA still signs by it`,
    })
    hub.renews = () => assert.fail('the CA is away')
    await assert.rejects(update({ force: true }), {
      message: `${message}the CA is away`,
    })
    const undone = ['authority old+next', 'renew', 'authority old']
    assert.deepEqual(hub.done, [...undone, ...undone])
    await assertUnchanged()
  })

  test('[HUB-8] over a set that another hub has put in force meanwhile', async () => {
    const others = { epoch, number: 5, pem: old.pem + expired.pem, createdAt: NOW }
    await store.write((writer) => writer.insertRootSet(others))
    await assert.rejects(update({ numero: 9 }), {
      code: 'bundle_number',
      message:
        'another hub has put the set 5 in force, which this one is about to follow: try again',
    })
    assert.deepEqual(hub.done, ['authority old+next', 'authority old'])
    assert.deepEqual(await store.reader.findRootSet(), others)
  })

  test('[TRU-10] when the vault cannot be written: the CA is trusted as before', async () => {
    isDiskFull = true
    await assert.rejects(update({}), { message: 'no space left' })
    assert.deepEqual(hub.done, ['authority old+next', 'authority old'])
    await assertUnchanged()
  })
})

test('[TRU-1] updates that are asked for at once are done one after the other, and one that fails stops none', async () => {
  const files = [
    () => [old, next],
    () => assert.fail('no such file'),
    () => [old, next],
    () => [old],
  ]
  file = () => (files.shift() ?? assert.fail())()
  hub.serverRootIs = old
  const all = await Promise.allSettled(files.map(() => update({})))
  assert.deepEqual(
    all.map((one) => (one.status === 'fulfilled' ? one.value.isChanged : String(one.reason))),
    [true, 'AssertionError [ERR_ASSERTION]: no such file', false, true],
  )
  assert.equal(current.set.number, 6)
})

describe('svc bundle sign', () => {
  const key = new TestTrustKey()
  const sign = (numero: number, roots = [old, next]) =>
    key.signSet(
      roots.map(({ sha256 }) => sha256),
      { numero, epoca: epoch },
    )

  test('[TRK-8] puts what is signed in force, which is from then on all that is', async () => {
    const signed = { ...sign(5), trust_key: key.text }
    assert.deepEqual(await update({ signed }), { isChanged: true, endangered: [] })
    const { number, trust } = current.set
    assert.deepEqual([number, trust?.key], [5, key.text])
    assert.deepEqual(await store.reader.findRootSet(), current.set)
    const { signed: shown } = current.reply
    assert.deepEqual(shown, { ...sign(5), key_changes: [] })
    assert.deepEqual(current.enrolmentTrust, { trust_key: key.text, signed: shown })
    const [[, payload] = []] = await readActs(store.reader, seq)
    assert.equal((payload as Record<string, unknown>)['trust_key'], key.text)

    // The roots as they are need no new signature; every other change does.
    assert.equal((await update({})).isChanged, false)
    const unsigned = { code: 'bundle_unsigned' }
    await assert.rejects(update({ numero: 9 }), unsigned)
    file = () => [old]
    await assert.rejects(update({ force: true }), unsigned)
    await assert.rejects(update({ nova_epoca: true, force: true }), unsigned)
    assert.deepEqual(hub.done, ['authority old+next', 'authority old+next', 'agents old+next'])
    assert.equal(current.set.number, 5)
    await update({ signed: sign(6, [old]) })
    assert.deepEqual([current.set.number, current.set.trust?.firstKey], [6, key.text])
  })

  test('[TRK-8] changes nothing when agents would refuse what is signed', async () => {
    const refused = { code: 'bundle_signature' }
    await assert.rejects(update({ signed: sign(5) }), refused)
    await assert.rejects(update({ signed: { ...sign(5, [old]), trust_key: key.text } }), refused)
    const older = { signed: { ...sign(4), trust_key: key.text } }
    await assert.rejects(update(older), { code: 'bundle_number' })
    const far = { ...sign(1005), trust_key: key.text }
    await assert.rejects(update({ signed: far }), { code: 'bundle_number' })
    await withAgents(['silent'], async () => {
      file = () => [next]
      const signed = { ...sign(5, [next]), trust_key: key.text }
      await assert.rejects(update({ signed }), { code: 'bundle_in_use' })
    })
    assert.deepEqual(hub.done, [])
    await assertUnchanged()
  })
})
