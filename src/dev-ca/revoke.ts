// POST /1.0/revoke: a token whose subject is the serial number revokes that certificate.

import type { Clock } from '../platform/clock.ts'
import { jsonReply, refusalReply, refuse, type Refusal, type Reply } from './reply.ts'
import type { Revocations } from './revocations.ts'
import type { TokenVerifier } from './token-verifier.ts'

export interface RevokeDependencies {
  readonly tokens: TokenVerifier
  readonly revocations: Revocations
  readonly clock: Clock
}

interface RevokeBody {
  readonly serial: string
  readonly ott: string
  readonly reasonCode: number
  readonly reason: string
}

const REASON_CODE_MAX = 10
const REASON_CHARACTERS_MAX = 1000
const SERIAL = /^(?:[0-9]{1,64}|0[xX][0-9A-Fa-f]{1,64})$/

export async function revoke(
  { tokens, revocations, clock }: RevokeDependencies,
  json: unknown,
): Promise<Reply> {
  const body = parseRevokeBody(json)
  if ('status' in body) return refusalReply(body)
  const verdict = await tokens.verify(body.ott, 'revoke')
  if (!verdict.ok) return refusalReply(verdict)
  const { serial, reasonCode, reason } = body
  if (verdict.claims.subject !== serial) {
    return refusalReply(refuse(403, 'request serial number and token subject do not match'))
  }
  const revokedAt = clock.now().toISOString()
  const isNew = await revocations.add({ serial, reasonCode, reason, revokedAt })
  return isNew
    ? jsonReply(200, { status: 'ok' })
    : refusalReply(refuse(400, `certificate with serial number '${serial}' is already revoked`))
}

function parseRevokeBody(json: unknown): RevokeBody | Refusal {
  if (typeof json !== 'object' || json === null) return refuse(400, 'error reading request body')
  const body = json as Readonly<Record<string, unknown>>
  const { serial, ott, passive, reasonCode = 0, reason = '' } = body
  if (typeof serial !== 'string' || serial === '') return refuse(400, 'missing serial')
  if (!SERIAL.test(serial)) return refuse(400, 'serial is not a number')
  if (typeof reasonCode !== 'number' || !(reasonCode >= 0 && reasonCode <= REASON_CODE_MAX)) {
    return refuse(400, 'reasonCode out of bounds')
  }
  if (typeof reason !== 'string' || reason.length > REASON_CHARACTERS_MAX) {
    return refuse(400, 'invalid reason')
  }
  if (passive !== true) return refuse(501, 'non-passive revocation not implemented')
  if (typeof ott !== 'string' || ott === '') return refuse(400, 'missing ott or client certificate')
  return { serial: BigInt(serial).toString(), ott, reasonCode, reason }
}
