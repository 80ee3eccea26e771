// The certificates in use, the first to end first: what an on-call engineer looks at when something is about to end.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminCertificate } from '../../../protocol/admin/certificados.ts'
import { LIST_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { Selector } from '../../../protocol/selector.ts'
import type { NamedCertificateInUse } from '../../domain/fleet.ts'
import { renewalFrom, stateOfCertificate } from '../../domain/late-renewal.ts'
import type { CertificateSelection } from '../../store/list-store.ts'
import type { LateRule, StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { keepMatchingAgents } from '../agent-slices.ts'
import { findAgent } from '../find-agent.ts'
import { parseTime } from '../read-page.ts'
import type { AdminContext } from './admin-context.ts'

/** So many are read in one turn of the event loop. */
const STEP_CERTIFICATES = 500
/** Nobody counts further. */
const COUNTED_MAX = 20_000

/** docs/protocol.md API-121. */
export const listCertificates: Read<
  'listCertificates',
  Pick<AdminContext, 'clock' | 'renewalThresholdMs'>
> = async (reader, request, { clock, renewalThresholdMs: thresholdMs, only }) => {
  const { limit = LIST_PAGE_MAX, after, state, agente, ends_before: endsBefore } = request
  const rule = { now: clock.now(), thresholdMs }
  const agent = agente === undefined ? undefined : await findAgent(reader, agente, only)
  const selection: CertificateSelection = {
    ...rule,
    state,
    agentId: agent?.id,
    endsBefore: endsBefore === undefined ? undefined : parseTime(endsBefore),
  }
  // One more than wanted tells whether there is a next page.
  const found = await readMatching(reader, { ...selection, after, limit: limit + 1 }, only)
  const page = found.slice(0, limit)
  return {
    certificados: page.map((certificate) => toAdminCertificate(certificate, rule)),
    next: found.length > limit ? (page.at(-1)?.sha256 ?? null) : null,
    total: only === undefined || agent !== undefined ? await countAll(reader, selection) : null,
  }
}

export function toAdminCertificate(
  certificate: NamedCertificateInUse,
  { now, thresholdMs }: LateRule,
): AdminCertificate {
  return {
    id: certificate.sha256,
    agente_id: certificate.agentId,
    hostname: certificate.hostname,
    purpose: certificate.purpose,
    nome: certificate.name,
    entrega_id: certificate.deliveryId,
    serial: certificate.serial,
    not_before: certificate.notBefore.toISOString(),
    not_after: certificate.notAfter.toISOString(),
    state: stateOfCertificate(certificate, now, thresholdMs),
    renewal_expected_at: renewalFrom(certificate, thresholdMs).toISOString(),
  }
}

/** `only`: of a caller that sees the hosts of a selector alone. */
async function readMatching(
  reader: StoreReader,
  {
    after,
    limit,
    ...selection
  }: CertificateSelection & { after: string | undefined; limit: number },
  only: Selector | undefined,
): Promise<NamedCertificateInUse[]> {
  const found: NamedCertificateInUse[] = []
  for (let start = after; ;) {
    const step = { ...selection, after: start, limit: STEP_CERTIFICATES }
    const certificates = await reader.pageCertificatesInUse(step)
    if (certificates === undefined) {
      throw new AdminRefusal('cursor_unknown', `after: there is no ${after} in this list`)
    }
    found.push(...(await keepOnly(reader, certificates, only)))
    if (certificates.length < step.limit || found.length >= limit) return found.slice(0, limit)
    start = certificates.at(-1)?.sha256
    await nextTurn()
  }
}

async function keepOnly(
  reader: StoreReader,
  certificates: readonly NamedCertificateInUse[],
  only: Selector | undefined,
): Promise<readonly NamedCertificateInUse[]> {
  if (only === undefined) return certificates
  const ids = [...new Set(certificates.map(({ agentId }) => agentId))]
  const agents = await keepMatchingAgents(reader, only, await reader.findAgents(ids))
  const kept = new Set(agents.map(({ id }) => id))
  return certificates.filter(({ agentId }) => kept.has(agentId))
}

async function countAll(
  reader: StoreReader,
  selection: CertificateSelection,
): Promise<number | null> {
  const count = await reader.countCertificatesInUse(selection, COUNTED_MAX + 1)
  return count > COUNTED_MAX ? null : count
}
