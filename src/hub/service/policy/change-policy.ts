// The politica that an operator sets for the agents of a role, and what it does to the agents of that role. docs/protocol.md POL.

import {
  type AdminAct,
  AdminRefusal,
  type Course,
  type Done,
  type Read,
  type Write,
} from '../admin-act.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminPolicyEffect } from '../../../protocol/admin/views.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Policy } from '../../domain/policy.ts'
import { policyOfRole } from '../../domain/role-rules.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { toAdminPolicy } from '../admin-views.ts'
import { foresee, type GovernedAgents, lookAtGovernedAgents } from './affected-cargoes.ts'
import {
  changePolicy,
  emptyPolicy,
  findAutomaticCargoes,
  withAutomaticCargoes,
} from './parse-policy.ts'
import { policyTag } from './policy-tag.ts'
import { refuseTakenName } from './refuse-taken-name.ts'
import { type Trial, type TrialContext, tryPolicy } from './try-policy.ts'
import { readPage } from '../read-page.ts'

type SetPolicy = AdminRequest<'setPolicy'>

interface PolicyContext extends TrialContext {
  readonly store: Store
  /** The hub’s own names, which no policy may permit. */
  readonly hubNames: readonly string[]
}

/**
 * Makes the row of a role, or changes the fields of the row that the request names. A cert_ttl is tried at the CA first,
 * unless the act is only rehearsed: a rehearsal asks nobody else to do anything.
 */
export const setPolicy: Course<'setPolicy', PolicyContext> = {
  run: async (turn, request, context) => {
    const plan = () => planPolicy(context.store.reader, request, context.hubNames)
    if (turn.rehearse !== undefined) {
      const policy = await plan()
      const foreseen = foresee(await lookAhead(context.store.reader, policy))
      return turn.rehearse([actOf(policy)], [], foreseen)
    }
    const trial = await tryPolicy(turn, request, plan, context)
    return turn.commit((writer) => writePolicy(writer, request, context, trial))
  },
}

async function writePolicy(
  writer: StoreWriter,
  request: SetPolicy,
  { store, hubNames }: PolicyContext,
  trial: Trial | undefined,
): Promise<Done<AdminReplies['setPolicy']>> {
  const policy = await planPolicy(writer, request, hubNames)
  await writer.setPolicy(policy)
  const politica = toAdminPolicy(policy)
  return {
    acts: [actOf(policy, trial)],
    reply: async () => ({ ...politica, ...(await findEffect(store.reader, policy.role)) }),
  }
}

function actOf(policy: Policy, trial?: Trial): AdminAct {
  const payload = { ...toAdminPolicy(policy), ...(trial && { trial }) }
  return { type: HubEventType.policySet, payload }
}

/** As if the row were there already. */
async function lookAhead(reader: StoreReader, policy: Policy): Promise<GovernedAgents> {
  const others = (await reader.listPolicies()).filter(({ role }) => role !== policy.role)
  return lookAtGovernedAgents(reader, policy.role, [...others, policy])
}

/** The row as it would be. Throws what the request cannot be. */
async function planPolicy(
  reader: StoreReader,
  request: SetPolicy,
  hubNames: readonly string[],
): Promise<Policy> {
  const old = (await reader.findPolicies(request.role)).find(({ role }) => role === request.role)
  refuseOtherPolicy(request, old)
  const changed = changePolicy(old ?? emptyPolicy(request.role), request, hubNames)
  await refuseTakenName(reader, changed, { role: changed.role })
  const cargoes = await findAutomaticCargoes(reader, changed, request.cargas_automaticas)
  return withAutomaticCargoes(changed, cargoes)
}

export const listPolicies: Read<'listPolicies'> = async (reader, request) => {
  const view = (policy: Policy) => ({ id: policy.role, politica: toAdminPolicy(policy) })
  const { rows, next } = await readPage(request, reader.pagePolicies.bind(reader), view)
  return { politicas: rows.map(({ politica }) => politica), next }
}

export const showPolicy: Read<'showPolicy'> = async (
  reader,
  { role, agentes: areAgentsAsked = true },
) => {
  const policy = await requirePolicy(reader, role)
  if (!areAgentsAsked) return { ...toAdminPolicy(policy), agentes: [], cargas_afetadas: [] }
  const { hostnames, affected } = await lookAtGovernedAgents(reader, role)
  return { ...toAdminPolicy(policy), agentes: [...hostnames], cargas_afetadas: [...affected] }
}

/** From now on the row `*`, if there is one, holds for the agents of the role. */
export const removePolicy: Write<'removePolicy', PolicyContext> = async (
  writer,
  request,
  { store },
) => {
  const { role } = request
  const found = await requirePolicy(writer, role)
  refuseOtherPolicy(request, found)
  await writer.removePolicy(role)
  const politica = toAdminPolicy(found)
  return {
    acts: [{ type: HubEventType.policyRemoved, payload: politica }],
    reply: async () => ({ ...politica, ...(await findEffect(store.reader, role)) }),
  }
}

/** Looked at after the commit: it walks through all deliveries, and no other write shall wait for that. */
async function findEffect(reader: StoreReader, role: string): Promise<AdminPolicyEffect> {
  const { affected } = await lookAtGovernedAgents(reader, role)
  return { cargas_afetadas: [...affected] }
}

/** A caller who says which politica they saw does not overwrite a later change of another caller. */
function refuseOtherPolicy(
  { role, etag }: AdminRequest<'setPolicy' | 'removePolicy'>,
  policy: Policy | undefined,
): void {
  if (etag === undefined || (policy && policyTag(toAdminPolicy(policy)) === etag)) return
  throw new AdminRefusal('politica_changed', `the policy of role ${role} has changed`)
}

async function requirePolicy(reader: StoreReader, role: string): Promise<Policy> {
  const policies = await reader.findPolicies(role)
  const policy = policies.find((each) => each.role === role)
  if (policy !== undefined) return policy
  const other = policyOfRole(role, policies)
  throw new AdminRefusal(
    'politica_not_found',
    `role ${role} has no policy of its own`,
    other && { politica: other.role },
  )
}
