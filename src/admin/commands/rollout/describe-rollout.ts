import { formatDurationMs } from '../../../platform/durations.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { AdminRollout } from '../../../protocol/admin/rollouts.ts'
import { type Cell, stateWord } from '../../terminal/table.ts'

/** What a person reads of a rollout. */
export function describeRollout(rollout: AdminRollout): Readonly<Record<string, Cell>> {
  return {
    id: rollout.id,
    nome: shownName(rollout),
    versao: shownVersion(rollout),
    ...(rollout.where !== null && { where: rollout.where }),
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

/** Also what `svc rollout show` takes for it. */
export function shownName({ nome, kind }: Pick<AdminRollout, 'nome' | 'kind'>): string {
  return nome ?? kind
}

/** Of a carga and of roots a number, of an update the version of the agent. */
export function shownVersion({
  versao,
  programa,
}: Pick<AdminRollout, 'versao' | 'programa'>): string | number | null {
  return programa ?? versao
}

/** Of how many: `2/4`. */
export function waveOf({ wave, waves }: AdminRollout): string {
  return `${wave}/${waves.length}`
}

export function describeStart(started: AdminReplies['startRollout']): string {
  const { id, versao, hosts, planned, frozen_until, soak_seconds, max_failed } = started
  const waves = planned.map((each) => `${each.wave} (${countOf(each.hosts)})`).join(', ')
  const soak = formatDurationMs(soak_seconds * 1000)
  const held =
    frozen_until === null ? '' : `A freeze holds it back until ${frozen_until}: svc freeze show\n`
  const name = shownName(started)
  const what =
    started.kind === 'load'
      ? `load ${name} goes to version ${versao}`
      : started.kind === 'update'
        ? `${countOf(hosts)} to hear of version ${started.programa} of the agent`
        : `${countOf(hosts)} to renew ${hosts === 1 ? 'its identity' : 'their identities'}`
  return `rollout ${id}: ${what}\nwaves: ${waves}; each soaks ${soak}, and ${max_failed} may fail\n${held}svc rollout show ${name} says how far it is\n`
}

function countOf(hosts: number): string {
  return hosts === 1 ? '1 host' : `${hosts} hosts`
}
