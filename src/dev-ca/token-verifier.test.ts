import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { describe, test } from 'node:test'
import { SignJWT } from 'jose'
import { generateProvisionerJwk, publicPartOf } from './provisioner.ts'
import { createTokenVerifier, type TokenVerifier } from './token-verifier.ts'

const START_SECONDS = 1_800_000_000
const jwk = await generateProvisionerJwk()
const privateKey = createPrivateKey({ key: { ...jwk }, format: 'jwk' })

/** A verifier started at START_SECONDS, asked `ageSeconds` later. */
function verifierAt(ageSeconds: number): TokenVerifier {
  let nowMs = START_SECONDS * 1000 + 700
  const verifier = createTokenVerifier({
    provisionerName: 'cartorio',
    provisionerKey: publicPartOf(jwk),
    dnsNames: ['ca.example', '::1'],
    clock: { now: () => new Date(nowMs), sleep: () => Promise.resolve() },
  })
  nowMs += ageSeconds * 1000 - 700
  return verifier
}

function token(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const good = {
    iss: 'cartorio',
    aud: 'https://ca.example:9000/1.0/sign',
    sub: 'web-1',
    exp: START_SECONDS + 1000,
    jti: 'j1',
  }
  return new SignJWT({ ...good, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: jwk.kid })
    .sign(privateKey)
}

async function answerTo(
  claims: Readonly<Record<string, unknown>>,
  ageSeconds = 100,
): Promise<string> {
  const verdict = await verifierAt(ageSeconds).verify(await token(claims), 'sign')
  return verdict.ok ? 'ok' : verdict.message
}

describe('token verifier', () => {
  const table: readonly (readonly [string, Readonly<Record<string, unknown>>, number, string])[] = [
    ['a good token', {}, 100, 'ok'],
    ['an expiry a minute ago', {}, 1060, 'ok'],
    ['an expiry longer ago', {}, 1061, 'token is expired (exp)'],
    ['a begin in a minute', { nbf: START_SECONDS + 160 }, 100, 'ok'],
    ['a later begin', { nbf: START_SECONDS + 161 }, 100, 'token not valid yet (nbf)'],
    ['an iat in the second of the start', { iat: START_SECONDS }, 100, 'ok'],
    [
      'an iat a second before the start',
      { iat: START_SECONDS - 1 },
      100,
      'token issued before the bootstrap of certificate authority',
    ],
    ['an iat too far ahead', { iat: START_SECONDS + 161 }, 100, 'token issued in the future (iat)'],
    ['an audience by IPv6 address', { aud: 'https://[::1]:9000/1.0/sign' }, 100, 'ok'],
    ['an audience that is no URL', { aud: 'sign' }, 100, 'invalid token audience claim (aud)'],
    [
      'an audience of another host',
      { aud: 'https://ca.example.org/1.0/sign' },
      100,
      'invalid token audience claim (aud)',
    ],
    ['no expiry', { exp: undefined }, 100, 'error parsing token'],
    ['names that are numbers', { sans: [1] }, 100, 'error parsing token'],
    ['an empty subject', { sub: '' }, 100, 'token subject cannot be empty'],
  ]
  for (const [what, claims, ageSeconds, expected] of table) {
    test(`answers "${expected}" to ${what}`, async () => {
      assert.equal(await answerTo(claims, ageSeconds), expected)
    })
  }

  test('makes the subject the only name when the token has none', async () => {
    const verdict = await verifierAt(100).verify(await token(), 'sign')
    assert.deepEqual(verdict, {
      ok: true,
      claims: { subject: 'web-1', sans: ['web-1'], csrFingerprint: undefined },
    })
  })

  test('burns a token that it refuses, so that it is not good later', async () => {
    const verifier = verifierAt(100)
    const early = await token({ nbf: START_SECONDS + 500 })
    await verifier.verify(early, 'sign')
    const verdict = await verifier.verify(early, 'sign')
    assert.equal(verdict.ok || verdict.message, 'token already used')
  })

  test('does not take a token without a signature', async () => {
    const [header = '', payload = ''] = (await token()).split('.')
    const none = Buffer.from(JSON.stringify({ alg: 'none', kid: jwk.kid })).toString('base64url')
    for (const forged of [`${none}.${payload}.`, `${header}.${payload}.`]) {
      const verdict = await verifierAt(100).verify(forged, 'sign')
      assert.equal(verdict.ok || verdict.message, 'error verifying token')
    }
  })
})
