import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { UserError } from '../../platform/errors.ts'
import { parseProvisionerKey } from './provisioner-key.ts'

function newJwk(): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', kid: 'k1', use: 'sig' }
}

const jwk = newJwk()
const { d: secretPart } = jwk

describe('parseProvisionerKey', () => {
  test('reads a private EC P-256 JWK on one line', () => {
    const key = parseProvisionerKey(JSON.stringify(jwk)).reveal()
    assert.deepEqual(key, {
      kty: 'EC',
      crv: 'P-256',
      kid: 'k1',
      x: jwk['x'],
      y: jwk['y'],
      d: jwk['d'],
    })
  })

  test('reads one that names neither its algorithm nor its id', () => {
    const { alg: _alg, kid: _kid, ...bare } = jwk
    assert.equal(parseProvisionerKey(JSON.stringify(bare)).reveal().kid, undefined)
  })

  test('prints as redacted', () => {
    const key = parseProvisionerKey(JSON.stringify(jwk))
    assert.equal(`${inspect(key)}${JSON.stringify({ key })}`.includes(String(secretPart)), false)
  })

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['text that is not JSON', `{"d":"${String(secretPart)}`, /is not JSON$/],
    ['a list', '[]', /is not a JSON object$/],
    ['an encrypted key', JSON.stringify({ ciphertext: 'x', protected: 'y' }), /is encrypted$/],
    ['a public key', JSON.stringify({ ...jwk, d: undefined }), /has no private part \(d\)$/],
    [
      'another curve',
      JSON.stringify({ ...jwk, crv: 'P-384' }),
      /is not an EC P-256 key for ES256$/,
    ],
    ['another kind', JSON.stringify({ ...jwk, kty: 'RSA' }), /is not an EC P-256 key for ES256$/],
    [
      'a short coordinate',
      JSON.stringify({ ...jwk, x: 'AA' }),
      /that is not 32 bytes of base64url$/,
    ],
    [
      'a kid that is a number',
      JSON.stringify({ ...jwk, kid: 1 }),
      /has a kid that is not a string$/,
    ],
    [
      'a private part of another key',
      JSON.stringify({ ...jwk, d: newJwk()['d'] }),
      /does not fit its public part$/,
    ],
    [
      'a private part of zero',
      JSON.stringify({ ...jwk, d: 'A'.repeat(43) }),
      /does not fit its public part$/,
    ],
  ]
  for (const [what, json, message] of refused) {
    test(`refuses ${what} without quoting it`, () => {
      assert.throws(
        () => parseProvisionerKey(json),
        (error: unknown) => {
          assert.ok(error instanceof UserError)
          assert.match(error.message, message)
          assert.equal(inspect(error, { depth: 9 }).includes(String(secretPart)), false)
          return true
        },
      )
    })
  }
})
