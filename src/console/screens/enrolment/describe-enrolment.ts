// What a token or a join rule is now, and what somebody typed for a new one.

import type { AdminReplies } from '../../api/operations.ts'
import { readLines } from '../../parts/read-lines.ts'

type Token = AdminReplies['listTokens']['tokens'][number]
export type TokenState = 'open' | 'used' | 'ended'

/** A token that was revoked has the time of that as its end. */
export function stateOfToken(
  { consumed_at: usedAt, expires_at: end }: Pick<Token, 'consumed_at' | 'expires_at'>,
  nowMs: number,
): TokenState {
  if (usedAt !== null) return 'used'
  return Date.parse(end) <= nowMs ? 'ended' : 'open'
}

/** `key=value`, one a line; undefined where a line is none. */
export function parseLabels(text: string): Readonly<Record<string, string>> | undefined {
  const labels: Record<string, string> = {}
  for (const line of readLines(text)) {
    const [key, value] = splitOnce(line)
    if (key === '' || value === undefined) return undefined
    labels[key] = value
  }
  return labels
}

interface Claim {
  readonly claim: string
  readonly values: string[]
}

/** `claim=value`, one a line; more lines of one claim are values of which any will do. */
export function parseClaims(text: string): Claim[] | undefined {
  const claims = new Map<string, string[]>()
  for (const line of readLines(text)) {
    const [claim, value = ''] = splitOnce(line)
    if (claim === '' || value === '') return undefined
    claims.set(claim, [...(claims.get(claim) ?? []), value])
  }
  return claims.size === 0
    ? undefined
    : Array.from(claims, ([claim, values]) => ({ claim, values }))
}

function splitOnce(line: string): readonly [string, string | undefined] {
  const at = line.indexOf('=')
  return at === -1 ? [line, undefined] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}
