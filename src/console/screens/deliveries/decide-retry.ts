// Whether it helps to try a failed delivery again. An agent says `falhou` only of what it will not get over by itself, so a new entrega
// fails in the same way until somebody has removed the cause; where the cause is, its words tell.

export type Retry =
  /** A file or a disk of the host. */
  | 'host'
  /** The file is sealed for others: only a new seal helps. */
  | 'seal'
  /** The hub refused it: a politica, or the names of the carga. */
  | 'rule'
  /** Something between hub and CA, which passes. */
  | 'passing'
  | 'unknown'

const PASSING = /^(ca_|store_unavailable|rate_limited)/u
const SEALED = /sealed for|does not open the file|cannot open the file|does not match the digest/u
const OF_HOST =
  /no space left|permission denied|read-only|not made by the agent|cannot be a file|E(ACCES|PERM|ROFS|NOSPC|ISDIR|NOTDIR|DQUOT)\b|\bhook\b/iu
/** As an agent says what the hub refused for good, and as a refusal begins with its code. */
const REFUSAL = /^(the hub answered \d|[a-z]+(_[a-z0-9]+)+:)/u

export function decideRetry(reason: string): Retry {
  if (PASSING.test(reason)) return 'passing'
  if (SEALED.test(reason)) return 'seal'
  if (REFUSAL.test(reason)) return 'rule'
  return OF_HOST.test(reason) ? 'host' : 'unknown'
}
