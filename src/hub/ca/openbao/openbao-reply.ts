// What OpenBao's replies mean: docs/protocol.md CAX-17, REV-12.

import type { Certificate } from '../../../pki/certificates.ts'
import { parseJson } from '../../../platform/parse-json.ts'
import type { CaReply } from '../ca-connection.ts'
import { failureOfReply, parseChain } from '../ca-reply.ts'
import type { CaError, CaSetting, RevocationOutcome } from '../certificate-authority.ts'

const NO_NAMESPACE = /\bnamespace not found\b/
const UNKNOWN_ROLE = /\bunknown role\b/

type SettingOf = (reply: CaReply) => CaSetting | undefined

/** `credential` is the setting from which the token comes. */
export function failureOfOpenBao(reply: CaReply, task: string, credential: SettingOf): CaError {
  return failureOfReply(reply, task, (refused) => credential(refused) ?? settingOf(refused))
}

function settingOf({ status, body }: CaReply): CaSetting | undefined {
  if (NO_NAMESPACE.test(body)) return 'SVC_OPENBAO_NAMESPACE'
  if (status === 404 || status === 405) return 'SVC_OPENBAO_MOUNT'
  return UNKNOWN_ROLE.test(body) ? 'SVC_OPENBAO_ROLE' : undefined
}

/** Leaf first; empty when the body of a success holds no certificates. */
export function parseOpenBaoChain(body: string): readonly Certificate[] {
  const { certificate, ca_chain: chain, issuing_ca: issuer } = dataOf(body)
  try {
    return parseChain([certificate, ...(Array.isArray(chain) ? (chain as unknown[]) : [issuer])])
  } catch {
    // A certificate that does not parse.
    return []
  }
}

/** It answers the second revocation of a serial as the first one. */
export function outcomeOfRevocation(reply: CaReply, credential: SettingOf): RevocationOutcome {
  if (reply.status === 200 && typeof dataOf(reply.body)['revocation_time'] === 'number') {
    return { kind: 'revoked' }
  }
  const reason = failureOfOpenBao(reply, 'revoke', credential).message
  // All else is about the token, the mount, the load, or something in between: another day the answer may be another one.
  return reply.status === 400 ? { kind: 'refused', reason } : { kind: 'failed', reason }
}

function dataOf(body: string): Readonly<Record<string, unknown>> {
  const parsed = parseJson(body) as { readonly data?: unknown } | null | undefined
  const data = parsed?.data
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {}
}
