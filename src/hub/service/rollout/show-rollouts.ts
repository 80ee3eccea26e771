import type { Clock } from '../../../platform/clock.ts'
import type { AdminRollout, AdminRolloutDetails } from '../../../protocol/admin/rollouts.ts'
import { decideRollout, countFailures, type RolloutVerdict } from '../../domain/decide-rollout.ts'
import {
  isLoadRollout,
  isRolloutOpen,
  type Rollout,
  type RolloutKind,
} from '../../domain/rollout.ts'
import type { RolloutId } from '../../../protocol/identifiers.ts'
import { DeliveryStatus } from '../../../protocol/words.ts'
import type { RefusingHost } from '../../store/rollout-store.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { readPage } from '../read-page.ts'
import { sumCounts } from './count-hosts.ts'
import { findRollout } from './find-rollout.ts'
import { viewRollout } from './rollout-views.ts'

const FAILURES_SHOWN = 20
/** Beside the states of entregas: the host does not take the update. */
const DECLINED = 'declined'

export const listRollouts: Read<'listRollouts'> = async (reader, request) => {
  const { rows, next } = await readPage(
    request,
    (page) => reader.rollouts.page(page),
    (rollout) => rollout,
  )
  const rollouts: AdminRollout[] = []
  for (const row of rows) rollouts.push(await viewRollout(reader, row))
  return { rollouts, next }
}

export const showRollout: Read<'showRollout', { readonly clock: Clock }> = async (
  reader,
  request,
  { clock },
) => {
  const rollout = await findRollout(reader, request.rollout)
  const waves = await reader.rollouts.countWaves(rollout.id, rollout.openedAt)
  const counts = sumCounts(waves)
  const freeze = await reader.rollouts.findFreeze()
  const verdict = decideRollout({ rollout, counts, freeze, now: clock.now() })
  const { pending, unprobed, done, failed, declined } = counts
  return {
    ...(await viewRollout(reader, rollout)),
    waits_for: isRolloutOpen(rollout)
      ? inWords(verdict, rollout)
      : `nothing: it is ${rollout.state}`,
    hosts: {
      pending,
      unprobed,
      done,
      failed,
      declined,
      failures_allowed: countFailures(rollout, counts).allowed,
    },
    by_wave: waves.map((each) => ({
      wave: each.wave + 1,
      pending: each.pending,
      unprobed: each.unprobed,
      done: each.done,
      failed: each.failed,
      declined: each.declined,
    })),
    failures: await listFailures(reader, rollout),
  }
}

function inWords(verdict: RolloutVerdict, { subject, wanted, given }: Rollout): string {
  if (verdict.next === 'wait') return verdict.why
  if (verdict.next === 'freeze') return `the hub, which is about to freeze it: ${verdict.reason}`
  if (verdict.next === 'open wave')
    return `the hub, which is about to open wave ${verdict.wave + 1}`
  const words = ACT_WORDS[subject.kind]
  if (verdict.next === 'give') return `the hub, which ${words.give} ${given} of ${wanted} hosts`
  return verdict.next === 'finish' ? words.finish : words.takeBack
}

const ACT_WORDS: Readonly<
  Record<RolloutKind, { readonly give: string; readonly finish: string; readonly takeBack: string }>
> = {
  load: {
    give: 'has given the version to',
    finish: 'the hub, which is about to make it the version of the load',
    takeBack: 'the hub, which gives its hosts the last good version',
  },
  roots: {
    give: 'has offered the roots to',
    finish: 'the hub, which is about to offer them to everybody',
    takeBack: '',
  },
  update: {
    give: 'has announced the version to',
    finish: 'the hub, which is about to say that it is done',
    takeBack: 'the hub, which takes the announcement back',
  },
  rotation: {
    give: 'has asked',
    finish: 'the hub, which is about to say that it is done',
    takeBack: 'the hub, which takes the request back',
  },
}

/** Of what is no carga also those that are waited for: most of them fail by being late. */
async function listFailures(
  reader: StoreReader,
  rollout: Rollout,
): Promise<AdminRolloutDetails['failures']> {
  const { id } = rollout
  if (!isLoadRollout(rollout)) {
    return [
      ...(await listRefusing(reader, id)),
      ...(await listPending(reader, id)),
      ...(await listDeclined(reader, id)),
    ]
  }
  const failures: AdminRolloutDetails['failures'] = []
  for (const entrega of await reader.rollouts.listFailed(id, FAILURES_SHOWN)) {
    const delivery = await reader.findDeliveryWithCargo(entrega)
    if (delivery === undefined) continue
    const { hostname, status, error } = delivery
    failures.push({ hostname, entrega_id: entrega, status, erro: error })
  }
  return failures
}

type Failures = AdminRolloutDetails['failures']

async function listPending(reader: StoreReader, id: RolloutId): Promise<Failures> {
  const hosts = await reader.findAgents(await reader.rollouts.listPending(id, FAILURES_SHOWN))
  const status = DeliveryStatus.pending
  return hosts.map(({ hostname }) => ({ hostname, entrega_id: null, status, erro: null }))
}

/** Roots are refused, and updates fail. */
async function listRefusing(reader: StoreReader, id: RolloutId): Promise<Failures> {
  const hosts = await reader.rollouts.listRefusing(id, FAILURES_SHOWN)
  const ids = hosts.map(({ agentId }) => agentId)
  const trusts = new Map((await reader.listAgentTrust(ids)).map((one) => [one.agentId, one.error]))
  const reasons = hosts.map(({ agentId, error }) => ({
    agentId,
    error: error ?? trusts.get(agentId) ?? null,
  }))
  return listReasons(reader, reasons, DeliveryStatus.failed)
}

async function listDeclined(reader: StoreReader, id: RolloutId): Promise<Failures> {
  return listReasons(reader, await reader.rollouts.listDeclined(id, FAILURES_SHOWN), DECLINED)
}

async function listReasons(
  reader: StoreReader,
  hosts: readonly RefusingHost[],
  status: string,
): Promise<Failures> {
  const reasons = new Map(hosts.map(({ agentId, error }) => [agentId, error]))
  return (await reader.findAgents([...reasons.keys()])).map(({ id, hostname }) => ({
    hostname,
    entrega_id: null,
    status,
    erro: reasons.get(id) ?? null,
  }))
}
