import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeCa } from '../../../../test/fakes/hub-certificates.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { TestTrustKey } from '../../../../test/support/trust-keys.ts'
import { parseCertificatesPem } from '../../../pki/certificates.ts'
import type { Logger } from '../../../platform/logger.ts'
import { StoreError } from '../../store/store-error.ts'
import type { Store } from '../../store/store.ts'
import { openRootSet } from './open-root-set.ts'

test('[TRU-11] a start that cannot write the next set down goes on with the one in force', async () => {
  await using store = await openTemporaryStore()
  const [first, next] = await Promise.all([createFakeCa(), createFakeCa()])
  const roots = parseCertificatesPem(first.rootPem)
  const wanted = [...roots, ...parseCertificatesPem(next.rootPem)]
  const clock = { now: () => new Date(), sleep: () => Promise.resolve() }
  const warnings: string[] = []
  const log = {
    warn: (_fields: object, message: string) => warnings.push(message),
    info: () => undefined,
  } as unknown as Logger
  const set = await openRootSet({ store, clock, log }, roots)
  const full: Store = {
    reader: store.reader,
    version: 0,
    versionOf: () => 0,
    write: () => Promise.reject(new StoreError('store_unavailable', 'database or disk is full')),
    close: () => Promise.resolve(),
  }
  assert.deepEqual(await openRootSet({ store: full, clock, log }, wanted), set)
  assert.deepEqual(warnings, ['Root file not used, the roots stay'])
  assert.equal((await openRootSet({ store, clock, log }, wanted)).number, 2)
})

test('[TRK-8] a start puts no roots in force that the trust key did not sign', async () => {
  await using store = await openTemporaryStore()
  const [first, next] = await Promise.all([createFakeCa(), createFakeCa()])
  const key = new TestTrustKey()
  const roots = parseCertificatesPem(first.rootPem)
  const signed = key.signSet(
    roots.map(({ sha256 }) => sha256),
    { numero: 2 },
  )
  const set = {
    epoch: 1,
    number: 2,
    pem: first.rootPem,
    createdAt: new Date(),
    trust: { firstKey: key.text, key: key.text, signed: { ...signed, key_changes: [] } },
  }
  await store.write((writer) => writer.insertRootSet(set))
  const clock = { now: () => new Date(), sleep: () => Promise.resolve() }
  const { log, lines } = collectLog()
  const wanted = [...roots, ...parseCertificatesPem(next.rootPem)]
  assert.deepEqual(await openRootSet({ store, clock, log }, wanted), set)
  assert.equal(lines[0]?.message, 'Root file not used, the roots stay')
  assert.match(JSON.stringify(lines[0]?.fields), /signs every set.*svc bundle sign/)
  assert.deepEqual(await openRootSet({ store, clock, log }, roots), set)
  assert.equal(lines.length, 1)
})

test('[HUB-8] of hubs that start together with a new vault one puts the first roots in force', async () => {
  await using store = await openTemporaryStore()
  const { rootPem } = await createFakeCa()
  const clock = { now: () => new Date(0), sleep: () => Promise.resolve() }
  const { log } = collectLog()
  const start = () =>
    openRootSet({ store, clock, log, isShared: true }, parseCertificatesPem(rootPem))
  const [one, other] = await Promise.all([start(), start()])
  assert.deepEqual(other, one)
})
