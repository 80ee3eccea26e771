// The set of roots in force, and which agents and certificates go by which root. docs/protocol.md TRU-13.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { AdminRefusal } from '../admin-act.ts'
import { type Certificate, parseCertificatesPem } from '../../../pki/certificates.ts'
import type { AdminBundle } from '../../../protocol/admin/views.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { compareRoots, hasAdopted, isValid } from '../../domain/decide-root-set.ts'
import type { AgentTrust, RootSet } from '../../domain/root-set.ts'
import type { Page, StoreReader } from '../../store/store.ts'
import {
  type RootsPlace,
  type RootsSlice,
  ROOTS_PARTS,
  type SilentSlice,
  type TrustSlice,
} from '../../store/summary-store.ts'

/** Some ten milliseconds. */
const SLICE_ROWS = 2000
/** Of others each agent is looked at. */
const TRUST_COUNTS_MAX = 100

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
  return {
    agentCount: (await reader.countAgents()).live,
    counts: await countRoots(reader, now),
    pending: await listPending(reader, set, roots),
  }
}

async function countRoots(
  { summary }: StoreReader,
  now: Date,
): Promise<ReadonlyMap<string | null, number>> {
  const counts = new Map<string | null, number>()
  for (const part of ROOTS_PARTS) {
    for (let after: RootsPlace | null | undefined; after !== null;) {
      const page = { part, now, after, limit: SLICE_ROWS }
      const slice: RootsSlice = await summary.countStandingRoots(page)
      for (const { root, count } of slice.counts) counts.set(root, (counts.get(root) ?? 0) + count)
      after = slice.last
      await nextTurn()
    }
  }
  return counts
}

/** By hostname. Who says something while others are read may be found twice, and is named with what it said last. */
async function listPending(
  { summary }: StoreReader,
  set: RootSet,
  roots: readonly Certificate[],
): Promise<AdminBundle['pendentes']> {
  const pending = new Map<string, AdminBundle['pendentes'][number]>()
  for (let after: AgentId | null | undefined; after !== null;) {
    const page: Page = { after, limit: SLICE_ROWS }
    const slice: SilentSlice = await summary.listSilent(page)
    for (const { id, hostname } of slice.agents) pending.set(id, toPending(id, hostname, undefined))
    after = slice.last
    await nextTurn()
  }
  const said = await summary.listTrustCounts(TRUST_COUNTS_MAX)
  const adopted = said.filter((trust) => hasAdopted(trust, roots))
  // Who has not adopted the number may not have followed to the trust key either. docs/protocol.md TRK-9.
  const number = set.trust === undefined ? undefined : set.number
  for (let after: number | null | undefined; after !== null;) {
    const slice: TrustSlice = await summary.listTrustBeside({
      adopted,
      number,
      after,
      limit: SLICE_ROWS,
    })
    for (const { hostname, trust } of slice.said) {
      const isBehind = number !== undefined && trust.number !== number
      if (isBehind || !hasAdopted(trust, roots)) {
        pending.set(trust.agentId, toPending(trust.agentId, hostname, trust))
      } else pending.delete(trust.agentId)
    }
    after = slice.last
    await nextTurn()
  }
  return [...pending.values()].toSorted((one, other) => (one.hostname < other.hostname ? -1 : 1))
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
