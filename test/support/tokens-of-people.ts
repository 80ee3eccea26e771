import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { hashToken } from '../../src/hub/domain/hash-token.ts'
import type { Store } from '../../src/hub/store/store.ts'

/** As a sign-in at the provider makes one, with the rights of the first token; its text. */
export async function insertTokenOfPerson(
  store: Store,
  name: string,
  subject: string,
): Promise<string> {
  const token = `svca_${randomBytes(32).toString('base64url')}`
  const person = { issuer: 'https://sso.example.org', subject }
  await store.write(async (writer) => {
    const first = (await writer.listAccessTokens()).at(-1)
    assert.ok(first !== undefined)
    await writer.insertAccessToken({ ...first, hash: hashToken(token), name, person })
  })
  return token
}
