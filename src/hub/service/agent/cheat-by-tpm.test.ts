// What a host with a TPM, or without one, may try: docs/protocol.md JNR-43.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  AK_ATTRIBUTES,
  makeAk,
  makeTpm,
  type SoftwareAk,
} from '../../../../test/fakes/software-tpm.ts'
import { createTpmMaker } from '../../../../test/fakes/tpm-maker.ts'
import { makeCsrPem } from '../../../../test/support/made-csr.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import {
  bytesOf,
  type Course,
  openTpmScene,
  type TokenBody,
  type TpmScene,
} from '../../../../test/support/tpm-scene.ts'
import type { Store } from '../../store/store.ts'

const OTHER_CSR = makeCsrPem('other')
const SECOND_MS = 1000

let store: Store & AsyncDisposable
let scene: TpmScene

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())

describe('[JNR-43] of every way to cheat', () => {
  const tpm = makeTpm()
  const without = (bit: number): SoftwareAk => makeAk({ attributes: AK_ATTRIBUTES & ~(1 << bit) })
  const rename = (field: keyof TokenBody, value: () => string | number): Course => ({
    change: (token) => ({ ...token, [field]: value() }),
  })
  const base64 = (length: number): string => randomBytes(length).toString('base64')
  const other = makeTpm()
  beforeEach(async () => {
    scene = await openTpmScene(store, tpm)
  })
  /** With the secret of a challenge for something else. */
  const stolen =
    (of: () => Course): (() => Promise<Course>) =>
    async () => {
      const token = await scene.answer(of())
      assert.ok(typeof token === 'object')
      return rename('secret', () => token.secret)
    }

  const cheats: [
    how: string,
    course: () => Course | Promise<Course>,
    refusal: string,
    reason?: string,
  ][] = [
    [
      'a TPM of another maker',
      async () => ({ certificate: await (await createTpmMaker()).certify(tpm.ek.spki) }),
      'challenge: token_not_found',
    ],
    [
      'a maker of the same name',
      async () => ({
        certificate: await (await createTpmMaker(scene.maker.name)).certify(tpm.ek.spki),
      }),
      'challenge: token_not_found',
      'ek_certificate',
    ],
    [
      'a TPM that is not listed, without a certificate',
      () => ({ ek: tpm.ek.spki }),
      'challenge: token_not_found',
    ],
    [
      'a certificate that has expired',
      async () => ({
        certificate: await scene.maker.certify(tpm.ek.spki, {
          notAfter: new Date('2021-01-01T00:00:00Z'),
        }),
      }),
      'challenge: token_not_found',
      'ek_certificate',
    ],
    [
      'a certificate of a TLS server',
      async () => ({
        certificate: await scene.maker.certify(tpm.ek.spki, { purposes: ['1.3.6.1.5.5.7.3.1'] }),
      }),
      'challenge: token_not_found',
    ],
    [
      'a certificate for no purpose',
      async () => ({ certificate: await scene.maker.certify(tpm.ek.spki, { purposes: [] }) }),
      'challenge: token_not_found',
    ],
    [
      'a certificate of a CA',
      async () => ({ certificate: await scene.maker.certify(tpm.ek.spki, { isCa: true }) }),
      'challenge: token_not_found',
    ],
    [
      'a certificate with a name of 2 KiB',
      async () => ({
        certificate: await scene.maker.certify(tpm.ek.spki, { model: 'x'.repeat(2048) }),
      }),
      'challenge: token_not_found',
    ],
    [
      'a certificate with its signature changed',
      async () => ({ certificate: changeLast(await scene.maker.certify(tpm.ek.spki)) }),
      'challenge: token_not_found',
      'ek_certificate',
    ],
    [
      'a certified key with the exponent 3',
      async () => ({ certificate: await scene.maker.certify(rsa(2048, 3)) }),
      'challenge: token_not_found',
    ],
    [
      'a certified key of 1024 bits',
      async () => ({ certificate: await scene.maker.certify(rsa(1024)) }),
      'challenge: token_not_found',
    ],
    [
      'a certified key of 3072 bits',
      async () => ({ certificate: await scene.maker.certify(rsa(3072)) }),
      'challenge: token_not_found',
    ],
    [
      'an AK that may leave the TPM (fixedTPM)',
      () => ({ ak: without(1) }),
      'challenge: token_not_found',
      'attestation_key',
    ],
    [
      'an AK that may change its parent (fixedParent)',
      () => ({ ak: without(4) }),
      'challenge: token_not_found',
      'attestation_key',
    ],
    [
      'an AK that was made outside (sensitiveDataOrigin)',
      () => ({ ak: without(5) }),
      'challenge: token_not_found',
      'attestation_key',
    ],
    [
      'an AK that signs anything (restricted)',
      () => ({ ak: without(16) }),
      'challenge: token_not_found',
      'attestation_key',
    ],
    [
      'an AK that does not sign',
      () => ({ ak: without(18) }),
      'challenge: token_not_found',
      'attestation_key',
    ],
    [
      'an AK that decrypts',
      () => ({ ak: makeAk({ attributes: AK_ATTRIBUTES | (1 << 17) }) }),
      'challenge: token_not_found',
      'attestation_key',
    ],
    [
      'an AK of another form',
      () => ({ ak: makeAk({ curve: 'P-384' }) }),
      'challenge: token_not_found',
      'attestation_key',
    ],
    ['a secret that it guessed', () => rename('secret', () => base64(32)), 'token_not_found'],
    [
      'a secret of the rule with a guess after it',
      () => ({
        change: (token) => ({
          ...token,
          secret: Buffer.concat([bytesOf(token.secret).subarray(0, 8), randomBytes(24)]).toString(
            'base64',
          ),
        }),
      }),
      'token_not_found',
      'challenge',
    ],
    [
      'a secret with bytes after it',
      () => ({
        change: (token) => ({
          ...token,
          secret: Buffer.concat([bytesOf(token.secret), Buffer.of(0)]).toString('base64'),
        }),
      }),
      'token_not_found',
      'challenge',
    ],
    [
      'the id of the rule alone',
      () => ({
        change: (token) => ({
          ...token,
          secret: bytesOf(token.secret).subarray(0, 8).toString('base64'),
        }),
      }),
      'token_not_found',
      'challenge',
    ],
    [
      'an AK of another TPM',
      () => rename('ak', () => makeAk().public.toString('base64')),
      'token_not_found',
      'challenge',
    ],
    [
      'an AK that signs anything, put in afterwards',
      () => rename('ak', () => without(16).public.toString('base64')),
      'token_not_found',
    ],
    [
      'the EK of another TPM',
      () => rename('ek', () => other.ek.sha256),
      'token_not_found',
      'challenge',
    ],
    [
      'another end of the challenge',
      () => ({ change: (token) => ({ ...token, until: token.until + 1 }) }),
      'token_not_found',
      'challenge',
    ],
    ['a secret of another AK', stolen(() => ({ ak: makeAk() })), 'token_not_found', 'challenge'],
    ['a secret of another TPM', stolen(() => ({ tpm: other })), 'token_not_found', 'challenge'],
    ['a secret of another host', stolen(() => ({ host: 'r2' })), 'token_not_found', 'challenge'],
    ['a secret of another role', stolen(() => ({ role: 'db' })), 'token_not_found', 'challenge'],
    [
      'another host than the one that it asked for',
      () => ({ askedHost: 'r2' }),
      'token_not_found',
      'challenge',
    ],
    [
      'another role than the one that it asked for',
      () => ({ askedRole: 'db' }),
      'token_not_found',
      'challenge',
    ],
    [
      'a host and a role that only look the same together',
      () => ({ host: 'r1', role: 'rack', askedHost: 'r1', askedRole: `rack","` }),
      'token_not_found',
      'challenge',
    ],
    ['a challenge that is over', () => ({ waitMs: 361 * SECOND_MS }), 'token_expired', 'lifetime'],
    ['a quote over another CSR', () => ({ quotedCsr: OTHER_CSR }), 'token_not_found', 'quote'],
    ['another CSR than the quoted one', () => ({ csr: OTHER_CSR }), 'token_not_found', 'quote'],
    ['a CSR that is none', () => ({ csr: 'none' }), 'token_not_found', 'quote'],
    [
      'a structure that no TPM made (magic)',
      () => ({ form: { magic: 0xff_54_43_46 } }),
      'token_not_found',
      'quote',
    ],
    [
      'what the TPM says of a key (type)',
      () => ({ form: { type: 0x80_17 } }),
      'token_not_found',
      'quote',
    ],
    [
      'a quote with bytes after it',
      () => ({ form: { after: Buffer.alloc(8) } }),
      'token_not_found',
      'quote',
    ],
    ['a quote of 17 selections', () => ({ form: { selections: 17 } }), 'token_not_found', 'quote'],
    [
      'a quote that is cut',
      () => ({
        change: (token) => ({
          ...token,
          quote: bytesOf(token.quote).subarray(0, -1).toString('base64'),
        }),
      }),
      'token_not_found',
      'quote',
    ],
    ['a signature by another key', () => ({ signer: makeAk() }), 'token_not_found', 'signature'],
    [
      'a signature of nothing',
      () => rename('signature', () => base64(71)),
      'token_not_found',
      'signature',
    ],
    [
      'a signature with bytes after it',
      () => ({
        change: (token) => ({
          ...token,
          signature: Buffer.concat([bytesOf(token.signature), Buffer.alloc(4)]).toString('base64'),
        }),
      }),
      'token_not_found',
      'signature',
    ],
    ['fields that are too long', () => rename('quote', () => base64(4096)), 'token_not_found'],
    [
      'a field that is missing',
      () => ({ change: ({ quote: _quote, ...token }) => token as TokenBody }),
      'token_not_found',
    ],
    ['a name that the pattern has not', () => ({ host: 'db1' }), 'hostname_mismatch', 'hostname'],
    ['another role', () => ({ role: 'db' }), 'role_mismatch', 'role'],
  ]
  for (const [how, course, refusal, reason] of cheats) {
    test(`${how} is refused as ${refusal}, named ${reason ?? 'by nothing'}`, async () => {
      await scene.makeRule()
      assert.equal(await scene.join(await course()), refusal)
      assert.deepEqual(scene.reasons(), reason === undefined ? [] : [reason])
      assert.equal(scene.authority.asked.length, 0)
    })
  }

  test('a secret of another rule is of that rule alone', async () => {
    await scene.makeRule()
    await scene.makeRule({ ca: scene.maker.pem }, { name: `db-${scene.number}`, role: 'db' })
    const course = await stolen(() => ({ role: 'db' }))()
    assert.equal(await scene.join(course), 'token_not_found')
    assert.equal(
      await scene.join({ ...course, role: 'db' }),
      'token_not_found',
      'its AK was another',
    )
    assert.deepEqual(scene.reasons(), ['challenge'])
  })

  test('a rule of another method has no challenges', async () => {
    const bounds = { pattern: `r*.${scene.nameOf('x').slice(2)}`, role: 'rack', hosts_max: 9 }
    const { id } = await scene.admin.createJoinRule({
      name: `token-${scene.number}`,
      method: 'token',
      ...bounds,
    })
    await scene.makeRule()
    const secret = Buffer.concat([Buffer.from(id, 'hex'), randomBytes(24)]).toString('base64')
    assert.equal(await scene.join(rename('secret', () => secret)), 'token_not_found')
    assert.deepEqual(scene.reasons(), [])
  })
})

function rsa(modulusLength: number, publicExponent?: number): Buffer {
  const { publicKey } = generateKeyPairSync('rsa', {
    modulusLength,
    ...(publicExponent !== undefined && { publicExponent }),
  })
  return publicKey.export({ type: 'spki', format: 'der' })
}

function changeLast(base64: string): string {
  const der = bytesOf(base64)
  der.writeUInt8((der.at(-1) ?? 0) ^ 1, der.length - 1)
  return der.toString('base64')
}
