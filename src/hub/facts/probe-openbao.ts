// Whether the OpenBao is there and unsealed, and what time it has there. It is asked for its health alone, which takes no token.
// docs/protocol.md DOC-12.

import { parseJson } from '../../platform/parse-json.ts'
import { printableExtract } from '../../platform/printable.ts'
import type { AuthorityFacts } from '../../protocol/admin/examination.ts'
import {
  askAuthority,
  type AuthorityAnswer,
  type AuthorityFault,
  type AuthorityPlace,
  faultOfFailure,
  findSecondsAhead,
} from './ask-authority.ts'

/** A node that stands by hands requests on to the active one. */
const HEALTH_PATH = '/v1/sys/health?standbyok=true&perfstandbyok=true'
const VERSION_CHARACTERS_MAX = 32

export async function probeOpenBao(place: AuthorityPlace): Promise<AuthorityFacts> {
  const found = { url: place.caUrl.origin, kind: 'openbao' } as const
  try {
    const answer = await askAuthority(place, HEALTH_PATH)
    const ahead = findSecondsAhead(answer.date, place.now())
    return { ...found, ...judge(answer), clock_ahead_seconds: ahead }
  } catch (error) {
    return { ...found, ...faultOfFailure(error), clock_ahead_seconds: null }
  }
}

function judge({ status, body }: AuthorityAnswer): AuthorityFault {
  const health = parseJson(body) as Readonly<Record<string, unknown>> | null | undefined
  const { version, sealed } = health ?? {}
  if (typeof version !== 'string') {
    return { fault: 'not_a_ca', reason: `it answered ${status}, and not with its health` }
  }
  if (sealed !== false) return { fault: 'not_a_ca', reason: 'it is sealed' }
  if (status !== 200) return { fault: 'not_a_ca', reason: `it says ${status} of its health` }
  return { fault: null, reason: `${printableExtract(version, VERSION_CHARACTERS_MAX)}, unsealed` }
}
