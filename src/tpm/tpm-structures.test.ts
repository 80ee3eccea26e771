// What swtpm said once, byte by byte, and what a TPM never says: the structures of docs/protocol.md JNR-41 and JNR-42.

import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import {
  AK_ATTRIBUTES,
  makeAk,
  makeQuote,
  makeTpm,
  signQuote,
} from '../../test/fakes/software-tpm.ts'
import { parseCertificatesPem } from '../pki/certificates.ts'
import { parseAttestationKey } from './attestation-key.ts'
import { isIssuedBy, parseEkCertificate, parseEndorsementKey } from './endorsement-key.ts'
import { makeCredential } from './make-credential.ts'
import { isQuoteSignedBy, readQuoted } from './quote.ts'

const VECTORS = new URL('../../test/vectors/tpm/swtpm.json', import.meta.url)
const recorded = JSON.parse(readFileSync(VECTORS, 'utf8')) as Readonly<Record<string, string>>
const bytesOf = (name: string): Buffer => Buffer.from(recorded[name] ?? '', 'base64')
const LATER = new Date('2030-01-01T00:00:00Z')
/** 00, 01, … 31, as text of two figures each. */
const QUALIFYING = '0001020304050607080910111213141516171819202122232425262728293031'

describe('what a TPM said', () => {
  const certificate = parseEkCertificate(bytesOf('ekCertificate'))
  const ak = parseAttestationKey(bytesOf('ak'))

  test('the certificate of its EK is of its maker, whichever of the CAs is trusted', () => {
    assert.ok(certificate)
    const [issuer, root] = parseCertificatesPem(recorded['issuers'] ?? '')
    assert.ok(issuer && root)
    assert.equal(certificate.x509.issuer, 'CN=swtpm-localca')
    assert.equal(certificate.key.sha256, parseEndorsementKey(bytesOf('ekSpki'))?.sha256)
    assert.ok(isIssuedBy(certificate, issuer.x509, LATER))
    assert.ok(!isIssuedBy(certificate, root.x509, LATER), 'the root has not signed it itself')
    assert.ok(!isIssuedBy(certificate, issuer.x509, new Date('2020-01-01T00:00:00Z')))
  })

  test('its AK, its quote and the signature fit', () => {
    assert.ok(ak)
    assert.equal(readQuoted(bytesOf('quote'))?.toString('hex'), QUALIFYING)
    assert.ok(isQuoteSignedBy(ak.publicKey, bytesOf('quote'), bytesOf('signature')))
  })

  test('a key that signs anything is no AK, nor is one of another form', () => {
    assert.equal(parseAttestationKey(bytesOf('unrestricted')), undefined)
    assert.equal(parseAttestationKey(bytesOf('rsaAk')), undefined)
  })

  test('what it certifies is no quote', () => {
    assert.equal(readQuoted(bytesOf('certify')), undefined)
  })

  for (const name of ['ak', 'quote', 'ekCertificate', 'ekSpki']) {
    test(`no beginning of its ${name} is taken for the whole, nor the whole with a byte more`, () => {
      const whole = bytesOf(name)
      const parse = {
        ak: parseAttestationKey,
        quote: readQuoted,
        ekCertificate: parseEkCertificate,
        ekSpki: parseEndorsementKey,
      }[name]
      assert.ok(parse)
      for (let length = 0; length < whole.length; length += 1) {
        assert.equal(parse(whole.subarray(0, length)), undefined, `of ${length} bytes`)
      }
      assert.equal(parse(Buffer.concat([whole, Buffer.of(0)])), undefined)
    })
  }
})

describe('[JNR-41] an attestation key', () => {
  const bits = { fixedTPM: 1, fixedParent: 4, sensitiveDataOrigin: 5, restricted: 16, sign: 18 }
  for (const [name, bit] of Object.entries(bits)) {
    test(`without ${name} is none`, () => {
      const attributes = AK_ATTRIBUTES & ~(1 << bit)
      assert.equal(parseAttestationKey(makeAk({ attributes }).public), undefined)
    })
  }
  test('that may decrypt is none', () => {
    const attributes = AK_ATTRIBUTES | (1 << 17)
    assert.equal(parseAttestationKey(makeAk({ attributes }).public), undefined)
  })
  test('with another name algorithm, scheme or curve is none', () => {
    assert.equal(parseAttestationKey(makeAk({ nameAlgorithm: 0x0004 }).public), undefined)
    assert.equal(parseAttestationKey(makeAk({ scheme: 0x001a }).public), undefined)
    assert.equal(parseAttestationKey(makeAk({ curve: 'P-384' }).public), undefined)
  })
  test('that is no point of the curve is none', () => {
    const ak = makeAk()
    const bytes = Buffer.from(ak.public)
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1)
    assert.equal(parseAttestationKey(bytes), undefined)
  })
  test('has the name that a TPM gives it', () => {
    const ak = makeAk()
    assert.deepEqual(parseAttestationKey(ak.public)?.name, ak.name)
  })
})

describe('[JNR-41] a credential', () => {
  test('is read by this EK for this AK, and for no other', () => {
    const [tpm, other] = [makeTpm(), makeTpm()]
    const [ak, otherAk] = [makeAk(), makeAk()]
    const secret = randomBytes(32)
    const ek = createPublicKey(tpm.ek.privateKey)
    const { blob, encryptedSeed } = makeCredential(ek, ak.name, secret)
    assert.deepEqual(tpm.activate(blob, encryptedSeed, ak.name), secret)
    assert.throws(() => tpm.activate(blob, encryptedSeed, otherAk.name), /INTEGRITY/)
    assert.throws(() => other.activate(blob, encryptedSeed, ak.name))
  })
})

describe('[JNR-41] an endorsement key', () => {
  const spkiOf = (key: ReturnType<typeof generateKeyPairSync>['publicKey']): Buffer =>
    key.export({ type: 'spki', format: 'der' })
  test('is of RSA 2048', () => {
    assert.ok(parseEndorsementKey(makeTpm().ek.spki))
  })
  const others: [what: string, spki: () => Buffer][] = [
    ['RSA 1024', () => spkiOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)],
    ['RSA 3072', () => spkiOf(generateKeyPairSync('rsa', { modulusLength: 3072 }).publicKey)],
    [
      'RSA with the exponent 3',
      () =>
        spkiOf(generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }).publicKey),
    ],
    ['P-256', () => spkiOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)],
    ['P-384', () => spkiOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)],
    ['Ed25519', () => spkiOf(generateKeyPairSync('ed25519').publicKey)],
    // As some write it, and the same key: it would have two hashes.
    ['an algorithm without its NULL', () => withoutNull(makeTpm().ek.spki)],
    ['nothing', () => Buffer.alloc(0)],
    ['8 KiB', () => randomBytes(8192)],
  ]
  for (const [what, spki] of others) {
    test(`is not of ${what}`, () => {
      assert.equal(parseEndorsementKey(spki()), undefined)
    })
  }
})

function withoutNull(spki: Buffer): Buffer {
  const [head, key] = [spki.subarray(4, 19), spki.subarray(19)]
  const algorithm = Buffer.concat([Buffer.of(0x30, 0x0b), head.subarray(2, 13)])
  const content = Buffer.concat([algorithm, key])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(content.length)
  return Buffer.concat([Buffer.of(0x30, 0x82), length, content])
}

describe('[JNR-42] a quote', () => {
  const over = randomBytes(32)
  test('says what it is over', () => {
    assert.deepEqual(readQuoted(makeQuote(over)), over)
    assert.deepEqual(readQuoted(makeQuote(over, { selections: 16 })), over)
  })
  const others: [what: string, quote: Buffer][] = [
    ['another magic', makeQuote(over, { magic: 0xff_54_43_48 })],
    ['another type', makeQuote(over, { type: 0x80_17 })],
    ['a byte after it', makeQuote(over, { after: Buffer.of(0) })],
    ['17 selections', makeQuote(over, { selections: 17 })],
    ['more than a KiB', makeQuote(randomBytes(1024))],
  ]
  for (const [what, quote] of others) {
    test(`with ${what} is none`, () => {
      assert.equal(readQuoted(quote), undefined)
    })
  }
  test('is signed by its key, and not by another', () => {
    const ak = makeAk()
    const quote = makeQuote(over)
    const key = createPublicKey(ak.privateKey)
    assert.ok(isQuoteSignedBy(key, quote, signQuote(ak, quote)))
    assert.ok(!isQuoteSignedBy(key, quote, signQuote(makeAk(), quote)))
    assert.ok(!isQuoteSignedBy(key, quote, randomBytes(71)))
    assert.ok(!isQuoteSignedBy(key, quote, Buffer.concat([signQuote(ak, quote), Buffer.alloc(90)])))
  })
})
