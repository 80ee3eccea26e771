import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VirtualTime } from '../../../../test/simulation/virtual-time.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { RevocationOutcome } from '../../ca/certificate-authority.ts'
import type { Agent } from '../../domain/agent.ts'
import { insertAgent, newCertificate, NOW } from '../../../../test/store/store-samples.ts'
import type { Store } from '../../store/store.ts'
import { createAdminOperations } from '../admin/admin-operations.ts'
import { type CaRevoker, createCaRevoker } from './revoke-at-ca.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const LIFE_MS = 24 * HOUR_MS
const AWAY: RevocationOutcome = { kind: 'failed', reason: 'nobody answers' }
const UNSUPPORTED: RevocationOutcome = { kind: 'refused', reason: 'not implemented' }

type Behave = (serial: string) => RevocationOutcome

class FakeAuthority {
  behave: Behave = () => ({ kind: 'revoked' })
  /** Serial and second of each call. */
  readonly calls: { readonly serial: string; readonly atSeconds: number }[] = []
  readonly revoked = new Set<string>()
  runningMax = 0
  #running = 0
  readonly #time: VirtualTime

  constructor(time: VirtualTime) {
    this.#time = time
  }

  async revoke(serial: string, signal: AbortSignal): Promise<RevocationOutcome> {
    this.#running += 1
    this.runningMax = Math.max(this.runningMax, this.#running)
    const atSeconds = (this.#time.now().getTime() - NOW.getTime()) / SECOND_MS
    this.calls.push({ serial, atSeconds })
    try {
      await this.#time.sleep(100, signal)
    } finally {
      this.#running -= 1
    }
    const outcome = this.behave(serial)
    if (outcome.kind !== 'revoked') return outcome
    if (this.revoked.has(serial)) return { kind: 'already_revoked' }
    this.revoked.add(serial)
    return outcome
  }
}

interface Setting {
  readonly time: VirtualTime
  readonly store: Store
  readonly authority: FakeAuthority
  /** Starts another one on the same store, as the next hub does. */
  readonly start: (store?: Store) => { readonly revoker: CaRevoker; readonly stop: () => void }
  readonly runFor: (durationMs: number) => Promise<void>
  readonly warnings: () => number
}

async function inSetting(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  const time = new VirtualTime(NOW)
  const authority = new FakeAuthority(time)
  const stopping: AbortController[] = []
  let warnings = 0
  const quiet = (): void => undefined
  const warn = (): void => void (warnings += 1)
  const log = { trace: quiet, debug: quiet, info: quiet, warn, error: warn }
  const start = (used: Store = store) => {
    const controller = new AbortController()
    stopping.push(controller)
    const dependencies = { store: used, authority, clock: time, log, random: () => 1 }
    const revoker = createCaRevoker(dependencies)
    time.start(() => revoker.run(controller.signal))
    return { revoker, stop: () => controller.abort(new Error('stopped')) }
  }
  const runFor = (durationMs: number): Promise<void> =>
    time.runUntil(new Date(time.now().getTime() + durationMs))
  try {
    await work({ time, store, authority, start, runFor, warnings: () => warnings })
  } finally {
    for (const controller of stopping) controller.abort(new Error('stopped'))
    await runFor(0)
  }
}

/** An agent with so many certificates that live for a day, the first shortest. */
async function enrol(store: Store, hostname: string, certificates: number): Promise<Agent> {
  const agent = await insertAgent(store, hostname)
  for (let index = 0; index < certificates; index += 1) {
    const notAfter = new Date(NOW.getTime() + LIFE_MS + index * MINUTE_MS)
    const certificate = { ...newCertificate(agent.id), notAfter }
    await store.write((writer) => writer.insertCertificate(certificate))
  }
  return agent
}

function operationsOf({ store, time }: Setting, revoker?: CaRevoker) {
  const dependencies = {
    store,
    clock: time,
    addresses: { enrollUrl: '', mtlsUrl: '' },
    hubNames: [],
    contentBytesMax: 0,
    renewalThresholdMs: 0,
    ...(revoker === undefined ? {} : { cutOff: () => revoker.wake() }),
  }
  return createAdminOperations(dependencies, 'admin', 'admin')
}

async function entriesOf(store: Store, eventType: string): Promise<Record<string, unknown>[]> {
  const entries = await store.reader.listEntries({ afterSeq: 0, limit: 1000, eventType })
  return entries.map(({ payloadText }) => JSON.parse(payloadText) as Record<string, unknown>)
}

describe('revoking at the CA', () => {
  test('[REV-1] [REV-7] begins at once when an agent is revoked, with one call at a time and one entry each', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const { revoker } = start()
      const admin = operationsOf(setting, revoker)
      const agent = await enrol(store, 'web-1', 3)
      await enrol(store, 'web-2', 1)
      await runFor(HOUR_MS)
      assert.deepEqual(authority.calls, [])
      const answered = await admin.revokeAgent({ agente: 'web-1' })
      assert.equal(answered.ca_revocations_waiting, 3)
      await runFor(SECOND_MS)
      assert.equal(authority.revoked.size, 3)
      assert.equal(authority.runningMax, 1)
      assert.ok(authority.calls.every(({ atSeconds }) => atSeconds < 3601))
      const entries = await entriesOf(store, 'certificate_revoked_at_ca')
      assert.deepEqual(
        entries.map(({ serial }) => serial),
        [...authority.revoked],
      )
      const { serial: _, sha256: __, ...first } = entries[0] ?? {}
      assert.deepEqual(first, {
        actor: 'hub',
        agente_id: agent.id,
        hostname: 'web-1',
        not_after: '2026-11-22T10:00:00.123Z',
      })
      assert.equal((await admin.showAgent({ agente: 'web-1' })).ca_revocations_waiting, 0)
      assert.deepEqual(await admin.listCaRevocations({}), { revocations: [], next: null })
    }))

  test('[REV-6] asks a CA that is away less and less often, up to ten minutes, for all agents together', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const admin = operationsOf(setting)
      for (const hostname of ['a', 'b', 'c', 'd']) {
        await enrol(store, hostname, 5)
        await admin.revokeAgent({ agente: hostname })
      }
      authority.behave = () => AWAY
      start()
      await runFor(3 * HOUR_MS)
      const seconds = authority.calls.map(({ atSeconds }) => atSeconds)
      const gaps = seconds
        .slice(1)
        .map((second, index) => Math.round(second - (seconds[index] ?? 0)))
      assert.deepEqual(gaps.slice(0, 11), [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
      assert.ok(gaps.slice(9).every((gap) => gap === 600))
      for (const agent of (await admin.listAgents({})).agentes) {
        assert.equal(agent.ca_revocations_waiting, 5)
        assert.equal(agent.ca_revocation_reason, 'nobody answers')
      }
      assert.deepEqual(await entriesOf(store, 'certificate_revoked_at_ca'), [])
      authority.behave = () => ({ kind: 'revoked' })
      await runFor(10 * MINUTE_MS + 3 * SECOND_MS)
      assert.equal(authority.revoked.size, 20)
    }))

  test('[REV-6] tries at once when an agent is revoked while the CA is away, but no more than once a second', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const { revoker } = start()
      const admin = operationsOf(setting, revoker)
      authority.behave = () => AWAY
      await enrol(store, 'first', 1)
      await admin.revokeAgent({ agente: 'first' })
      await runFor(HOUR_MS)
      const before = authority.calls.length
      for (let index = 0; index < 50; index += 1) {
        await enrol(store, `host-${index}`, 1)
        await admin.revokeAgent({ agente: `host-${index}` })
        await runFor(100)
      }
      const during = authority.calls.length - before
      assert.ok(during >= 1 && during <= 6, `${during} calls in five seconds`)
    }))

  test('[REV-6] tries again at once when an agent is revoked during the very attempt that fails', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const { revoker } = start()
      const admin = operationsOf(setting, revoker)
      authority.behave = () => AWAY
      await enrol(store, 'first', 1)
      await enrol(store, 'second', 1)
      await admin.revokeAgent({ agente: 'first' })
      await runFor(HOUR_MS)
      revoker.wake()
      await runFor(50)
      const before = authority.calls.length
      await admin.revokeAgent({ agente: 'second' })
      await runFor(2 * SECOND_MS)
      assert.equal(authority.calls.length, before + 1)
    }))

  test('[REV-6] one that the CA never manages holds up no other', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const admin = operationsOf(setting)
      await enrol(store, 'web-1', 5)
      await admin.revokeAgent({ agente: 'web-1' })
      const { revocations } = await admin.listCaRevocations({})
      const poison = revocations[0]?.serial
      authority.behave = (serial) => (serial === poison ? AWAY : { kind: 'revoked' })
      start()
      await runFor(5 * SECOND_MS)
      assert.equal(authority.revoked.size, 4)
      assert.equal((await admin.listCaRevocations({})).revocations.length, 1)
    }))

  test('[REV-5] does not ask again what the CA refused, until the agent is revoked once more', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const { revoker } = start()
      const admin = operationsOf(setting, revoker)
      authority.behave = () => UNSUPPORTED
      await enrol(store, 'web-1', 2)
      await admin.revokeAgent({ agente: 'web-1' })
      await runFor(12 * HOUR_MS)
      assert.equal(authority.calls.length, 2)
      const shown = await admin.showAgent({ agente: 'web-1' })
      assert.equal(shown.ca_revocations_waiting, 0)
      assert.equal(shown.ca_revocations_refused, 2)
      assert.equal(shown.ca_revocation_reason, 'not implemented')
      const { revocations } = await admin.listCaRevocations({})
      assert.deepEqual(
        revocations.map(({ state, reason }) => [state, reason]),
        [
          ['refused', 'not implemented'],
          ['refused', 'not implemented'],
        ],
      )
      const refusals = await entriesOf(store, 'certificate_not_revoked_at_ca')
      assert.deepEqual(
        refusals.map(({ reason }) => reason),
        ['not implemented', 'not implemented'],
      )
      authority.behave = () => ({ kind: 'revoked' })
      const again = await admin.revokeAgent({ agente: 'web-1' })
      assert.equal(again.ca_revocations_waiting, 2)
      assert.equal(again.revoked_at, shown.revoked_at)
      const acts = await entriesOf(store, 'agent_revoked')
      assert.deepEqual(
        acts.map(({ actor }) => actor),
        ['admin', 'admin'],
      )
      await runFor(SECOND_MS)
      assert.equal(authority.revoked.size, 2)
    }))

  test('[REV-2] an expired certificate needs no revocation, also when it expires while the CA is away', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const admin = operationsOf(setting)
      const agent = await enrol(store, 'web-1', 2)
      const past = { ...newCertificate(agent.id), notAfter: NOW }
      await store.write((writer) => writer.insertCertificate(past))
      authority.behave = () => AWAY
      await admin.revokeAgent({ agente: 'web-1' })
      assert.equal((await admin.listCaRevocations({})).revocations.length, 2)
      start()
      await runFor(LIFE_MS - SECOND_MS)
      assert.equal((await admin.showAgent({ agente: 'web-1' })).ca_revocations_waiting, 2)
      await runFor(2 * MINUTE_MS)
      assert.deepEqual(await admin.listCaRevocations({}), { revocations: [], next: null })
      const asked = authority.calls.length
      authority.behave = () => ({ kind: 'revoked' })
      await runFor(LIFE_MS)
      assert.equal(authority.calls.length, asked)
      assert.equal(authority.revoked.size, 0)
    }))

  test('[REV-8] a hub that dies between the CA’s answer and its own commit asks again, and records it once', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const admin = operationsOf(setting)
      await enrol(store, 'web-1', 3)
      await admin.revokeAgent({ agente: 'web-1' })
      let writesLeft = 1
      const dying: Store = {
        reader: store.reader,
        version: 0,
        versionOf: () => 0,
        close: () => Promise.resolve(),
        write: (work) => {
          writesLeft -= 1
          return writesLeft < 0 ? Promise.reject(new Error('killed')) : store.write(work)
        },
      }
      const first = start(dying)
      await runFor(250)
      first.stop()
      assert.equal(authority.revoked.size, 2)
      assert.equal((await admin.listCaRevocations({})).revocations.length, 2)
      start()
      await runFor(SECOND_MS)
      assert.equal(authority.revoked.size, 3)
      const serials = (await entriesOf(store, 'certificate_revoked_at_ca')).map(
        (one) => one['serial'],
      )
      assert.deepEqual(new Set(serials), authority.revoked)
      assert.equal(serials.length, 3)
      assert.equal(authority.calls.length, 4)
    }))

  test('[REV-8] goes on when the store fails for a while', () =>
    inSetting(async (setting) => {
      const { store, start, runFor, warnings } = setting
      const admin = operationsOf(setting)
      await enrol(store, 'web-1', 1)
      await admin.revokeAgent({ agente: 'web-1' })
      let isFull = true
      const filling: Store = {
        reader: store.reader,
        version: 0,
        versionOf: () => 0,
        close: () => Promise.resolve(),
        write: (work) => (isFull ? Promise.reject(new Error('disk full')) : store.write(work)),
      }
      start(filling)
      await runFor(MINUTE_MS)
      assert.ok(warnings() >= 2)
      isFull = false
      await runFor(2 * MINUTE_MS)
      assert.equal((await entriesOf(store, 'certificate_revoked_at_ca')).length, 1)
    }))

  test('[REV-9] an agent that is removed, or enrolled again, is finished all the same, and its new certificate is good', () =>
    inSetting(async (setting) => {
      const { store, authority, start, runFor } = setting
      const admin = operationsOf(setting)
      await enrol(store, 'removed', 1)
      await admin.revokeAgent({ agente: 'removed' })
      await admin.removeAgent({ agente: 'removed' })
      const back = await enrol(store, 'back', 1)
      await admin.revokeAgent({ agente: 'back' })
      // As commit-enrollment leaves it.
      await store.write((writer) => writer.updateAgent({ ...back, revokedAt: null }))
      const fresh = { ...newCertificate(back.id), notAfter: new Date(NOW.getTime() + LIFE_MS) }
      await store.write((writer) => writer.insertCertificate(fresh))
      const { revocations } = await admin.listCaRevocations({})
      assert.deepEqual(revocations.map(({ hostname }) => hostname).toSorted(), ['back', 'removed'])
      start()
      await runFor(SECOND_MS)
      assert.deepEqual(
        [...authority.revoked].toSorted(),
        revocations.map(({ serial }) => serial).toSorted(),
      )
      assert.ok(!authority.revoked.has(fresh.serial))
    }))

  test('[REV-10] what waits is listed page by page, soonest to expire first', () =>
    inSetting(async (setting) => {
      const { store } = setting
      const admin = operationsOf(setting)
      for (const hostname of ['a', 'b']) {
        await enrol(store, hostname, 3)
        await admin.revokeAgent({ agente: hostname })
      }
      const whole = (await admin.listCaRevocations({})).revocations
      assert.equal(whole.length, 6)
      const ends = whole.map(({ not_after }) => not_after)
      assert.deepEqual(ends, ends.toSorted())
      const paged = []
      let after: string | null | undefined
      for (let pages = 0; after !== null; pages += 1) {
        assert.ok(pages < 3)
        const page = await admin.listCaRevocations({
          limit: 2,
          ...(after === undefined ? {} : { after }),
        })
        paged.push(...page.revocations)
        after = page.next
      }
      assert.deepEqual(paged, whole)
      await assert.rejects(admin.listCaRevocations({ after: 'nonsense' }), {
        code: 'cursor_unknown',
      })
    }))
})
