// Whether a set of roots is what a trust key signed. Hub and agent ask the same function, so that a hub puts nothing in
// force that its agents would refuse. docs/protocol.md TRK-4.

import type { SignedSet, SignedStatement } from '../protocol/schemas.ts'
import { verifyMinisign } from './minisign.ts'
import { parseKeyStatement, parseSetStatement, type SetStatement } from './statements.ts'
import type { TrustKey } from './trust-key.ts'

export type KeyVerdict =
  | { readonly ok: true; readonly key: TrustKey }
  | { readonly ok: false; readonly reason: string }

export type SetVerdict =
  | { readonly ok: true; readonly key: TrustKey; readonly statement: SetStatement }
  | { readonly ok: false; readonly reason: string }

/** The set that was signed, and the key that it was signed by: the one demanded, or one that it led to. */
export function verifySignedSet(demanded: TrustKey, signed: SignedSet | undefined): SetVerdict {
  if (signed === undefined) {
    return { ok: false, reason: `nobody signed it, and the trust key ${demanded.text} has to` }
  }
  const followed = followKeyChanges(demanded, signed.key_changes)
  if (!followed.ok) return followed
  const { key } = followed
  const fault = findSignatureFault(key, signed)
  if (fault !== undefined) return { ok: false, reason: `its signature: ${fault}` }
  const statement = parseSetStatement(signed.statement)
  if (statement === undefined) return { ok: false, reason: 'what is signed is no set of roots' }
  if (statement.fleet !== key.fleet) {
    const reason = `it is signed for the fleet ${statement.fleet}, not for ${key.fleet}`
    return { ok: false, reason }
  }
  return { ok: true, key, statement }
}

/** Changes from other keys are of the time before, or of no concern. */
export function followKeyChanges(
  demanded: TrustKey,
  changes: readonly SignedStatement[],
): KeyVerdict {
  let key = demanded
  for (const change of changes) {
    const statement = parseKeyStatement(change.statement)
    if (statement?.from.text !== key.text) continue
    const fault = findSignatureFault(key, change)
    if (fault !== undefined) return { ok: false, reason: `the change of its trust key: ${fault}` }
    key = statement.to
  }
  return { ok: true, key }
}

/** Whether these are the roots of the statement, in any order. */
export function hasRoots(
  { fingerprints }: Pick<SetStatement, 'fingerprints'>,
  roots: readonly { readonly sha256: string }[],
): boolean {
  const found = new Set(roots.map(({ sha256 }) => sha256))
  return found.size === fingerprints.length && fingerprints.every((one) => found.has(one))
}

function findSignatureFault(
  { key, text }: TrustKey,
  { statement, signature }: SignedStatement,
): string | undefined {
  const verdict = verifyMinisign(key, Buffer.from(statement), Buffer.from(signature))
  return verdict.ok ? undefined : `${verdict.reason} (the trust key is ${text})`
}
