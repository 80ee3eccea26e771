import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { assert as assertProperty, nat, property, uint8Array } from 'fast-check'
import { createHostileChain, HOSTILE_SHAPES } from '../../test/support/hostile-chain.ts'
import { runTool } from '../../test/support/processes.ts'
import { findChainFault } from './chain-bounds.ts'

const directory = mkdtempSync(join(tmpdir(), 'chain-bounds-'))
after(() => rmSync(directory, { recursive: true }))

/** As openssl makes it, DER. */
async function createCertificate(key: readonly string[]): Promise<Buffer> {
  const file = join(directory, 'certificate.pem')
  const options = ['-x509', '-nodes', '-keyout', '/dev/null', '-subj', '/CN=web-1', '-out', file]
  await runTool('openssl', ['req', ...options, '-newkey', ...key])
  return new X509Certificate(readFileSync(file)).raw
}

function chainOf(pem: string): Buffer[] {
  const certificates = pem.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? []
  return certificates.map((each) => new X509Certificate(each).raw)
}

const ec = (curve: string): string[] => ['ec', '-pkeyopt', `ec_paramgen_curve:${curve}`]

describe('[LIM-30] a chain', () => {
  const honest = [
    ec('P-256'),
    ec('P-384'),
    ec('P-521'),
    ['ed25519'],
    ['ed448'],
    ['rsa:2048'],
    ['rsa:2048', '-pkeyopt', 'rsa_keygen_pubexp:3'],
    ['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048'],
  ]
  for (const key of honest) {
    test(`with a key ${key.join(' ')} may be verified`, async () => {
      assert.equal(findChainFault([await createCertificate(key)]), undefined)
    })
  }

  const refused: readonly (readonly [string[], string])[] = [
    [
      ['rsa:2048', '-pkeyopt', 'rsa_keygen_pubexp:4294967297'],
      'an RSA exponent of more than 32 bits',
    ],
    [ec('secp256k1'), 'an elliptic curve that is not P-256, P-384 or P-521'],
    [ec('brainpoolP256r1'), 'an elliptic curve that is not P-256, P-384 or P-521'],
    [
      [...ec('P-256'), '-pkeyopt', 'ec_param_enc:explicit'],
      'an elliptic curve that is not P-256, P-384 or P-521',
    ],
  ]
  for (const [key, fault] of refused) {
    test(`with a key ${key.join(' ')} may not`, async () => {
      assert.equal(findChainFault([await createCertificate(key)]), fault)
    })
  }

  test('has five certificates at most', () => {
    const five = chainOf(createHostileChain('p-256', 4).certificatePem)
    assert.equal(findChainFault(five), undefined)
    assert.equal(
      findChainFault([...five, ...five.slice(0, 1)]),
      'a chain of more than 5 certificates',
    )
  })

  for (const curve of ['p-384', 'p-521'] as const) {
    test(`has three keys on ${curve} at most`, () => {
      const [leaf = Buffer.alloc(0), ...four] = chainOf(createHostileChain(curve, 4).certificatePem)
      assert.equal(findChainFault([leaf, ...four.slice(1)]), undefined)
      assert.equal(
        findChainFault([leaf, ...four]),
        'a chain with more than 3 keys on P-384 or P-521',
      )
    })
  }

  test('has 16 KiB at most', () => {
    const large = chainOf(createHostileChain('rsa-16384', 4).certificatePem)
    assert.equal(findChainFault(large), 'a chain of more than 16384 bytes')
  })

  const faults: Readonly<Record<(typeof HOSTILE_SHAPES)[number], string | undefined>> = {
    'rsa-3072 with an exponent as long': 'an RSA exponent of more than 32 bits',
    'rsa-4096': undefined,
    'rsa-16384': 'an RSA key of more than 4096 bits',
    'p-256 with its curve spelled out': 'an elliptic curve that is not P-256, P-384 or P-521',
    'p-384': undefined,
    'p-521': undefined,
    'p-256': undefined,
    'p-256 with names and constraints': 'a chain with too many names and constraints',
  }
  for (const shape of HOSTILE_SHAPES) {
    test(`is judged by each of its keys: ${shape}`, () => {
      const chain = chainOf(createHostileChain(shape, 2).certificatePem)
      assert.equal(findChainFault(chain), faults[shape])
    })
  }

  test('of a certificate with blocks of addresses may not be verified', async () => {
    const addresses = ['-addext', 'sbgp-ipAddrBlock=IPv4:10.0.0.0/8']
    const fault = findChainFault([await createCertificate([...ec('P-256'), ...addresses])])
    assert.equal(fault, 'a certificate with blocks of addresses')
  })

  test('below a CA that is constrained to some names may be verified', async () => {
    const constraints = [
      '-addext',
      'nameConstraints=permitted;DNS:example.org,excluded;DNS:hub.test',
    ]
    const names = ['-addext', 'subjectAltName=DNS:web-1,DNS:web-1.example.org']
    const ca = await createCertificate([...ec('P-256'), ...constraints])
    const leaf = await createCertificate([...ec('P-256'), ...names])
    assert.equal(findChainFault([leaf, ca]), undefined)
  })

  test('of whatever bytes is judged without an exception, and none that is cut may be verified', async () => {
    const certificate = await createCertificate(ec('P-256'))
    assertProperty(
      property(uint8Array({ maxLength: 300 }), (bytes) => {
        assert.notEqual(findChainFault([bytes]), undefined)
      }),
    )
    assertProperty(
      property(nat(certificate.length - 1), (length) => {
        assert.equal(
          findChainFault([certificate.subarray(0, length)]),
          'a certificate that is not DER',
        )
      }),
    )
  })
})
