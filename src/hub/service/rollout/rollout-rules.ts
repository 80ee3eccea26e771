// What rollouts of all kinds begin with: their rules, and that nobody runs beside who knows none. docs/protocol.md RLO-2, RLO-6.

import { randomBytes } from 'node:crypto'
import type { AdminHubRow } from '../../../protocol/admin/hubs.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import { LATE_DEFAULT_SECONDS } from '../../../protocol/admin/rollouts.ts'
import type { RolloutId } from '../../../protocol/identifiers.ts'
import {
  findWavesFault,
  formatShare,
  hostsOfWave,
  parseShare,
  type Share,
} from '../../../protocol/rollout-share.ts'
import type { Rollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { findFreezeInForce } from './find-rollout.ts'
import { viewRollout } from './rollout-views.ts'

/** The hubs that share the vault; of one of them that runs. */
export interface RolloutHubs {
  list(): Promise<readonly Pick<AdminHubRow, 'host' | 'tables' | 'state' | 'is_this'>[]>
}

const ID_BYTES = 8

export function newRolloutId(): RolloutId {
  return randomBytes(ID_BYTES).toString('hex') as RolloutId
}

export type RolloutRules = Pick<Rollout, 'waves' | 'maxFailed' | 'soakMs' | 'lateMs'>

export type RulesRequest = Pick<
  AdminRequest<'startRollout'>,
  'waves' | 'max_failed' | 'soak_seconds' | 'late_seconds'
>

/** Throws an AdminRefusal of what is wrong with them. */
export function parseRules({
  waves: texts,
  max_failed,
  soak_seconds,
  late_seconds = LATE_DEFAULT_SECONDS,
}: RulesRequest): RolloutRules {
  const waves: Share[] = []
  for (const text of texts) {
    const wave = parseShare(text)
    if (wave === undefined) {
      throw new AdminRefusal(
        'waves_invalid',
        `${text} is neither a number of hosts nor a percentage`,
      )
    }
    waves.push(wave)
  }
  const fault = findWavesFault(waves)
  if (fault !== undefined) throw new AdminRefusal('waves_invalid', `the waves ${fault}`)
  const maxFailed = parseShare(max_failed)
  if (maxFailed === undefined) {
    throw new AdminRefusal(
      'max_failed_invalid',
      `${max_failed} is neither a number of hosts nor a percentage`,
    )
  }
  return { waves, maxFailed, soakMs: soak_seconds * 1000, lateMs: late_seconds * 1000 }
}

/** Such a hub would hand out the content of the carga to a host that was given the next one. */
export async function refuseHubsWithoutRollouts(hubs: RolloutHubs | undefined): Promise<void> {
  const known = (await hubs?.list()) ?? []
  const tables = known.find((hub) => hub.is_this)?.tables ?? 0
  const older = known.find((hub) => hub.state === 'running' && (hub.tables ?? 0) < tables)
  if (older === undefined) return
  throw new AdminRefusal(
    'hubs_differ',
    `the hub at ${older.host ?? 'another machine'} is older than this one, and knows no rollouts: upgrade it first`,
  )
}

/** What an operator is told, with the hosts as they are now. */
export async function answerStart(
  reader: StoreReader,
  rollout: Rollout,
  hosts: number,
): Promise<AdminReplies['startRollout']> {
  const freeze = await findFreezeInForce(reader, rollout.createdAt)
  return {
    ...(await viewRollout(reader, rollout)),
    hosts,
    planned: planOf(rollout, hosts),
    frozen_until: freeze?.until.toISOString() ?? null,
  }
}

/** For the entry of the log. docs/protocol.md RLO-22. */
export function toRulesPayload(rollout: Rollout, hosts: number): Readonly<Record<string, unknown>> {
  return {
    waves: planOf(rollout, hosts),
    soak_seconds: rollout.soakMs / 1000,
    late_seconds: rollout.lateMs / 1000,
    max_failed: formatShare(rollout.maxFailed),
    agentes_total: hosts,
  }
}

function planOf({ waves }: Rollout, hosts: number): AdminReplies['startRollout']['planned'] {
  return waves.map((wave) => ({ wave: formatShare(wave), hosts: hostsOfWave(wave, hosts) }))
}
