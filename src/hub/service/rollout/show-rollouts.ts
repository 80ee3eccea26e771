import type { Clock } from '../../../platform/clock.ts'
import type { AdminRollout, AdminRolloutDetails } from '../../../protocol/admin/rollouts.ts'
import { decideRollout, countFailures, type RolloutVerdict } from '../../domain/decide-rollout.ts'
import { isRolloutOpen, type Rollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { readPage } from '../read-page.ts'
import { sumCounts } from './count-hosts.ts'
import { findItsCargo, findRollout } from './find-rollout.ts'
import { toAdminRollout } from './rollout-views.ts'

const FAILURES_SHOWN = 20

export const listRollouts: Read<'listRollouts'> = async (reader, request) => {
  const { rows, next } = await readPage(
    request,
    (page) => reader.rollouts.page(page),
    (rollout) => rollout,
  )
  const rollouts: AdminRollout[] = []
  for (const row of rows) rollouts.push(toAdminRollout(row, await findItsCargo(reader, row)))
  return { rollouts, next }
}

export const showRollout: Read<'showRollout', { readonly clock: Clock }> = async (
  reader,
  request,
  { clock },
) => {
  const { rollout, cargo } = await findRollout(reader, request.rollout)
  const waves = await reader.rollouts.countWaves(rollout.id, rollout.openedAt)
  const counts = sumCounts(waves)
  const freeze = await reader.rollouts.findFreeze()
  const verdict = decideRollout({ rollout, counts, freeze, now: clock.now() })
  const { pending, unprobed, done, failed } = counts
  return {
    ...toAdminRollout(rollout, cargo),
    waits_for: isRolloutOpen(rollout)
      ? inWords(verdict, rollout)
      : `nothing: it is ${rollout.state}`,
    hosts: {
      pending,
      unprobed,
      done,
      failed,
      failures_allowed: countFailures(rollout, counts).allowed,
    },
    by_wave: waves.map((each) => ({
      wave: each.wave + 1,
      pending: each.pending,
      unprobed: each.unprobed,
      done: each.done,
      failed: each.failed,
    })),
    failures: await listFailures(reader, rollout),
  }
}

function inWords(verdict: RolloutVerdict, { wanted, given }: Rollout): string {
  if (verdict.next === 'wait') return verdict.why
  if (verdict.next === 'freeze') return `the hub, which is about to freeze it: ${verdict.reason}`
  if (verdict.next === 'open wave')
    return `the hub, which is about to open wave ${verdict.wave + 1}`
  if (verdict.next === 'give') {
    return `the hub, which has given the version to ${given} of ${wanted} hosts`
  }
  return verdict.next === 'finish'
    ? 'the hub, which is about to make it the version of the load'
    : 'the hub, which gives its hosts the last good version'
}

async function listFailures(
  reader: StoreReader,
  { id }: Rollout,
): Promise<AdminRolloutDetails['failures']> {
  const failures: AdminRolloutDetails['failures'] = []
  for (const entrega of await reader.rollouts.listFailed(id, FAILURES_SHOWN)) {
    const delivery = await reader.findDeliveryWithCargo(entrega)
    if (delivery === undefined) continue
    const { hostname, status, error } = delivery
    failures.push({ hostname, entrega_id: entrega, status, erro: error })
  }
  return failures
}
