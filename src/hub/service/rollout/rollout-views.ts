import type { AdminFreeze, AdminRollout } from '../../../protocol/admin/rollouts.ts'
import { formatShare } from '../../../protocol/rollout-share.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Freeze } from '../../domain/freeze.ts'
import type { Rollout } from '../../domain/rollout.ts'

export function toAdminRollout(
  rollout: Rollout,
  { name, kind }: Pick<Cargo, 'name' | 'kind'>,
): AdminRollout {
  return {
    id: rollout.id,
    carga_id: rollout.cargoId,
    nome: name,
    tipo: kind,
    versao: rollout.version,
    sans: [...rollout.sans],
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

export function toAdminFreeze({ until, why, setBy, setAt }: Omit<Freeze, 'id'>): AdminFreeze {
  return {
    until: until.toISOString(),
    why,
    set_by: setBy,
    set_at: setAt.toISOString(),
  }
}
