// As much of DER (X.690) as it takes to write a certificate signing request.

import { DerTag } from './der.ts'

export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content])
}

export function writeSequence(...contents: readonly Uint8Array[]): Buffer {
  return writeDer(DerTag.sequence, ...contents)
}

/** Whole bytes: none of their bits is unused. */
export function writeBitString(bytes: Uint8Array): Buffer {
  return writeDer(DerTag.bitString, Buffer.of(0), bytes)
}

/** As few bytes as the length takes. */
function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 + bytes.length, ...bytes]
}
