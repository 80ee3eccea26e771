import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { NOW } from '../../../../test/store/store-samples.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import { TestTrustKey } from '../../../../test/support/trust-keys.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { SignedStatement } from '../../../protocol/schemas.ts'
import type { RootSet, SetTrust } from '../../domain/root-set.ts'
import { decideSignedSet } from './decide-signed-set.ts'

const [key, next, stranger] = [new TestTrustKey(), new TestTrustKey(), new TestTrustKey()]
let roots: Certificate[]
before(async () => {
  const until = new Date(NOW.getTime() + 86_400_000)
  roots = [await createSampleRoot('Old', until), await createSampleRoot('Next', until)]
})

const fingerprints = (): string[] => roots.map(({ sha256 }) => sha256)
const signed = (by: TestTrustKey, numero = 5, epoca = 1): SignedStatement =>
  by.signSet(fingerprints(), { numero, epoca })

function decide(trust: SetTrust | undefined, request: AdminRequest<'signBundle'>) {
  const set: RootSet = { epoch: 1, number: 4, pem: '', createdAt: NOW, ...(trust && { trust }) }
  return decideSignedSet({ set, next: roots, request })
}

function reasonOf(trust: SetTrust | undefined, request: AdminRequest<'signBundle'>): string {
  const verdict = decide(trust, request)
  return verdict.ok ? 'none' : verdict.reason
}

const trustOf = (
  by: TestTrustKey,
  changes: readonly SignedStatement[] = [],
  first = by,
): SetTrust => ({
  firstKey: first.text,
  key: by.text,
  signed: { ...signed(by, 4), key_changes: [...changes] },
})

describe('a signed set of roots at the hub', () => {
  test('[TRK-8] begins with the key that the operator names', () => {
    const verdict = decide(undefined, { ...signed(key), trust_key: key.text })
    assert.ok(verdict.ok)
    assert.deepEqual(verdict.trust, {
      firstKey: key.text,
      key: key.text,
      signed: { ...signed(key), key_changes: [] },
    })
    assert.match(reasonOf(undefined, signed(key)), /no trust key yet/)
    assert.match(
      reasonOf(undefined, { ...signed(key), trust_key: 'prod:RWQ' }),
      /not a fleet and a key/,
    )
  })

  test('[TRK-8] is signed by the trust key, for the roots of the file, its fleet and its época', () => {
    const trust = trustOf(key)
    assert.equal(reasonOf(trust, signed(key)), 'none')
    assert.match(reasonOf(trust, signed(stranger)), /by another key/)
    const [one = ''] = fingerprints()
    const fewer = key.signSet([one], { numero: 5 })
    assert.match(reasonOf(trust, fewer), /other roots: .* is in the file, and not signed$/)
    const other = key.signSet([...fingerprints(), 'f'.repeat(64)], { numero: 5 })
    assert.match(reasonOf(trust, other), /other roots: f{64} is signed, and not in the file$/)
    const elsewhere = key.signSet(fingerprints(), { numero: 5, fleet: 'test' })
    assert.match(reasonOf(trust, elsewhere), /for the fleet test/)
    assert.match(reasonOf(trust, signed(key, 5, 3)), /its época is 3/)
    assert.equal(reasonOf(trust, signed(key, 1, 2)), 'none')
    assert.match(reasonOf(trust, key.sign('svc-agent\n')), /no set of roots/)
  })

  test('[TRK-8] goes on with the next key, which the key until then has to name', () => {
    const trust = trustOf(key)
    const change = key.signNext(next)
    const verdict = decide(trust, { ...signed(next), key_change: change })
    assert.ok(verdict.ok)
    assert.deepEqual([verdict.trust.firstKey, verdict.trust.key], [key.text, next.text])
    assert.match(reasonOf(trust, signed(next)), /by another key/)
    assert.match(reasonOf(trust, { ...signed(key), key_change: change }), /by another key/)
    const { statement } = change
    const forged = next.sign(statement)
    assert.match(
      reasonOf(trust, { ...signed(next), key_change: forged }),
      /change of its trust key/,
    )
    const away = stranger.signNext(next)
    assert.match(reasonOf(trust, { ...signed(next), key_change: away }), /and the trust key is/)
    assert.match(
      reasonOf(trust, { ...signed(next), key_change: signed(key) }),
      /no statement of that/,
    )
    const back = trustOf(next, [change], key)
    const again = { ...signed(key), key_change: next.signNext(key) }
    assert.match(reasonOf(back, again), /was the trust key before/)
  })

  test('[TRK-8] begins with another key only by force', () => {
    const trust = trustOf(key)
    const request = { ...signed(stranger), trust_key: stranger.text }
    assert.match(reasonOf(trust, request), /agents that demand it refuse what/)
    const verdict = decide(trust, { ...request, force: true })
    assert.ok(verdict.ok)
    assert.deepEqual(verdict.trust.signed.key_changes, [])
    assert.equal(verdict.trust.firstKey, stranger.text)
    assert.equal(reasonOf(trust, { ...signed(key), trust_key: key.text }), 'none')
  })

  test('[TRK-3] hands out the last eight changes', () => {
    const keys = Array.from({ length: 10 }, () => new TestTrustKey())
    let trust = trustOf(keys[0] ?? key)
    for (const [at, to] of keys.entries()) {
      const from = keys[at - 1]
      if (from === undefined) continue
      const verdict = decide(trust, { ...signed(to), key_change: from.signNext(to) })
      assert.ok(verdict.ok)
      ;({ trust } = verdict)
    }
    assert.equal(trust.signed.key_changes.length, 8)
    assert.deepEqual([trust.firstKey, trust.key], [keys[1]?.text, keys[9]?.text])
  })
})
