import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { insertAgent, newAgent, newCertificate, NOW } from '../../../../test/store/store-samples.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'
import { distinctRoots, findEndangeredBy, insertRootSet, toPem } from './change-root-set.ts'

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

async function trust(agentId: AgentId, fingerprints: readonly string[]): Promise<void> {
  const said = { agentId, number: 1, fingerprints, pinned: null, error: null, reportedAt: NOW }
  await store.write((writer) => writer.setAgentTrust(said))
}

async function endangered(current: Certificate[], wanted: Certificate[]): Promise<string[]> {
  const found = await findEndangeredBy(store.reader, current, wanted, NOW)
  return found.map(({ hostname, reasons }) => `${hostname}: ${reasons.join(', ')}`)
}

test('[TRU-2] a root that a file has twice counts once, where it stood first', () => {
  const roots = distinctRoots([next, old, next])
  assert.deepEqual(
    roots.map(({ sha256 }) => sha256),
    [next.sha256, old.sha256],
  )
  assert.equal(toPem(roots), next.pem + old.pem)
})

describe('[TRU-10] a root that goes endangers', () => {
  test('whoever has not said what it trusts, trusts none that stays, or has a certificate of it', async () => {
    await insertAgent(store, 'silent')
    const [trusting, old1, both] = [
      await insertAgent(store, 'trusting'),
      await insertAgent(store, 'old'),
      await insertAgent(store, 'with-old-identity'),
    ]
    await trust(trusting.id, [next.sha256])
    await trust(old1.id, [old.sha256])
    await trust(both.id, [old.sha256, next.sha256])
    const certificate = { ...newCertificate(both.id), serial: 'c0ffee', rootSha256: old.sha256 }
    await store.write((writer) => writer.insertCertificate(certificate))
    assert.deepEqual(await endangered([old, next], [next]), [
      'old: trusts none of the roots that stay',
      'silent: has not said what it trusts',
      'with-old-identity: identity c0ffee',
    ])
  })

  test('nobody when it is expired, or when none goes', async () => {
    assert.deepEqual(await endangered([old, expired], [old]), [])
    assert.deepEqual(await endangered([old], [old, next]), [])
    assert.deepEqual(await endangered([old], [old]), [])
    assert.equal((await endangered([old, expired], [next])).length, 3)
  })

  test('[FLT-7] all of them when they are more than are looked at in one turn', async () => {
    await store.write(async (writer) => {
      for (let index = 0; index < 600; index += 1)
        await writer.insertAgent(newAgent(`many-${index}`))
    })
    const found = await endangered([old], [next])
    assert.equal(found.filter((one) => one.startsWith('many-')).length, 600)
  })
})

test('[TRU-1] a change is written, and says what its entry is', async () => {
  const change = {
    current: [old],
    next: [next, expired],
    number: { epoch: 2, number: 7 },
    endangered: 3,
  }
  const { set, acts } = await store.write((writer) => insertRootSet(writer, NOW, change))
  const expected = { epoch: 2, number: 7, pem: next.pem + expired.pem, createdAt: NOW }
  assert.deepEqual(set, expected)
  assert.deepEqual(await store.reader.findRootSet(), expected)
  const payload = {
    numero: 7,
    epoca: 2,
    fingerprints: [next.sha256, expired.sha256],
    added: [next.sha256, expired.sha256],
    removed: [old.sha256],
    agentes_endangered: 3,
  }
  assert.deepEqual(acts, [{ type: 'bundle_changed', payload }])
})
