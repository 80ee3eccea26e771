// What a certificate request of 16 KiB may cost the hub, whoever sends it: docs/protocol.md LIM-36.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { der, name, NULL, oid, sequence } from '../../test/support/der-writer.ts'
import {
  asManyAs,
  createHostileCsr,
  requestOfExtensions,
  rsaKey,
  subjectAltName,
  toCsrPem,
} from '../../test/support/hostile-csr.ts'
import { parseCsrPem } from './csr.ts'

const FILL_BYTES = 11_500
const TIMES = 20
/** For all of them: 10 ms each, where the library took 30 to 260. */
const CPU_MS_MAX = 200

const dns = der(0x82, Buffer.from('a'))
const HOSTILE: Readonly<Record<string, () => Buffer>> = {
  'attributes without end': () =>
    createHostileCsr({
      attributes: asManyAs(FILL_BYTES, () => sequence(oid('2a03'), der(0x31, NULL))),
    }),
  'extensions without end': () =>
    createHostileCsr({
      attributes: [
        requestOfExtensions(
          ...asManyAs(FILL_BYTES, () => sequence(oid('551d13'), der(0x04, sequence()))),
        ),
      ],
    }),
  'names without end': () =>
    createHostileCsr({
      attributes: [requestOfExtensions(subjectAltName(...asManyAs(FILL_BYTES, () => dns)))],
    }),
  'a subject without end': () =>
    createHostileCsr({
      subject: sequence(...asManyAs(FILL_BYTES, () => name('a').subarray(2))),
    }),
  'an RSA exponent as long as the modulus': () =>
    createHostileCsr({ foreignKey: { spki: rsaKey(3072, 3064), signatureBytes: 384 } }),
  'an RSA key of 16,384 bits': () =>
    createHostileCsr({ foreignKey: { spki: rsaKey(16_384, 64), signatureBytes: 2048 } }),
}

for (const [what, create] of Object.entries(HOSTILE)) {
  test(`[LIM-36] one with ${what} costs what any other does`, () => {
    const pem = toCsrPem(create())
    assert.ok(pem.length <= 16_384, `${pem.length} bytes`)
    const before = process.threadCpuUsage()
    for (let time = 0; time < TIMES; time += 1) parseCsrPem(pem)
    const { user, system } = process.threadCpuUsage(before)
    assert.ok((user + system) / 1000 < CPU_MS_MAX, `${(user + system) / 1000} ms of CPU`)
  })
}

test('[LIM-36] [ENR-9] RSA keys with an exponent over 32 bits, or of more than 4,096, are refused unverified', () => {
  for (const [modulus, exponent] of [
    [2048, 40],
    [4104, 16],
    [8192, 24],
  ] as const) {
    const foreignKey = { spki: rsaKey(modulus, exponent), signatureBytes: modulus / 8 }
    assert.equal(parseCsrPem(toCsrPem(createHostileCsr({ foreignKey }))), undefined)
  }
})
