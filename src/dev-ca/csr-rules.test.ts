import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CsrOptions, createRawCsrPem } from '../../test/support/raw-ca-client.ts'
import { findCsrFault, readCsr } from './csr-rules.ts'
import type { TokenClaims } from './token-verifier.ts'

const CLAIMS: TokenClaims = {
  subject: 'web-1',
  sans: ['web-1', '10.0.0.1'],
  csrFingerprint: undefined,
}

async function answerTo(csr: CsrOptions, claims: Partial<TokenClaims> = {}): Promise<string> {
  const request = readCsr(await createRawCsrPem(csr))
  assert.ok(typeof request === 'object')
  const fault = findCsrFault(request, { ...CLAIMS, ...claims })
  return fault === undefined ? 'ok' : `${fault.status} ${fault.message}`
}

const WRONG_NAMES = '403 certificate request does not contain the valid names'
const WRONG_SUBJECT = '403 certificate request does not contain the valid common name'
const UNUSABLE_NAME = '403 token names something that is neither a DNS name nor an IP address'

describe('rules for a CSR', () => {
  const table: readonly (readonly [string, CsrOptions, Partial<TokenClaims>, string])[] = [
    ['no names but the CN', {}, {}, 'ok'],
    ['no names at all', { commonName: '' }, {}, 'ok'],
    ['another CN', { commonName: 'web-2' }, {}, WRONG_SUBJECT],
    ['the names of the token in another order', { sans: ['10.0.0.1', 'web-1'] }, {}, 'ok'],
    // The real step-ca compares the kinds of names apart, and lets a kind that is missing pass.
    ['only the DNS names of a token with addresses', { sans: ['web-1'] }, {}, WRONG_NAMES],
    ['a wildcard that the token names', {}, { sans: ['*.web.example'] }, 'ok'],
    ['a token name with a blank', {}, { sans: ['a b'] }, UNUSABLE_NAME],
    ['a token name beyond ASCII', {}, { sans: ['é.example'] }, UNUSABLE_NAME],
    ['a token name that is a URI', {}, { sans: ['spiffe://a/b'] }, UNUSABLE_NAME],
    ['an empty fingerprint', {}, { csrFingerprint: '' }, 'ok'],
    [
      'another fingerprint',
      {},
      { csrFingerprint: 'x' },
      '403 certificate request fingerprint does not match the token',
    ],
  ]
  for (const [what, csr, claims, expected] of table) {
    test(`answer "${expected}" to ${what}`, async () => {
      assert.equal(await answerTo(csr, claims), expected)
    })
  }

  test('tell a weak key from no CSR', async () => {
    assert.equal(readCsr(await createRawCsrPem({ algorithm: 'RSA-1024' })), 'unacceptable_key')
    assert.equal(readCsr('nonsense'), 'malformed')
  })
})
