import { formatDurationMs } from '../../../platform/durations.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { AdminRollout } from '../../../protocol/admin/rollouts.ts'
import { type Cell, stateWord } from '../../terminal/table.ts'

/** What a person reads of a rollout. */
export function describeRollout(rollout: AdminRollout): Readonly<Record<string, Cell>> {
  return {
    id: rollout.id,
    nome: rollout.nome,
    versao: rollout.versao,
    state: stateWord(rollout.state),
    wave: waveOf(rollout),
    waves: rollout.waves.join(', '),
    hosts: `${rollout.given}/${rollout.wanted}`,
    soak: formatDurationMs(rollout.soak_seconds * 1000),
    max_failed: rollout.max_failed,
    reason: rollout.reason,
    started_by: rollout.started_by,
    changed_by: rollout.changed_by,
    created_at: rollout.created_at,
    ended_at: rollout.ended_at,
  }
}

/** Of how many: `2/4`. */
export function waveOf({ wave, waves }: AdminRollout): string {
  return `${wave}/${waves.length}`
}

export function describeStart(started: AdminReplies['startRollout']): string {
  const { id, nome, versao, planned, frozen_until, soak_seconds, max_failed } = started
  const waves = planned.map(({ wave, hosts }) => `${wave} (${countOf(hosts)})`).join(', ')
  const soak = formatDurationMs(soak_seconds * 1000)
  const held =
    frozen_until === null ? '' : `A freeze holds it back until ${frozen_until}: svc freeze show\n`
  return `rollout ${id}: load ${nome} goes to version ${versao}\nwaves: ${waves}; each soaks ${soak}, and ${max_failed} may fail\n${held}svc rollout show ${nome} says how far it is\n`
}

function countOf(hosts: number): string {
  return hosts === 1 ? '1 host' : `${hosts} hosts`
}
