import { UserError } from '../../platform/errors.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import type { AdminBundle } from '../../protocol/admin-views.ts'
import { compareRoots, hasAdopted, isValid } from '../domain/decide-root-set.ts'
import type { StandingCertificate } from '../domain/root-set.ts'
import type { StoreReader } from '../store/store.ts'

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
    throw new UserError('no_bundle', 'this vault has no roots yet', {
      hint: 'the first start of its hub reads them from SVC_CA_ROOT_CA_PATH',
    })
  }
  const roots = parseCertificatesPem(set.pem)
  const agents = (await reader.listAgents()).filter(({ revokedAt }) => revokedAt === null)
  const trusts = new Map((await reader.listAgentTrust()).map((trust) => [trust.agentId, trust]))
  const certificates = await reader.listStandingCertificates(now)
  return {
    numero: set.number,
    created_at: set.createdAt.toISOString(),
    roots: roots.map((root) => ({
      fingerprint: root.sha256,
      subject: root.x509.subject.replaceAll('\n', ', '),
      not_before: root.notBefore.toISOString(),
      not_after: root.notAfter.toISOString(),
      is_valid: isValid(root, now),
      is_hubs_own: surroundings?.serverRoot?.sha256 === root.sha256,
      certificados: countOf(certificates, root.sha256),
    })),
    certificados_unknown: countOf(certificates, null),
    file_differs: fileDiffers(roots, surroundings?.fileRoots),
    agentes: agents.length,
    pendentes: agents
      .map((agent) => ({ agent, trust: trusts.get(agent.id) }))
      .filter(({ trust }) => !hasAdopted(trust, roots))
      .map(({ agent: { id, hostname }, trust }) => ({
        id,
        hostname,
        numero: trust?.number ?? null,
        is_pinned: trust !== undefined && trust.pinned !== null,
        erro: trust?.error ?? null,
        reported_at: trust?.reportedAt.toISOString() ?? null,
      })),
  }
}

function countOf(certificates: readonly StandingCertificate[], root: string | null): number {
  return certificates.filter(({ rootSha256 }) => rootSha256 === root).length
}

function fileDiffers(
  roots: readonly Certificate[],
  fileRoots: readonly Certificate[] | undefined,
): boolean | null {
  if (fileRoots === undefined) return null
  const { added, removed } = compareRoots(roots, fileRoots)
  return added.length > 0 || removed.length > 0
}
