// Whether the hub may put a signed set of roots in force: only one that an agent which demands the trust key would adopt.
// docs/protocol.md TRK-8.

import { invariant } from '../../../platform/errors.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { LIMITS } from '../../../protocol/limits.ts'
import type { SignedStatement } from '../../../protocol/schemas.ts'
import { parseKeyStatement, type SetStatement } from '../../../trust/statements.ts'
import { parseTrustKey } from '../../../trust/trust-key.ts'
import { hasRoots, verifySignedSet } from '../../../trust/verify-signed-set.ts'
import type { RootSet, SetTrust } from '../../domain/root-set.ts'

export interface SignedSetSituation {
  readonly set: RootSet
  /** What the root file holds. */
  readonly next: readonly Certificate[]
  readonly request: AdminRequest<'signBundle'>
}

export type SignedSetVerdict =
  | { readonly ok: true; readonly statement: SetStatement; readonly trust: SetTrust }
  | Refusal
interface Refusal {
  readonly ok: false
  readonly reason: string
}

export function decideSignedSet({ set, next, request }: SignedSetSituation): SignedSetVerdict {
  const keys = decideKeys(set.trust, request)
  if ('ok' in keys) return keys
  const { statement, signature } = request
  const signed = { statement, signature, key_changes: [...keys.changes] }
  const demanded = parseTrustKey(keys.firstKey)
  invariant(demanded !== undefined, 'a trust key was parsed before it was kept')
  const verdict = verifySignedSet(demanded, signed)
  if (!verdict.ok) return verdict
  if (!hasRoots(verdict.statement, next)) {
    return refuse(`the root file holds other roots: ${describeDifference(verdict.statement, next)}`)
  }
  if (![set.epoch, set.epoch + 1].includes(verdict.statement.epoch)) {
    const { epoch } = verdict.statement
    return refuse(`its época is ${epoch}, and the set in force is of the época ${set.epoch}`)
  }
  const trust = { firstKey: keys.firstKey, key: verdict.key.text, signed }
  return { ok: true, statement: verdict.statement, trust }
}

interface Keys {
  readonly firstKey: string
  readonly changes: readonly SignedStatement[]
}

function decideKeys(
  trust: SetTrust | undefined,
  request: SignedSetSituation['request'],
): Keys | Refusal {
  const base = decideFirstKey(trust, request)
  const change = request.key_change
  if ('ok' in base || change === undefined) return base
  const statement = parseKeyStatement(change.statement)
  if (statement === undefined) return refuse('what changes the trust key is no statement of that')
  const known = [
    base.firstKey,
    ...base.changes.map((one) => parseKeyStatement(one.statement)?.to.text),
  ]
  if (statement.from.text !== known.at(-1)) {
    return refuse(
      `it changes the trust key ${statement.from.text}, and the trust key is ${known.at(-1)}`,
    )
  }
  if (known.includes(statement.to.text)) {
    return refuse(`${statement.to.text} was the trust key before: take a new one`)
  }
  const changes = [...base.changes, change]
  if (changes.length <= LIMITS.trustKeyChangesMax) return { firstKey: base.firstKey, changes }
  // Who has not followed so far has to be told on the host.
  return { firstKey: known[1] ?? base.firstKey, changes: changes.slice(1) }
}

function decideFirstKey(
  trust: SetTrust | undefined,
  { trust_key: named, force }: SignedSetSituation['request'],
): Keys | Refusal {
  if (named !== undefined && parseTrustKey(named) === undefined) {
    return refuse('the trust key is not a fleet and a key of minisign')
  }
  if (trust === undefined) {
    return named === undefined
      ? refuse('the hub has no trust key yet, and the request names none')
      : { firstKey: named, changes: [] }
  }
  const kept = { firstKey: trust.firstKey, changes: trust.signed.key_changes }
  if (named === undefined || named === trust.key) return kept
  if (force === true) return { firstKey: named, changes: [] }
  return refuse(`the trust key is ${trust.key}: agents that demand it refuse what ${named} signs`)
}

function describeDifference({ fingerprints }: SetStatement, next: readonly Certificate[]): string {
  const found = next.map(({ sha256 }) => sha256)
  const missing = fingerprints.filter((one) => !found.includes(one))
  const unsigned = found.filter((one) => !fingerprints.includes(one))
  return [
    ...missing.map((one) => `${one} is signed, and not in the file`),
    ...unsigned.map((one) => `${one} is in the file, and not signed`),
  ].join('; ')
}

function refuse(reason: string): Refusal {
  return { ok: false, reason }
}
