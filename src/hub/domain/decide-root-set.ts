// Which roots may follow the roots in force, and which agents would be lost. docs/protocol.md TRU.

import type { Certificate } from '../../pki/certificates.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { Agent } from './agent.ts'
import type { AgentTrust, StandingCertificate } from './root-set.ts'

export interface RootDifference {
  readonly added: readonly Certificate[]
  readonly removed: readonly Certificate[]
}

export function compareRoots(
  current: readonly Certificate[],
  wanted: readonly Certificate[],
): RootDifference {
  return { added: without(wanted, current), removed: without(current, wanted) }
}

/** Why no agent should trust these roots; undefined when agents may. */
export function findRootsFault(roots: readonly Certificate[], now: Date): string | undefined {
  if (roots.length > LIMITS.rootsMax) return `more than ${LIMITS.rootsMax} roots`
  const stranger = roots.find(({ x509 }) => !x509.ca)
  if (stranger !== undefined) return `${stranger.x509.subject} is not a CA certificate`
  if (!roots.some((root) => isValid(root, now))) return 'none of the roots is valid now'
  return undefined
}

export function isValid(
  { notBefore, notAfter }: Pick<Certificate, 'notBefore' | 'notAfter'>,
  now: Date,
): boolean {
  return notBefore <= now && now < notAfter
}

/** Whether the agent trusts exactly these, also where a file on its host decides. */
export function hasAdopted(
  trust: Pick<AgentTrust, 'fingerprints' | 'pinned'> | undefined,
  roots: readonly Certificate[],
): boolean {
  if (trust === undefined) return false
  const wanted = roots.map(({ sha256 }) => sha256)
  const { fingerprints, pinned } = trust
  const isSame =
    new Set(fingerprints).size === wanted.length &&
    wanted.every((one) => fingerprints.includes(one))
  return isSame && (pinned === null || wanted.every((one) => pinned.includes(one)))
}

export interface RemainingRoots {
  readonly roots: readonly Certificate[]
  readonly agents: readonly Agent[]
  readonly trusts: readonly AgentTrust[]
  readonly certificates: readonly StandingCertificate[]
}

export interface EndangeredAgent {
  readonly hostname: string
  readonly reasons: readonly string[]
}

/** Who would be lost, or have a service whose clients are, if these were the only roots; by hostname. */
export function findEndangered({
  roots,
  agents,
  trusts,
  certificates,
}: RemainingRoots): EndangeredAgent[] {
  const staying = new Set(roots.map(({ sha256 }) => sha256))
  const trustOf = new Map(trusts.map((trust) => [trust.agentId, trust]))
  const certificatesOf = Map.groupBy(certificates, ({ agentId }) => agentId)
  return agents
    .filter(({ revokedAt }) => revokedAt === null)
    .map(({ id, hostname }) => ({
      hostname,
      reasons: [
        ...trustReasons(trustOf.get(id), staying),
        ...(certificatesOf.get(id) ?? [])
          .filter(({ rootSha256 }) => rootSha256 === null || !staying.has(rootSha256))
          .map(({ deliveryName, serial }) => `${deliveryName ?? 'identity'} ${serial}`),
      ],
    }))
    .filter(({ reasons }) => reasons.length > 0)
}

function trustReasons(trust: AgentTrust | undefined, staying: ReadonlySet<string>): string[] {
  if (trust === undefined) return ['has not said what it trusts']
  const isWithout = (fingerprints: readonly string[]): boolean =>
    !fingerprints.some((one) => staying.has(one))
  if (isWithout(trust.fingerprints)) return ['trusts none of the roots that stay']
  if (trust.pinned !== null && isWithout(trust.pinned)) {
    return ['its SVC_SERVER_CA_PATH has none of the roots that stay']
  }
  return []
}

function without(
  roots: readonly Certificate[],
  others: readonly Certificate[],
): readonly Certificate[] {
  return roots.filter(({ sha256 }) => !others.some((other) => other.sha256 === sha256))
}
