// What an operator lays down for the agents of a role, and what it does to those that are there. docs/protocol.md POL.

import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminPolicyEffect } from '../../../protocol/admin/views.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import { EVERY_ROLE, type Policy } from '../../domain/policy.ts'
import { policyOfRole } from '../../domain/role-rules.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { toAdminPolicy } from '../admin-views.ts'
import { lookAtGovernedAgents } from './affected-cargoes.ts'
import { recordHubAct } from '../hub-acts.ts'
import {
  changePolicy,
  emptyPolicy,
  findAutomaticCargoes,
  refuseForbiddenNames,
} from './parse-policy.ts'
import { policyTag } from './policy-tag.ts'

export interface PolicyDependencies {
  readonly store: Store
  readonly clock: Clock
  /** The hub’s own names, which no policy may permit. */
  readonly hubNames: readonly string[]
}

/** Makes the row of a role, or changes what the request names of it. */
export async function setPolicy(
  { store, clock, hubNames }: PolicyDependencies,
  request: AdminRequest<'setPolicy'>,
  actor: Actor,
): Promise<AdminReplies['setPolicy']> {
  const policy = await store.write(async (writer) => {
    const old = (await writer.findPolicies(request.role)).find(({ role }) => role === request.role)
    refuseOtherPolicy(request, old)
    const changed = changePolicy(old ?? emptyPolicy(request.role), request, hubNames)
    await refuseTakenName(writer, changed)
    const cargoes = await findAutomaticCargoes(writer, changed, request.cargas_automaticas)
    refuseForbiddenNames(changed, cargoes)
    const whole = { ...changed, automaticCargoes: cargoes.map(({ id }) => id) }
    await writer.setPolicy(whole)
    const payload = { actor, ...toAdminPolicy(whole) }
    await recordHubAct(writer, clock.now(), HubEventType.policySet, payload)
    return whole
  })
  return { ...toAdminPolicy(policy), ...(await findEffect(store.reader, policy.role)) }
}

export async function showPolicy(
  reader: StoreReader,
  { role }: AdminRequest<'showPolicy'>,
): Promise<AdminReplies['showPolicy']> {
  const policy = await requirePolicy(reader, role)
  const { hostnames, affected } = await lookAtGovernedAgents(reader, role)
  return { ...toAdminPolicy(policy), agentes: [...hostnames], cargas_afetadas: [...affected] }
}

/** From now on the row of every role holds for its agents, or none. */
export async function removePolicy(
  store: Store,
  clock: Clock,
  request: AdminRequest<'removePolicy'>,
  actor: Actor,
): Promise<AdminReplies['removePolicy']> {
  const { role } = request
  const policy = await store.write(async (writer) => {
    const found = await requirePolicy(writer, role)
    refuseOtherPolicy(request, found)
    await writer.removePolicy(role)
    const payload = { actor, ...toAdminPolicy(found) }
    await recordHubAct(writer, clock.now(), HubEventType.policyRemoved, payload)
    return found
  })
  return { ...toAdminPolicy(policy), ...(await findEffect(store.reader, role)) }
}

/** Looked at after the commit: it walks through all deliveries, and nobody else's write shall wait for that. */
async function findEffect(reader: StoreReader, role: string): Promise<AdminPolicyEffect> {
  const { affected } = await lookAtGovernedAgents(reader, role)
  return { cargas_afetadas: [...affected] }
}

/** Whoever says what it was when they looked does not overwrite what somebody else made of it since. */
function refuseOtherPolicy(
  { role, etag }: AdminRequest<'setPolicy' | 'removePolicy'>,
  policy: Policy | undefined,
): void {
  if (etag === undefined || (policy && policyTag(toAdminPolicy(policy)) === etag)) return
  throw new UserError('politica_changed', `the politica of role ${role} has changed`, {
    hint: 'somebody else changed it; look at it again before you do',
  })
}

async function requirePolicy(reader: StoreReader, role: string): Promise<Policy> {
  const policies = await reader.findPolicies(role)
  const policy = policies.find((each) => each.role === role)
  if (policy !== undefined) return policy
  const other = policyOfRole(role, policies)
  throw new UserError('politica_not_found', `role ${role} has no politica of its own`, {
    hint:
      other === undefined
        ? 'svc politica list shows which roles have one'
        : `that of role ${EVERY_ROLE} holds for it: svc politica show '${EVERY_ROLE}'`,
  })
}

/** Lists and logs name a policy by it. */
async function refuseTakenName(reader: StoreReader, { role, name }: Policy): Promise<void> {
  const other = (await reader.listPolicies()).find((each) => each.name === name)
  if (other === undefined || other.role === role) return
  throw new UserError('nome_taken', `the politica of role ${other.role} is named ${name} already`, {
    hint: 'name this one otherwise by --nome',
  })
}
