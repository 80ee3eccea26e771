import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MinisignKey, WITH_MINISIGN } from '../../test/support/minisign.ts'
import { asSignedSet, TestTrustKey } from '../../test/support/trust-keys.ts'
import type { SignedSet } from '../protocol/schemas.ts'
import { formatKeyStatement, formatSetStatement } from './statements.ts'
import { makeTrustKey, type TrustKey } from './trust-key.ts'
import { hasRoots, verifySignedSet } from './verify-signed-set.ts'

const A = 'a'.repeat(64)
const B = 'b'.repeat(64)
const [first, second, third] = [new TestTrustKey(), new TestTrustKey(), new TestTrustKey()]
const set3 = first.signSet([A], { numero: 3 })

function reasonOf(demanded: TrustKey, signed: SignedSet | undefined): string {
  const verdict = verifySignedSet(demanded, signed)
  return verdict.ok ? 'none' : verdict.reason
}

describe('a signed set of roots', () => {
  test('[TRK-4] is what the trust key signed', () => {
    const verdict = verifySignedSet(first.trustKey, asSignedSet(set3))
    assert.ok(verdict.ok)
    assert.deepEqual([verdict.key.text, verdict.statement.number], [first.text, 3])
    assert.equal(hasRoots(verdict.statement, [{ sha256: A }, { sha256: A }]), true)
    assert.equal(hasRoots(verdict.statement, [{ sha256: A }, { sha256: B }]), false)
    assert.equal(hasRoots(verdict.statement, []), false)
  })

  test('[TRK-4] is not what nobody, another key or another fleet signed, nor what was changed since', () => {
    const { trustKey } = first
    assert.match(reasonOf(trustKey, undefined), /nobody signed it/)
    const bySecond = second.signSet([A], { numero: 3 })
    assert.match(reasonOf(trustKey, asSignedSet(bySecond)), /by another key/)
    const other = first.signSet([A], { numero: 3, fleet: 'test' })
    assert.match(reasonOf(trustKey, asSignedSet(other)), /for the fleet test, not for prod/)
    const changed = { ...set3, statement: set3.statement.replace(A, B) }
    assert.match(reasonOf(trustKey, asSignedSet(changed)), /for another file/)
    const noise = first.sign('svc-agent 0.7.0\n')
    assert.match(reasonOf(trustKey, asSignedSet(noise)), /no set of roots/)
    const key = first.signNext(second)
    assert.match(reasonOf(trustKey, asSignedSet(key)), /no set of roots/)
    assert.match(reasonOf(trustKey, asSignedSet({ ...set3, signature: '' })), /not a signature/)
  })

  test('[TRK-3] [TRK-4] may be signed by a key that the demanded one led to', () => {
    const changes = [first.signNext(second), second.signNext(third)]
    const byThird = asSignedSet(third.signSet([A], { numero: 5 }), changes)
    for (const { trustKey } of [first, second, third]) {
      const verdict = verifySignedSet(trustKey, byThird)
      assert.ok(verdict.ok)
      assert.equal(verdict.key.text, third.text)
    }
    const stranger = new TestTrustKey()
    assert.match(reasonOf(stranger.trustKey, byThird), /by another key/)
  })

  test('[TRK-3] no key names what comes after another one, and none signs once it has gone', () => {
    const set = second.signSet([A], { numero: 5 })
    const { statement } = first.signNext(second)
    const forged = { statement, signature: second.sign(statement).signature }
    assert.match(reasonOf(first.trustKey, asSignedSet(set, [forged])), /change of its trust key/)
    const change = first.signNext(second)
    const byFirst = asSignedSet(first.signSet([A], { numero: 9 }), [change])
    assert.match(reasonOf(first.trustKey, byFirst), /by another key/)
    assert.match(reasonOf(second.trustKey, byFirst), /by another key/)
    // Of another fleet with the same keys.
    const elsewhere = makeTrustKey('test', first.trustKey.line)
    assert.ok(elsewhere)
    assert.match(reasonOf(elsewhere, asSignedSet(set, [change])), /by another key/)
  })

  test('[TRK-4] of the real minisign is no different', WITH_MINISIGN, async () => {
    await using old = await MinisignKey.create()
    await using next = await MinisignKey.create()
    const [from, to] = [makeTrustKey('prod', old.publicKey), makeTrustKey('prod', next.publicKey)]
    assert.ok(from && to)
    const sign = (key: MinisignKey, statement: string) => ({
      statement,
      signature: key.sign(statement, { trustedComment: null }).toString('utf8'),
    })
    const statement = formatSetStatement({ fleet: 'prod', epoch: 1, number: 4, fingerprints: [A] })
    const change = sign(old, formatKeyStatement({ from, to }))
    const verdict = verifySignedSet(from, asSignedSet(sign(next, statement), [change]))
    assert.ok(verdict.ok)
    assert.equal(verdict.key.text, to.text)
    assert.match(reasonOf(from, asSignedSet(sign(next, statement))), /by another key/)
  })
})
