// The selector that a carga belongs to, and the hosts that no longer match it. Setting one is one row: each host that matches
// gets the carga at its next poll. What hosts lose they lose by an act of its own. docs/protocol.md LBL-22, LBL-23.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import { formatSelector } from '../../../protocol/selector.ts'
import { DeliveryKind, HubEventType } from '../../../protocol/words.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { WaitingReason } from '../../domain/decide-selected.ts'
import type { DeliveryWithCargo, StoreReader, StoreWriter } from '../../store/store.ts'
import { AdminRefusal, type Course, type Read, type Write } from '../admin-act.ts'
import { refuseOperatorsSelectedSans } from '../refuse-operator.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { cancelDeliveries, cancellation } from './change-delivery.ts'
import type { CargoContext } from './cargo-context.ts'
import { findCargo } from './find-cargo.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'
import { listStandingOf } from './replace-delivery.ts'
import { refuseOtherVersion } from './refuse-other-version.ts'
import { SELECTED_CARGOES_MAX } from '../selected-cargoes.ts'
import { keepUnmatched, matchingSlices, unmatchedSlices } from './selection-walk.ts'

/** Null leaves the carga to the hosts that have it now. */
export const selectCargo: Write<'selectCargo'> = async (writer, request, { role }) => {
  const cargo = await findCargo(writer, request.carga)
  refuseOtherVersion(cargo, request.versao)
  if (cargo.kind === DeliveryKind.push) {
    throw new AdminRefusal(
      'selector_unwanted',
      'a load of type push goes to the host that it was pushed to',
    )
  }
  const selector = request.where === null ? undefined : parseDecidingWhere(request.where)
  const where = selector === undefined ? null : formatSelector(selector)
  const reply = { carga_id: cargo.id, nome: cargo.name, where }
  if (where === cargo.where) return { acts: [], reply }
  if (selector !== undefined) {
    const rollout = await writer.rollouts.findOpen(cargo.id)
    // Those of a version that is on its way come after.
    const sans = [...cargo.sans, ...(rollout?.subject.sans ?? [])]
    await refuseOperatorsSelectedSans(writer, selector, sans, role)
  }
  if (cargo.where === null) await refuseTooManySelected(writer)
  await writer.updateCargo({ ...cargo, where })
  const payload = { carga_id: cargo.id, nome: cargo.name, where, where_before: cargo.where }
  return { acts: [{ type: HubEventType.cargoSelected, payload }], reply, news: { isForAll: true } }
}

/** With so many more of them. */
export async function refuseTooManySelected(reader: StoreReader, more = 1): Promise<void> {
  if ((await reader.listSelectedCargoes()).length + more <= SELECTED_CARGOES_MAX) return
  throw new AdminRefusal(
    'selected_too_many',
    `at most ${SELECTED_CARGOES_MAX} loads belong to a selector`,
  )
}

/** Cancels the entregas of the hosts that do not match, each slice in a commit with its entries. */
export const pruneCargo: Course<'pruneCargo', CargoContext> = {
  run: (turn, request, { store, clock, changes }) =>
    changes.inTurn(async () => {
      const cargo = await findSelected(store.reader, request)
      const found: DeliveryWithCargo[] = []
      for await (const slice of unmatchedSlices(store.reader, cargo)) found.push(...slice)
      if (turn.rehearse !== undefined) {
        const agents = found.map(({ agentId }) => agentId)
        return turn.rehearse(found.map(cancellation), agents)
      }
      const entregas: AdminReplies['pruneCargo']['entregas'] = []
      for (let start = 0; start < found.length; start += SLICE_DELIVERIES) {
        const slice = found.slice(start, start + SLICE_DELIVERIES)
        const removed = await turn.commit(async (writer) => {
          const now = await findSelected(writer, request)
          // As everything is now: a host may match again, or have another entrega.
          const left = await keepUnmatched(writer, now, await keepStanding(writer, slice))
          const acts = await cancelDeliveries(writer, left, clock.now())
          return { acts, reply: left, news: { agents: left.map(({ agentId }) => agentId) } }
        })
        entregas.push(...removed.map(toHolder))
        await nextTurn()
      }
      return { carga_id: cargo.id, nome: cargo.name, entregas }
    }),
}

async function findSelected(
  reader: StoreReader,
  { carga, versao }: AdminRequest<'pruneCargo'>,
): Promise<Cargo> {
  const cargo = await findCargo(reader, carga)
  refuseOtherVersion(cargo, versao)
  if (cargo.where !== null) return cargo
  throw new AdminRefusal(
    'selector_missing',
    `load ${cargo.name} belongs to no selector, so no host has it without matching`,
  )
}

async function keepStanding(
  writer: StoreWriter,
  deliveries: readonly DeliveryWithCargo[],
): Promise<DeliveryWithCargo[]> {
  const agentIds = deliveries.map(({ agentId }) => agentId)
  const ids = new Set(deliveries.map(({ id }) => id))
  return (await listStandingOf(writer, agentIds)).filter(({ id }) => ids.has(id))
}

export function toHolder({ id, agentId, hostname }: DeliveryWithCargo): {
  id: string
  agente_id: string
  hostname: string
} {
  return { id, agente_id: agentId, hostname }
}

/** So many hosts of each list are named. */
const NAMED_MAX = 1000

/** Who matches and does not have it, and who has it and does not match. */
export const showSelection: Read<'showSelection'> = async (reader, { carga }) => {
  const cargo = await findCargo(reader, carga)
  const { id, name, where } = cargo
  let matching = 0
  let waitingTotal = 0
  const waiting: AdminReplies['showSelection']['waiting'] = []
  for await (const slice of matchingSlices(reader, cargo)) {
    matching += slice.matching
    waitingTotal += slice.lacking.length
    for (const { agent, reason } of slice.lacking.slice(0, NAMED_MAX - waiting.length)) {
      const host = { agente_id: agent.id, hostname: agent.hostname }
      waiting.push({ ...host, ...describeReason(reason) })
    }
  }
  let unmatchedTotal = 0
  const unmatched: AdminReplies['showSelection']['unmatched'] = []
  for await (const slice of unmatchedSlices(reader, cargo)) {
    unmatchedTotal += slice.length
    unmatched.push(...slice.slice(0, NAMED_MAX - unmatched.length).map(toHolder))
  }
  return {
    carga_id: id,
    nome: name,
    where,
    matching,
    waiting_total: waitingTotal,
    waiting,
    unmatched_total: unmatchedTotal,
    unmatched,
  }
}

function describeReason(
  reason: WaitingReason | undefined,
): Pick<AdminReplies['showSelection']['waiting'][number], 'reason' | 'detail'> {
  if (reason === undefined) return { reason: 'next_poll', detail: null }
  switch (reason.code) {
    case 'not_sealed':
      return { reason: reason.code, detail: null }
    case 'nome_taken':
      return { reason: reason.code, detail: reason.rival.name }
    default:
      return { reason: reason.code, detail: reason.san }
  }
}
