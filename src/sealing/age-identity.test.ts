import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runBytes } from '../../test/support/run-bytes.ts'
import { parseRecipient } from '../protocol/identifiers.ts'
import {
  fingerprintOf,
  generateAgeIdentity,
  parseIdentityFile,
  recipientOf,
} from './age-identity.ts'

describe('an identity', () => {
  test('has a recipient of the hybrid kind, and each has its own', async () => {
    const one = await recipientOf(await generateAgeIdentity())
    const other = await recipientOf(await generateAgeIdentity())
    assert.equal(parseRecipient(one), one)
    assert.notEqual(one, other)
    assert.notEqual(fingerprintOf(one), fingerprintOf(other))
  })

  test('has a fingerprint that other tools can make', async () => {
    const recipient = await recipientOf(await generateAgeIdentity())
    const digest = await runBytes('openssl', ['dgst', '-sha256', '-binary'], Buffer.from(recipient))
    assert.equal(fingerprintOf(recipient), `SHA256:${digest.toString('base64').replace('=', '')}`)
  })

  test('with a wrong letter is refused', async () => {
    const identity = await generateAgeIdentity()
    const last = identity.endsWith('Q') ? 'P' : 'Q'
    await assert.rejects(recipientOf(`${identity.slice(0, -1)}${last}`))
  })
})

describe('an identity file', () => {
  const identity = `AGE-SECRET-KEY-PQ-1${'Q'.repeat(40)}`
  const cases: readonly (readonly [string, string, string | undefined])[] = [
    ['only the identity', identity, identity],
    ['comments, empty lines and Windows line ends', `# made\r\n\r\n${identity}\r\n# end`, identity],
    ['nothing', '', undefined],
    ['comments alone', '# made\n', undefined],
    ['two identities', `${identity}\n${identity}\n`, undefined],
    ['a classic identity', `AGE-SECRET-KEY-1${'Q'.repeat(58)}\n`, undefined],
    ['anything else beside it', `${identity}\npassword\n`, undefined],
    ['a recipient', `age1pq1${'q'.repeat(1952)}\n`, undefined],
  ]
  for (const [what, text, expected] of cases) {
    test(`with ${what} has ${expected === undefined ? 'none' : 'one'}`, () => {
      assert.equal(parseIdentityFile(text), expected)
    })
  }
})
