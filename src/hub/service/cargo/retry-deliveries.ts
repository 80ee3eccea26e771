// `svc entrega retry`: a new entrega in the place of a failed one, or of every failed one.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { FleetChange } from '../../domain/fleet-change.ts'
import type { DeliveryWithCargo, StoreReader, StoreWriter } from '../../store/store.ts'
import {
  type AdminAct,
  AdminRefusal,
  type AdminTurn,
  type Course,
  type Done,
} from '../admin-act.ts'
import { toAdminDelivery } from '../admin-views.ts'
import { retrial, retryDelivery } from './change-delivery.ts'
import type { CargoContext } from './cargo-context.ts'
import { newDeliveryLike } from './replace-delivery.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

export const retryDeliveries: Course<'retryDeliveries', CargoContext> = {
  run: async (turn, { entrega, entregas, erro }, context) => {
    const { store, clock, changes, actor } = context
    if ([entrega, entregas, erro].filter((given) => given !== undefined).length > 1) {
      throw new AdminRefusal('request_invalid', 'one of entrega, entregas and erro, or none')
    }
    const named = entrega === undefined ? entregas : [entrega]
    if (named !== undefined) {
      return turn.commit((writer) => retryNamed(writer, named, clock.now()))
    }
    return changes.inTurn(async () => {
      const retrying: Retrying = { actor, now: clock.now(), erro }
      const page = { limit: SLICE_DELIVERIES + 1 }
      const failed = await store.reader.listFailedDeliveries(page)
      if (failed.length > SLICE_DELIVERIES && turn.rehearse !== undefined) {
        return rehearseRetry(turn.rehearse, store.reader, retrying)
      }
      if (failed.length > SLICE_DELIVERIES) {
        return { entregas: await retryMany(context, retrying) }
      }
      return turn.commit(async (writer) => {
        const again = await writer.listFailedDeliveries(page)
        const { replaced, made } = await replaceFailed(writer, again, retrying)
        const agents = made.map(({ agente_id: id }) => id as AgentId)
        return { acts: replaced.map(retrial), reply: { entregas: made }, news: { agents } }
      })
    })
  },
}

/** Each of them once, all or none. */
async function retryNamed(
  writer: StoreWriter,
  named: readonly string[],
  now: Date,
): Promise<Done<AdminReplies['retryDeliveries']>> {
  const retried: Awaited<ReturnType<typeof retryDelivery>>[] = []
  for (const name of new Set(named)) retried.push(await retryDelivery(writer, name, now))
  return {
    acts: retried.flatMap(({ acts }) => acts),
    reply: { entregas: retried.flatMap(({ made }) => made) },
    news: { agents: retried.flatMap(({ agents }) => agents) },
  }
}

interface Retrying {
  readonly actor: Actor
  readonly now: Date
  /** Only those with this error. */
  readonly erro: string | undefined
}

type Made = AdminReplies['retryDeliveries']['entregas']

/** docs/protocol.md FLT. */
async function retryMany({ store, changes }: CargoContext, retrying: Retrying): Promise<Made> {
  const { actor, now } = retrying
  const isOfAll = retrying.erro === undefined
  const total = isOfAll
    ? await store.reader.countFailedDeliveries()
    : await countRetries(store.reader, retrying)
  const plan = { act: 'retry', cargoId: null, actor, cargoName: null, total } as const
  return changes.change(plan, async (change) => {
    const made: Made = []
    let after: string | undefined
    for (;;) {
      const step = { after, limit: SLICE_DELIVERIES }
      const slice = await changes.prepare(async (writer) => {
        const failed = await writer.listFailedDeliveries(step)
        const { made: some } = await replaceFailed(writer, failed, retrying, change)
        const isLast = failed.length < step.limit
        if (isLast) await writer.putInForce(change.id, now)
        return { count: some.length, some, isLast, last: failed.at(-1)?.id }
      })
      made.push(...slice.some)
      if (slice.isLast) break
      after = slice.last
    }
    await changes.settle({ ...change, inForceAt: now })
    return made
  })
}

/** No index has them by their error. */
async function countRetries(reader: StoreReader, retrying: Retrying): Promise<number> {
  let total = 0
  for await (const retries of retrySlices(reader, retrying)) total += retries.length
  return total
}

async function rehearseRetry(
  rehearse: NonNullable<AdminTurn['rehearse']>,
  reader: StoreReader,
  retrying: Retrying,
): Promise<never> {
  const acts: AdminAct[] = []
  const agents: AgentId[] = []
  for await (const retries of retrySlices(reader, retrying)) {
    for (const { old, successor } of retries) {
      acts.push(retrial({ ...old, replacedBy: successor.id }))
      agents.push(old.agentId)
    }
  }
  return rehearse(acts, agents)
}

async function* retrySlices(
  reader: StoreReader,
  retrying: Retrying,
): AsyncGenerator<ReturnType<typeof planRetries>> {
  const limit = SLICE_DELIVERIES
  let after: string | undefined
  let failed
  do {
    failed = await reader.listFailedDeliveries({ after, limit })
    yield planRetries(failed, retrying)
    after = failed.at(-1)?.id
    await nextTurn()
  } while (failed.length === limit)
}

/** Entregas of a removed carga stay as they are. */
function planRetries(failed: readonly DeliveryWithCargo[], { now, erro }: Retrying) {
  return (
    failed
      .filter(({ cargo }) => cargo.removedAt === null)
      // Below the first line is what a command printed.
      .filter(({ error }) => erro === undefined || error?.split('\n', 1)[0] === erro)
      .map((old) => ({ old, successor: newDeliveryLike(old, now) }))
  )
}

interface ReplacedFailures {
  readonly replaced: readonly Pick<Delivery, 'id' | 'cargoId' | 'replacedBy'>[]
  /** The new ones, as they are answered. */
  readonly made: Made
}

async function replaceFailed(
  writer: StoreWriter,
  failed: readonly DeliveryWithCargo[],
  retrying: Retrying,
  change?: FleetChange,
): Promise<ReplacedFailures> {
  const { now } = retrying
  const retries = planRetries(failed, retrying)
  await writer.replaceDeliveries(
    retries.map(({ old, successor }) => ({ old: old.id, successor })),
    now,
    change?.id,
  )
  return {
    replaced: retries.map(({ old: { id, cargoId }, successor }) => ({
      id,
      cargoId,
      replacedBy: successor.id,
    })),
    made: retries.map(({ old, successor }) => toAdminDelivery({ ...old, ...successor })),
  }
}
