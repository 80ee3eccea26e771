// The politica that an operator sets for the agents of a role, and what it does to the agents of that role. docs/protocol.md POL.

import { AdminRefusal, type Read, type Write } from '../admin-act.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminPolicyEffect } from '../../../protocol/admin/views.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Policy } from '../../domain/policy.ts'
import { policyOfRole } from '../../domain/role-rules.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { toAdminPolicy } from '../admin-views.ts'
import { lookAtGovernedAgents } from './affected-cargoes.ts'
import {
  changePolicy,
  emptyPolicy,
  findAutomaticCargoes,
  refuseForbiddenNames,
} from './parse-policy.ts'
import { policyTag } from './policy-tag.ts'
import { readPage } from '../read-page.ts'

interface PolicyContext {
  readonly store: Store
  /** The hub’s own names, which no policy may permit. */
  readonly hubNames: readonly string[]
}

/** Makes the row of a role, or changes the fields of the row that the request names. */
export const setPolicy: Write<'setPolicy', PolicyContext> = async (
  writer,
  request,
  { store, hubNames },
) => {
  const old = (await writer.findPolicies(request.role)).find(({ role }) => role === request.role)
  refuseOtherPolicy(request, old)
  const changed = changePolicy(old ?? emptyPolicy(request.role), request, hubNames)
  await refuseTakenName(writer, changed)
  const cargoes = await findAutomaticCargoes(writer, changed, request.cargas_automaticas)
  refuseForbiddenNames(changed, cargoes)
  const whole = { ...changed, automaticCargoes: cargoes.map(({ id }) => id) }
  await writer.setPolicy(whole)
  const politica = toAdminPolicy(whole)
  return {
    acts: [{ type: HubEventType.policySet, payload: politica }],
    reply: async () => ({ ...politica, ...(await findEffect(store.reader, whole.role)) }),
  }
}

export const listPolicies: Read<'listPolicies'> = async (reader, request) => {
  const view = (policy: Policy) => ({ id: policy.role, politica: toAdminPolicy(policy) })
  const { rows, next } = await readPage(request, reader.pagePolicies.bind(reader), view)
  return { politicas: rows.map(({ politica }) => politica), next }
}

export const showPolicy: Read<'showPolicy'> = async (reader, { role }) => {
  const policy = await requirePolicy(reader, role)
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
  throw new AdminRefusal('politica_changed', `the politica of role ${role} has changed`)
}

async function requirePolicy(reader: StoreReader, role: string): Promise<Policy> {
  const policies = await reader.findPolicies(role)
  const policy = policies.find((each) => each.role === role)
  if (policy !== undefined) return policy
  const other = policyOfRole(role, policies)
  throw new AdminRefusal(
    'politica_not_found',
    `role ${role} has no politica of its own`,
    other && { politica: other.role },
  )
}

/** Lists and logs name a policy by it. */
async function refuseTakenName(reader: StoreReader, { role, name }: Policy): Promise<void> {
  const other = (await reader.listPolicies()).find((each) => each.name === name)
  if (other === undefined || other.role === role) return
  throw new AdminRefusal(
    'nome_taken',
    `the politica of role ${other.role} is named ${name} already`,
  )
}
