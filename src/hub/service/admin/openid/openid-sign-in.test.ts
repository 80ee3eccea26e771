// A sign-in by an OpenID provider that always says yes: what the hub makes up for each, and how long what it gives is good.

import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { NOW } from '../../../../../test/store/store-samples.ts'
import { createSettableClock } from '../../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../../test/support/temporary-store.ts'
import { Secret } from '../../../../platform/secret.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import type { OpenidProvider, OpenidRequest } from '../../../domain/openid-provider.ts'
import type { Store } from '../../../store/store.ts'
import { createOpenidSignIn } from './openid-sign-in.ts'

const SECRET = 's'.repeat(43)
const KEY = hash('sha256', SECRET, 'base64url')
const ISSUER = 'https://sso.example.org/'

function openSignIn(store: Store) {
  const requests: OpenidRequest[] = []
  const provider: OpenidProvider = {
    authorizationUrl: async (request) => {
      requests.push(request)
      return { ok: true, url: new URL(ISSUER) }
    },
    exchange: async () => {
      const all = { email: 'alice@example.org' }
      return { ok: true, claims: { issuer: ISSUER, subject: '7', all } }
    },
    look: async () => ({ ok: true }),
  }
  const signIn = createOpenidSignIn({
    settings: {
      name: 'Example SSO',
      issuer: ISSUER,
      clientId: 'cartorio',
      ttlMs: 3_600_000,
      nameClaim: 'email',
      groupsClaim: 'groups',
      roles: [{ role: 'viewer', only: null, group: '*' }],
    },
    provider,
    store,
    clock: createSettableClock(NOW),
    dataKey: new Secret(randomBytes(32)),
    consoleUrl: 'https://hub.test:8445/console',
    isAskedAgainForSvc: false,
  })
  return { signIn, requests }
}

test('[OID-9] each sign-in has a state, a nonce and a verifier of 32 random bytes of its own', async () => {
  await using store = await openTemporaryStore()
  const { signIn, requests } = openSignIn(store)
  for (let at = 0; at < 20; at += 1) {
    await signIn.start({ for: 'console', key: KEY }, 'own page')
  }
  const made = requests.flatMap(({ nonce, verifier }) => [nonce, verifier])
  assert.equal(new Set(made).size, 40)
  for (const text of made) assert.match(text, /^[\w-]{43}$/)
  assert.equal(new Set(requests.map(({ state }) => state)).size, 20)
})

test('[OID-4] the code of a page is good for a minute', async () => {
  await using store = await openTemporaryStore()
  const { signIn, requests } = openSignIn(store)
  await signIn.start({ for: 'console', key: KEY }, 'own page')
  const answer = { code: 'a code', state: requests[0]?.state ?? '', secret: SECRET }
  const finished = await signIn.finish(answer, 'own page')
  assert.ok('code' in finished)
  assert.match(finished.code, /^svcl_[\w-]{43}$/)
  const code = await store.reader.sessions.findCode(hashToken(finished.code))
  assert.deepEqual(code?.expiresAt, new Date(NOW.getTime() + 60_000))
})
