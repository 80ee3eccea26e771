// A trust key: the minisign key that signs the sets of roots of one fleet. docs/protocol.md TRK-1.

import { type MinisignPublicKey, parseMinisignPublicKey } from './minisign.ts'

export interface TrustKey {
  /** `<fleet>:<key>`, as it is written everywhere. */
  readonly text: string
  readonly fleet: string
  /** The base64 line of its `.pub` file. */
  readonly line: string
  readonly key: MinisignPublicKey
}

const FLEET = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/

/** A name of 1 to 63 of a-z, 0-9, `.` and `-`, that neither begins nor ends with one of the last two. */
export function isFleetName(text: string): boolean {
  return FLEET.test(text)
}

/** Undefined for a text that is no trust key. */
export function parseTrustKey(text: string): TrustKey | undefined {
  const [fleet = '', line = '', ...more] = text.split(':')
  return more.length > 0 ? undefined : makeTrustKey(fleet, line)
}

export function makeTrustKey(fleet: string, line: string): TrustKey | undefined {
  const key = isFleetName(fleet) ? parseMinisignPublicKey(line) : undefined
  return key && { text: `${fleet}:${line}`, fleet, line, key }
}
