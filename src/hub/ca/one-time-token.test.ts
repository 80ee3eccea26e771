import assert from 'node:assert/strict'
import { createHash, createPublicKey } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { generateProvisionerJwk } from '../../dev-ca/provisioner.ts'
import { createOneTimeTokenSigner } from './one-time-token.ts'
import { parseProvisionerKey } from './provisioner-key.ts'

const NOW = new Date('2026-11-21T10:00:00.700Z')
const clock = { now: () => NOW, sleep: () => Promise.resolve() }
const csrDer = Buffer.from('not really a CSR')
const request = {
  issuer: 'the provisioner',
  audience: 'https://ca.example/1.0/sign',
  subject: 'web-1',
  signing: {
    sans: ['web-1', '*.web.example'],
    csrSha256: createHash('sha256').update(csrDer).digest('hex'),
  },
}

describe('one-time token', async () => {
  const jwk = await generateProvisionerJwk()
  const signToken = createOneTimeTokenSigner({
    key: parseProvisionerKey(JSON.stringify(jwk)),
    kid: 'the kid',
    clock,
  })

  test('[CAX-2] [CAX-3] [CAX-4] [CAX-5] carries what the CA asks for, and no iat', () => {
    const token = signToken(request)
    const { jti, ...claims } = decodeJwt(token)
    assert.equal(typeof jti, 'string')
    assert.deepEqual(claims, {
      iss: 'the provisioner',
      aud: 'https://ca.example/1.0/sign',
      sub: 'web-1',
      sans: ['web-1', '*.web.example'],
      cnf: { 'x5rt#S256': createHash('sha256').update(csrDer).digest('base64url') },
      nbf: Date.parse('2026-11-21T09:59:00Z') / 1000,
      exp: Date.parse('2026-11-21T10:05:00Z') / 1000,
    })
    assert.deepEqual(decodeProtectedHeader(token), { alg: 'ES256', kid: 'the kid', typ: 'JWT' })
  })

  test('[CAX-1] is signed by the provisioner key', async () => {
    const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    await jwtVerify(signToken(request), publicKey, { currentDate: NOW })
  })

  test('[CAX-1] has a signature of 64 bytes, also when a number of it is short', async () => {
    const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    // One of 128 signatures has a number that begins with a zero byte.
    for (let count = 0; count < 600; count += 1) {
      const token = signToken(request)
      assert.equal(Buffer.from(token.split('.')[2] ?? '', 'base64url').length, 64)
      await jwtVerify(token, publicKey, { currentDate: NOW })
    }
  })

  test('[REV-3] signs nothing when it is for a revocation', () => {
    const audience = 'https://ca.example/1.0/revoke'
    const token = signToken({ issuer: 'the provisioner', audience, subject: '255' })
    const { jti, nbf, exp, ...claims } = decodeJwt(token)
    assert.deepEqual(claims, { iss: 'the provisioner', aud: audience, sub: '255' })
    assert.deepEqual([typeof jti, typeof nbf, typeof exp], ['string', 'number', 'number'])
  })

  test('[CAX-5] has an id of its own every time', () => {
    const [first, second] = [signToken(request), signToken(request)]
    assert.notEqual(decodeJwt(first).jti, decodeJwt(second).jti)
  })
})
