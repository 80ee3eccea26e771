// What a TPM signed: a quote, TPM2_Quote. Which state of the machine it tells of is nobody's concern here; what counts is that a key
// which signs nothing else signed it, over what the caller had to put into it. TPM 2.0 Library, part 2, 10.12.

import { type KeyObject, verify } from 'node:crypto'
import { TpmReader } from './tpm-bytes.ts'

export const QUOTE_BYTES_MAX = 1024
/** ECDSA on P-256, in DER. */
export const QUOTE_SIGNATURE_BYTES_MAX = 72

/** TPM_GENERATED_VALUE: what else such a key signs never begins so. */
const MADE_BY_A_TPM = 0xff_54_43_47
const ATTEST_QUOTE = 0x80_18
const CLOCK_AND_FIRMWARE_BYTES = 25
const SELECTIONS_MAX = 16

/** What the quote was asked over; undefined for what is no quote, to its last byte. */
export function readQuoted(bytes: Uint8Array): Buffer | undefined {
  if (bytes.length > QUOTE_BYTES_MAX) return undefined
  const reader = new TpmReader(bytes)
  if (reader.uint32() !== MADE_BY_A_TPM || reader.uint16() !== ATTEST_QUOTE) return undefined
  // Whose key it is, its signature says.
  reader.sized()
  const quoted = reader.sized()
  reader.bytes(CLOCK_AND_FIRMWARE_BYTES)
  const selections = reader.uint32()
  if (selections > SELECTIONS_MAX) return undefined
  for (let count = 0; count < selections; count += 1) {
    reader.uint16()
    reader.bytes(reader.uint8())
  }
  reader.sized()
  return reader.isDone ? quoted : undefined
}

export function isQuoteSignedBy(key: KeyObject, quote: Uint8Array, signature: Uint8Array): boolean {
  return signature.length <= QUOTE_SIGNATURE_BYTES_MAX && verify('sha256', quote, key, signature)
}
