import type { AdminFreeze, AdminRollout } from '../../../protocol/admin/rollouts.ts'
import { formatShare } from '../../../protocol/rollout-share.ts'
import type { Freeze } from '../../domain/freeze.ts'
import { isLoadRollout, type Rollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import { findItsCargo } from './find-rollout.ts'

export async function viewRollout(reader: StoreReader, rollout: Rollout): Promise<AdminRollout> {
  return {
    id: rollout.id,
    kind: rollout.subject.kind,
    ...(await viewSubject(reader, rollout)),
    state: rollout.state,
    waves: rollout.waves.map(formatShare),
    wave: rollout.wave + 1,
    opened_at: rollout.openedAt.toISOString(),
    wanted: rollout.wanted,
    given: rollout.given,
    soak_seconds: rollout.soakMs / 1000,
    late_seconds: rollout.lateMs / 1000,
    max_failed: formatShare(rollout.maxFailed),
    reason: rollout.reason,
    started_by: rollout.startedBy,
    changed_by: rollout.changedBy,
    created_at: rollout.createdAt.toISOString(),
    ended_at: rollout.endedAt?.toISOString() ?? null,
  }
}

type SubjectView = Pick<
  AdminRollout,
  'carga_id' | 'nome' | 'tipo' | 'versao' | 'programa' | 'sans' | 'where'
>

async function viewSubject(reader: StoreReader, rollout: Rollout): Promise<SubjectView> {
  const { subject } = rollout
  if (!isLoadRollout(rollout)) {
    const isSelected = subject.kind === 'rotation' || subject.kind === 'update'
    const where = isSelected ? subject.where : null
    const versao = subject.kind === 'roots' ? subject.number : null
    const programa = subject.kind === 'update' ? subject.version : null
    return { carga_id: null, nome: null, tipo: null, versao, programa, sans: [], where }
  }
  const { cargoId, version, sans } = rollout.subject
  const { name, kind } = await findItsCargo(reader, rollout)
  const of = { carga_id: cargoId, nome: name, tipo: kind }
  return { ...of, versao: version, programa: null, sans: [...sans], where: null }
}

export function toAdminFreeze({ until, why, setBy, setAt }: Omit<Freeze, 'id'>): AdminFreeze {
  return {
    until: until.toISOString(),
    why,
    set_by: setBy,
    set_at: setAt.toISOString(),
  }
}
