// The key that a TPM attests with (AK): what a host says of it, and whether a TPM would keep to that. Of the forms that there are
// one is taken, ECDSA with SHA-256 on P-256: every TPM 2.0 of a PC or server has it, and it is the agent that makes the key.
// TPM 2.0 Library, part 2: 8.3 (TPMA_OBJECT), 12.2.4 (TPMT_PUBLIC); part 1: 16 (names).

import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { TpmAlgorithm, TpmReader, uint16 } from './tpm-bytes.ts'

export interface AttestationKey {
  /** By its name a credential is for this key and no other. */
  readonly name: Buffer
  readonly publicKey: KeyObject
}

/** A TPM2B_PUBLIC of this form has 90 bytes, and more with a policy. */
export const ATTESTATION_KEY_BYTES_MAX = 256

const ECC_P256 = 0x0003

/** TPMA_OBJECT. */
const FIXED_TPM = 1 << 1
const FIXED_PARENT = 1 << 4
const SENSITIVE_DATA_ORIGIN = 1 << 5
const RESTRICTED = 1 << 16
const DECRYPT = 1 << 17
const SIGN = 1 << 18
/** It was made in the TPM, never leaves it, and signs nothing but what the TPM itself says. */
const HAS = FIXED_TPM | FIXED_PARENT | SENSITIVE_DATA_ORIGIN | RESTRICTED | SIGN

const COORDINATE_BYTES = 32

/** Undefined for what is no TPM2B_PUBLIC, or of a key that may sign what a host likes. */
export function parseAttestationKey(bytes: Uint8Array): AttestationKey | undefined {
  if (bytes.length > ATTESTATION_KEY_BYTES_MAX) return undefined
  const whole = new TpmReader(bytes)
  const area = whole.sized()
  if (!whole.isDone) return undefined
  const reader = new TpmReader(area)
  const type = reader.uint16()
  const nameAlgorithm = reader.uint16()
  const attributes = reader.uint32()
  // A policy only says who may use the key.
  reader.sized()
  const symmetric = reader.uint16()
  const scheme = reader.uint16()
  const schemeHash = reader.uint16()
  const curve = reader.uint16()
  const derivation = reader.uint16()
  const [x, y] = [reader.sized(), reader.sized()]
  const isForm =
    reader.isDone &&
    type === TpmAlgorithm.ecc &&
    nameAlgorithm === TpmAlgorithm.sha256 &&
    symmetric === TpmAlgorithm.null &&
    scheme === TpmAlgorithm.ecdsa &&
    schemeHash === TpmAlgorithm.sha256 &&
    curve === ECC_P256 &&
    derivation === TpmAlgorithm.null
  if (!isForm || (attributes & HAS) !== HAS || (attributes & DECRYPT) !== 0) return undefined
  const publicKey = publicKeyOf(x, y)
  if (publicKey === undefined) return undefined
  const digest = hash('sha256', area, 'buffer')
  return { name: Buffer.concat([uint16(nameAlgorithm), digest]), publicKey }
}

/** Undefined for a point that is not on the curve. */
function publicKeyOf(x: Buffer, y: Buffer): KeyObject | undefined {
  if (x.length !== COORDINATE_BYTES || y.length !== COORDINATE_BYTES) return undefined
  const [jwkX, jwkY] = [x.toString('base64url'), y.toString('base64url')]
  try {
    return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: jwkX, y: jwkY } })
  } catch {
    return undefined
  }
}
