// What enrolment asks of a TPM: its endorsement key (EK), an attestation key (AK) made for this one time, what a credential says, and a
// quote. docs/protocol.md JNR-40.

import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../../platform/errors.ts'
import { readDer } from '../../pki/der.ts'
import { uint32 } from '../../tpm/tpm-bytes.ts'
import type { TpmTools } from './tpm-tools.ts'

export interface Endorsement {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer
  /** Of `spki`, hex: as an operator lists it. */
  readonly sha256: string
  /** The maker's, DER; undefined where the TPM has none, as many virtual ones. */
  readonly certificate: Buffer | undefined
}

/** Where makers put the certificate of the EK of RSA 2048: TCG EK Credential Profile, 2.2.1.4. */
const CERTIFICATE_INDEX = '0x01c00002'

const EK = 'ek.ctx'
const AK = 'ak.ctx'
const SESSION = 'session.ctx'

/** Makes the EK again, which is the same each time: a TPM derives it from a seed that is its own. */
export async function readEndorsement(tools: TpmTools): Promise<Endorsement> {
  await tools.run('tpm2_createek', '-Q', '-c', EK, '-G', 'rsa', '-f', 'der', '-u', 'ek.der')
  const spki = await read(tools, 'ek.der')
  return { spki, sha256: hash('sha256', spki), certificate: await readCertificate(tools) }
}

async function readCertificate(tools: TpmTools): Promise<Buffer | undefined> {
  try {
    await tools.run('tpm2_nvread', '-Q', CERTIFICATE_INDEX, '-o', 'ek.crt')
  } catch (error) {
    // There is nothing to read. A TPM that does not work at all has made no EK before this.
    if (error instanceof UserError && error.code === 'tpm_failed') return undefined
    throw error
  }
  const content = await read(tools, 'ek.crt')
  // Some makers fill the rest of the place with zeros, or with ones.
  const certificate = readDer(content, 0, content.length)
  return certificate && content.subarray(0, certificate.end)
}

/** TPM2B_PUBLIC. `readEndorsement` comes first. */
export async function makeAttestationKey(tools: TpmTools): Promise<Buffer> {
  const form = ['-G', 'ecc', '-g', 'sha256', '-s', 'ecdsa', '-f', 'tss']
  await tools.run('tpm2_createak', '-Q', '-C', EK, '-c', AK, ...form, '-u', 'ak.pub')
  return read(tools, 'ak.pub')
}

export interface GivenCredential {
  /** TPM2B_ID_OBJECT. */
  readonly blob: Buffer
  /** TPM2B_ENCRYPTED_SECRET. */
  readonly encryptedSeed: Buffer
}

/** What was encrypted for this EK and this AK. Throws a UserError where it was for others. */
export async function activateCredential(
  tools: TpmTools,
  { blob, encryptedSeed }: GivenCredential,
): Promise<Buffer> {
  // The head that tpm2-tools knows its files by, and their version.
  const file = Buffer.concat([uint32(0xba_dc_c0_de), uint32(1), blob, encryptedSeed])
  await writeFile(join(tools.directory, 'credential'), file, { flag: 'wx', mode: 0o600 })
  // Who uses an EK has to show that he may use the endorsement hierarchy: its template says so.
  await tools.run('tpm2_startauthsession', '-Q', '--policy-session', '-S', SESSION)
  try {
    await tools.run('tpm2_policysecret', '-Q', '-S', SESSION, '-c', 'e')
    const use = ['-C', EK, '-P', `session:${SESSION}`, '-i', 'credential', '-o', 'secret']
    await tools.run('tpm2_activatecredential', '-Q', '-c', AK, ...use)
  } finally {
    await tools.run('tpm2_flushcontext', '-Q', SESSION)
  }
  return read(tools, 'secret')
}

export interface Quote {
  /** TPMS_ATTEST. */
  readonly quote: Buffer
  /** ECDSA, DER. */
  readonly signature: Buffer
}

/** Over `digest`, by the AK. A quote is of some PCR; which one, and what is in it, nobody looks at. */
export async function quote(tools: TpmTools, digest: Buffer): Promise<Quote> {
  const over = ['-l', 'sha256:0', '-q', digest.toString('hex')]
  const into = ['-m', 'quote', '-s', 'signature', '-f', 'plain', '-g', 'sha256']
  await tools.run('tpm2_quote', '-Q', '-c', AK, ...over, ...into)
  return { quote: await read(tools, 'quote'), signature: await read(tools, 'signature') }
}

function read(tools: TpmTools, name: string): Promise<Buffer> {
  return readFile(join(tools.directory, name))
}
