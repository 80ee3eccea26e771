// The commands of tpm2-tools on a simulated TPM: docs/protocol.md JNR-46.

import assert from 'node:assert/strict'
import { createPublicKey, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { makeAk, makeTpm } from '../../../test/fakes/software-tpm.ts'
import { type SimulatedTpm, startTpm, WITH_TPM } from '../../../test/support/swtpm.ts'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { parseAttestationKey } from '../../tpm/attestation-key.ts'
import { isIssuedBy, parseEkCertificate } from '../../tpm/endorsement-key.ts'
import { makeCredential } from '../../tpm/make-credential.ts'
import { isQuoteSignedBy, readQuoted } from '../../tpm/quote.ts'
import { withTpmTools } from './tpm-tools.ts'
import { activateCredential, makeAttestationKey, quote, readEndorsement } from './tpm.ts'

describe('[JNR-46] the TPM of a host', WITH_TPM, () => {
  let tpm: SimulatedTpm
  before(async () => {
    tpm = await startTpm()
  })
  after(() => tpm[Symbol.asyncDispose]())

  test('has an EK that its maker certified, and is the only one to read what is for it and its AK', async () => {
    let directory = ''
    await withTpmTools(tpm.env, async (tools) => {
      ;({ directory } = tools)
      const endorsement = await readEndorsement(tools)
      const certificate = parseEkCertificate(endorsement.certificate ?? Buffer.alloc(0))
      assert.equal(certificate?.key.sha256, endorsement.sha256)
      const [issuer] = parseCertificatesPem(tpm.makerPem)
      assert.ok(issuer && isIssuedBy(certificate, issuer.x509, new Date()))
      const ak = parseAttestationKey(await makeAttestationKey(tools))
      assert.ok(ak)
      const secret = randomBytes(32)
      const given = makeCredential(certificate.key.publicKey, ak.name, secret)
      assert.deepEqual(await activateCredential(tools, given), secret)
      const digest = randomBytes(32)
      const said = await quote(tools, digest)
      assert.deepEqual(readQuoted(said.quote), digest)
      assert.ok(isQuoteSignedBy(ak.publicKey, said.quote, said.signature))
      assert.ok(existsSync(directory))
    })
    assert.ok(!existsSync(directory))
  })

  const others = [
    ['another AK', (ek: Buffer) => makeCredential(keyOf(ek), makeAk().name, randomBytes(32))],
    [
      'another EK',
      (_ek: Buffer, ak: Buffer) => makeCredential(keyOf(makeTpm().ek.spki), ak, randomBytes(32)),
    ],
  ] as const
  for (const [what, make] of others) {
    test(`does not read what is for ${what}`, async () => {
      let directory = ''
      const attempt = withTpmTools(tpm.env, async (tools) => {
        ;({ directory } = tools)
        const { spki } = await readEndorsement(tools)
        const ak = parseAttestationKey(await makeAttestationKey(tools))
        assert.ok(ak)
        await activateCredential(tools, make(spki, ak.name))
      })
      await assert.rejects(attempt, {
        code: 'tpm_failed',
        message: /^tpm2_activatecredential: ERROR/,
      })
      assert.ok(!existsSync(directory))
    })
  }

  test('is the same EK each time, and another AK', async () => {
    const read = () =>
      withTpmTools(tpm.env, async (tools) => {
        const { sha256 } = await readEndorsement(tools)
        return [sha256, (await makeAttestationKey(tools)).toString('hex')]
      })
    const [[ek, ak], [sameEk, otherAk]] = [await read(), await read()]
    assert.equal(ek, sameEk)
    assert.notEqual(ak, otherAk)
  })
})

describe('[JNR-46] a host without', () => {
  const skip = existsSync('/dev/tpmrm0') && 'this machine has one'
  test('a TPM is told so', { skip }, async () => {
    const attempt = withTpmTools({}, async () => undefined)
    await assert.rejects(attempt, {
      code: 'tpm_not_found',
      message: 'this machine has no TPM 2.0 (/dev/tpmrm0 is not there)',
    })
  })

  test('tpm2-tools is told which package to install', async () => {
    const env = { PATH: '', TPM2TOOLS_TCTI: 'none' }
    const attempt = withTpmTools(env, (tools) => tools.run('tpm2_no_such_command'))
    await assert.rejects(attempt, {
      code: 'tpm_tools_missing',
      hint: 'install the package tpm2-tools',
    })
  })
})

function keyOf(spki: Buffer) {
  return createPublicKey({ key: spki, format: 'der', type: 'spki' })
}
