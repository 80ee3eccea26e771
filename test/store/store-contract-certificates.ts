// What every Store does with certificates: a part of the suite in store-contract.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { AgentId } from '../../src/protocol/identifiers.ts'
import {
  insertAgent,
  insertCargo,
  insertCertificate,
  insertDelivery,
  LATER,
  newCertificate,
  NOW,
} from './store-samples.ts'
import type { Store } from '../../src/hub/store/store.ts'

export function testCertificates(store: () => Store): void {
  test('certificates are numbered in commit order', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const content = newCertificate(agent.id)
    const first = await store().write((writer) => writer.insertCertificate(content))
    assert.deepEqual(first, { ...content, seq: first.seq, revokedAt: null, firstUsedAt: null })
    const second = await insertCertificate(store(), agent.id)
    assert.ok(second.seq > first.seq)
    assert.deepEqual(await store().reader.findCertificate(first.sha256), first)
    const active = { ...agent, activeIdentity: { seq: first.seq, since: NOW } }
    for (const each of [agent, active, { ...active, activeIdentity: { seq: 999, since: NOW } }]) {
      assert.deepEqual(await store().reader.findIdentity(each, first.sha256), first)
    }
  })

  test('the current identity is the newest that was used, else the first', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const { reader } = store()
    const other = await insertAgent(store(), 'web-2')
    const current = async (): Promise<string | undefined> => {
      const found = await reader.listCurrentIdentities([other.id, agent.id])
      assert.ok(found.every(({ agentId }) => agentId === agent.id) && found.length <= 1)
      return found[0]?.sha256
    }
    assert.equal(await current(), undefined)
    const certificates = []
    for (let count = 0; count < 4; count += 1) {
      certificates.push(await insertCertificate(store(), agent.id))
    }
    const [first, second, third, fourth] = certificates.map((certificate) => certificate.sha256)
    assert.equal(await current(), first)
    await store().write((writer) => writer.setCertificateFirstUsed(third ?? '', LATER))
    await store().write((writer) => writer.setCertificateFirstUsed(second ?? '', LATER))
    assert.equal(await current(), third)
    assert.equal((await reader.findNewestIdentity(agent.id))?.sha256, fourth)
  })

  test('an identity can turn out to be for a delivery', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const delivery = await insertDelivery(store(), agent.id, await insertCargo(store(), 'site'))
    const certificate = await insertCertificate(store(), agent.id)
    assert.equal(await store().reader.hasCertificateForDelivery(delivery.id), false)
    await store().write((writer) => writer.setCertificateDelivered(certificate.sha256, delivery.id))
    assert.equal(await store().reader.hasCertificateForDelivery(delivery.id), true)
    assert.equal(await store().reader.findNewestIdentity(agent.id), undefined)
  })

  test('revoking takes the certificates that are there, and keeps the instant of earlier ones', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const other = await insertAgent(store(), 'web-2')
    const first = await insertCertificate(store(), agent.id)
    const untouched = await insertCertificate(store(), other.id)
    await store().write((writer) => writer.revokeCertificates(agent.id, NOW))
    const second = await insertCertificate(store(), agent.id)
    await store().write((writer) => writer.revokeCertificates(agent.id, LATER))
    const revokedAt = async (sha256: string): Promise<Date | null | undefined> =>
      (await store().reader.findCertificate(sha256))?.revokedAt
    assert.deepEqual(await revokedAt(first.sha256), NOW)
    assert.deepEqual(await revokedAt(second.sha256), LATER)
    assert.equal(await revokedAt(untouched.sha256), null)
  })

  test('what the CA has yet to revoke is marked done once, and refused until that is forgotten', async () => {
    const { reader } = store()
    const end = new Date(LATER.getTime() + 1)
    const agent = await insertAgent(store(), 'web-1')
    const live = { ...newCertificate(agent.id), notAfter: end }
    const first = await store().write((writer) => writer.insertCertificate(live))
    const mark = (at: Date): Promise<boolean> =>
      store().write((writer) => writer.setCaRevoked(first.sha256, at))
    const refuse = (): Promise<boolean> =>
      store().write((writer) => writer.setCaRefused(first.sha256, LATER, 'no'))
    assert.deepEqual([await mark(NOW), await refuse()], [false, false], 'it is not revoked')
    await store().write((writer) => writer.revokeCertificates(agent.id, NOW))
    const summary = async (now: Date) =>
      (await reader.summarizeCaRevocations([agent.id], now)).get(agent.id)
    assert.deepEqual(await summary(LATER), { waiting: 1, refused: 0, reason: null })
    assert.equal(await summary(end), undefined)
    await store().write((writer) => writer.setCaFailing(LATER, 'away'))
    assert.deepEqual(await summary(LATER), { waiting: 1, refused: 0, reason: 'away' })
    assert.deepEqual([await refuse(), await refuse()], [true, false])
    assert.deepEqual(await summary(LATER), { waiting: 0, refused: 1, reason: 'no' })
    await store().write((writer) => writer.forgetCaRefusals(agent.id, LATER))
    assert.deepEqual(await summary(LATER), { waiting: 1, refused: 0, reason: 'no' })
    const page = { now: LATER, limit: 10, isRefusedIncluded: false }
    assert.deepEqual(await reader.listCaRevocations(page), [
      {
        sha256: first.sha256,
        serial: first.serial,
        purpose: 'identity',
        agentId: agent.id,
        hostname: 'web-1',
        revokedAt: NOW,
        notAfter: end,
        refusedAt: null,
        reason: 'no',
      },
    ])
    assert.deepEqual([await mark(LATER), await mark(LATER), await refuse()], [true, false, false])
    assert.deepEqual(await reader.listCaRevocations(page), [])
    assert.deepEqual(await reader.listCaRevocations({ ...page, after: first.sha256 }), [])
    assert.equal(await reader.listCaRevocations({ ...page, after: 'nonsense' }), undefined)
  })

  test('a certificate is recorded once, and only for an agent that exists', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const {
      seq: _,
      revokedAt: __,
      firstUsedAt: ___,
      ...content
    } = await insertCertificate(store(), agent.id)
    const again = store().write((writer) => writer.insertCertificate(content))
    await assert.rejects(again, { code: 'store_conflict' })
    await assert.rejects(insertCertificate(store(), randomUUID() as AgentId), {
      code: 'store_conflict',
    })
  })
}
