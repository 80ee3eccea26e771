import { AdminRefusal } from '../admin-act.ts'
import { type Certificate, parseCertificatesPem } from '../../../pki/certificates.ts'
import type { AdminBundle } from '../../../protocol/admin/views.ts'
import { compareRoots, hasAdopted, isValid } from '../../domain/decide-root-set.ts'
import type { AgentTrust, RootSet } from '../../domain/root-set.ts'
import type { StoreReader } from '../../store/store.ts'
import { agentSlices } from '../agent-slices.ts'

/** What only a running hub knows. */
export interface BundleSurroundings {
  /** Undefined when the root file cannot be read. */
  readonly fileRoots: readonly Certificate[] | undefined
  readonly serverRoot: Certificate | undefined
}

export async function describeBundle(
  reader: StoreReader,
  now: Date,
  surroundings: BundleSurroundings | undefined,
): Promise<AdminBundle> {
  const set = await reader.findRootSet()
  if (set === undefined) {
    throw new AdminRefusal('no_bundle', 'this vault has no roots yet')
  }
  const roots = parseCertificatesPem(set.pem)
  const { counts, agentCount, pending } = await lookAtAgents(reader, set, roots, now)
  return {
    numero: set.number,
    epoca: set.epoch,
    created_at: set.createdAt.toISOString(),
    ...(set.trust && { trust_key: set.trust.key }),
    roots: roots.map((root) => ({
      fingerprint: root.sha256,
      subject: root.x509.subject.replaceAll('\n', ', '),
      not_before: root.notBefore.toISOString(),
      not_after: root.notAfter.toISOString(),
      is_valid: isValid(root, now),
      is_hubs_own: surroundings?.serverRoot?.sha256 === root.sha256,
      certificados: counts.get(root.sha256) ?? 0,
    })),
    certificados_unknown: counts.get(null) ?? 0,
    file_differs: fileDiffers(roots, surroundings?.fileRoots),
    agentes: agentCount,
    pendentes: pending,
  }
}

interface AgentsAndRoots {
  readonly agentCount: number
  /** Certificates by the root that they lead to; null where that is unknown. */
  readonly counts: ReadonlyMap<string | null, number>
  /** Agents that have not adopted the roots. */
  readonly pending: AdminBundle['pendentes']
}

async function lookAtAgents(
  reader: StoreReader,
  set: RootSet,
  roots: readonly Certificate[],
  now: Date,
): Promise<AgentsAndRoots> {
  let agentCount = 0
  const counts = new Map<string | null, number>()
  const pending: AdminBundle['pendentes'] = []
  for await (const slice of agentSlices(reader)) {
    const agents = slice.filter(({ revokedAt }) => revokedAt === null)
    agentCount += agents.length
    const ids = agents.map(({ id }) => id)
    for (const { rootSha256 } of await reader.listStandingCertificates(ids, now)) {
      counts.set(rootSha256, (counts.get(rootSha256) ?? 0) + 1)
    }
    const trusts = new Map((await reader.listAgentTrust(ids)).map((one) => [one.agentId, one]))
    for (const { id, hostname } of agents) {
      const trust = trusts.get(id)
      // Who has not adopted the number may not have followed to the trust key either. docs/protocol.md TRK-9.
      const isBehind = set.trust !== undefined && trust?.number !== set.number
      if (isBehind || !hasAdopted(trust, roots)) pending.push(toPending(id, hostname, trust))
    }
  }
  return { agentCount, counts, pending }
}

function toPending(
  id: string,
  hostname: string,
  trust: AgentTrust | undefined,
): AdminBundle['pendentes'][number] {
  return {
    id,
    hostname,
    numero: trust?.number ?? null,
    is_pinned: trust !== undefined && trust.pinned !== null,
    erro: trust?.error ?? null,
    reported_at: trust?.reportedAt.toISOString() ?? null,
  }
}

function fileDiffers(
  roots: readonly Certificate[],
  fileRoots: readonly Certificate[] | undefined,
): boolean | null {
  if (fileRoots === undefined) return null
  const { added, removed } = compareRoots(roots, fileRoots)
  return added.length > 0 || removed.length > 0
}
