// A CA that misbehaves now and then, asked to revoke: all of it is done in the end, each recorded once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProvisionerKey } from '../../src/hub/ca/provisioner-key.ts'
import { createStepCaClient } from '../../src/hub/ca/step-ca-client.ts'
import { createCaRevoker } from '../../src/hub/service/upkeep/revoke-at-ca.ts'
import { insertAgent, newCertificate } from '../store/store-samples.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { startMisbehavingCa } from '../fakes/misbehaving-ca.ts'
import { createSeededRandom, seedFrom } from '../simulation/seeded-random.ts'
import { waitUntil } from '../support/processes.ts'
import { openTemporaryStore } from '../support/temporary-store.ts'

const CERTIFICATES = 5
const CA_DEADLINE_MS = 300
/** So many times as fast: a pause of a second takes ten milliseconds. */
const HASTE = 100
const hasty: Clock = {
  now: () => systemClock.now(),
  sleep: (durationMs, signal) => systemClock.sleep(durationMs / HASTE, signal),
}

// At the smaller rate, and with so many certificates, a CA that never misbehaves comes once in a million runs.
for (const { rate, agentCount } of [
  { rate: 1 / 20, agentCount: 56 },
  { rate: 1 / 3, agentCount: 20 },
]) {
  test(`[REV-4] [REV-6] [REV-7] a CA that misbehaves in ${Math.round(rate * 100)} of 100 calls revokes everything in the end`, async (context) => {
    const seed = seedFrom(process.env['CA_SEED'])
    context.diagnostic(`CA_SEED=${seed}`)
    await using misbehaving = await startMisbehavingCa({
      seed,
      rate,
      clientDeadlineMs: CA_DEADLINE_MS,
    })
    const { ca, deeds } = misbehaving
    await using store = await openTemporaryStore()
    const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('hub')
    await using authority = createStepCaClient({
      caUrl: new URL(ca.url),
      rootPem: ca.rootPem,
      provisionerKid: ca.provisionerKid,
      provisionerKey: parseProvisionerKey(ca.provisionerKey),
      clock: systemClock,
      logger: log,
      deadlineMs: CA_DEADLINE_MS,
    })
    const serials: string[] = []
    for (let agents = 0; agents < agentCount; agents += 1) {
      const agent = await insertAgent(store, `host-${agents}`)
      const notAfter = new Date(Date.now() + 3_600_000)
      const certificates = Array.from({ length: CERTIFICATES }, () => ({
        ...newCertificate(agent.id),
        notAfter,
      }))
      serials.push(...certificates.map(({ serial }) => serial))
      await store.write(async (writer) => {
        for (const certificate of certificates) await writer.insertCertificate(certificate)
        await writer.revokeCertificates(agent.id, new Date())
      })
    }
    const random = createSeededRandom(seed)
    const revoker = createCaRevoker({ store, authority, clock: hasty, log, random })
    const stop = new AbortController()
    const running = revoker.run(stop.signal)
    const page = { limit: 1, isRefusedIncluded: true }
    await waitUntil('everything to be revoked', async () => {
      const left = await store.reader.listCaRevocations({ ...page, now: new Date() })
      return left?.length === 0 ? true : undefined
    })
    stop.abort(new Error('the test is over'))
    await running
    const decimal = serials.map((serial) => BigInt(`0x${serial}`).toString())
    assert.deepEqual(new Set(ca.revoked), new Set(decimal))
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: 1000 })
    const recorded = entries.map(({ eventType, payloadText }) => {
      assert.equal(eventType, 'certificate_revoked_at_ca')
      return (JSON.parse(payloadText) as { serial: string }).serial
    })
    assert.equal(recorded.length, serials.length)
    assert.deepEqual(new Set(recorded), new Set(serials))
    context.diagnostic([...deeds].map(([name, count]) => `${name} ${count}`).join(', '))
    assert.ok(deeds.size > 1, 'a CA that only revokes shows nothing')
  })
}
