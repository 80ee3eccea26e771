import type { RegisterCommand } from '../command-context.ts'
import { listCommand } from '../list-command.ts'
import { stateWord } from '../../terminal/table.ts'
import { shownName, shownVersion, waveOf } from './describe-rollout.ts'

export const registerRolloutList: RegisterCommand = listCommand({
  description: 'list the rollouts, newest first',
  plural: 'rollouts',
  ask: (operations, page) => operations.listRollouts(page),
  nameOf: (rollout) => rollout.id,
  columns: {
    id: (rollout) => rollout.id,
    nome: shownName,
    versao: shownVersion,
    state: (rollout) => stateWord(rollout.state),
    wave: waveOf,
    hosts: (rollout) => `${rollout.given}/${rollout.wanted}`,
    reason: (rollout) => rollout.reason,
  },
  wide: {
    started_by: (rollout) => rollout.started_by,
    created_at: (rollout) => rollout.created_at,
    opened_at: (rollout) => rollout.opened_at,
    ended_at: (rollout) => rollout.ended_at,
  },
})
