// A politica for the hosts that a selector matches: it narrows what the politicas of their roles say. docs/protocol.md POL-20 to POL-27.

import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { SELECTOR_POLICIES_MAX, type SelectorPolicy } from '../../domain/policy.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import {
  type AdminAct,
  AdminRefusal,
  type Course,
  type Done,
  type Read,
  type Write,
} from '../admin-act.ts'
import { toAdminSelectorPolicy } from '../admin-views.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { pageOf, readPage } from '../read-page.ts'
import { refuseOlderHubs, type SharedVault } from '../refuse-older-hubs.ts'
import { foresee, lookAtMatchingAgents } from './affected-cargoes.ts'
import {
  changeSelectorPolicy,
  emptySelectorPolicy,
  findAutomaticCargoes,
  withAutomaticCargoes,
} from './parse-policy.ts'
import { policyTag } from './policy-tag.ts'
import { refuseTakenName } from './refuse-taken-name.ts'
import { type Trial, type TrialContext, tryPolicy } from './try-policy.ts'

type SetPolicy = AdminRequest<'setSelectorPolicy'>

interface PolicyContext extends TrialContext, SharedVault {
  readonly store: Store
  /** The hub’s own names, which no policy may permit. */
  readonly hubNames: readonly string[]
}

/** Makes the politica of a name, or changes what the request names of it. */
export const setSelectorPolicy: Course<'setSelectorPolicy', PolicyContext> = {
  run: async (turn, request, context) => {
    await refuseOlderHubs(context, 'would not keep to a policy with a selector')
    const plan = () => planPolicy(context.store.reader, request, context.hubNames)
    if (turn.rehearse !== undefined) {
      const policy = await plan()
      const foreseen = foresee(await lookAtMatchingAgents(context.store.reader, policy))
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
): Promise<Done<AdminReplies['setSelectorPolicy']>> {
  const policy = await planPolicy(writer, request, hubNames)
  await writer.setSelectorPolicy(policy)
  const politica = toAdminSelectorPolicy(policy)
  return {
    acts: [actOf(policy, trial)],
    // After the commit: no other write shall wait for a walk through all deliveries.
    reply: async () => {
      const { affected } = await lookAtMatchingAgents(store.reader, policy)
      return { ...politica, cargas_afetadas: [...affected] }
    },
  }
}

function actOf(policy: SelectorPolicy, trial?: Trial): AdminAct {
  const payload = { ...toAdminSelectorPolicy(policy), ...(trial && { trial }) }
  return { type: HubEventType.policySet, payload }
}

/** The politica as it would be. Throws what the request cannot be. */
async function planPolicy(
  reader: StoreReader,
  request: SetPolicy,
  hubNames: readonly string[],
): Promise<SelectorPolicy> {
  const { nome, where } = request
  const all = await reader.listSelectorPolicies()
  const old = all.find(({ name }) => name === nome)
  refuseOtherPolicy(request, old)
  const base = old ?? (await newPolicy(reader, request, all))
  const selector = where === undefined ? base.selector : parseDecidingWhere(where)
  const changed = changeSelectorPolicy({ ...base, selector }, request, hubNames)
  const cargoes = await findAutomaticCargoes(reader, changed, request.cargas_automaticas)
  return withAutomaticCargoes(changed, cargoes)
}

async function newPolicy(
  reader: StoreReader,
  { nome, where }: SetPolicy,
  all: readonly SelectorPolicy[],
): Promise<SelectorPolicy> {
  if (where === undefined) throw notFound(nome)
  await refuseTakenName(reader, { name: nome }, {})
  refuseTooManySelectorPolicies(all.length + 1)
  return emptySelectorPolicy(nome, parseDecidingWhere(where))
}

export function refuseTooManySelectorPolicies(count: number): void {
  if (count <= SELECTOR_POLICIES_MAX) return
  const most = `at most ${SELECTOR_POLICIES_MAX} policies have selectors`
  throw new AdminRefusal('too_many_politicas', most)
}

export const listSelectorPolicies: Read<'listSelectorPolicies'> = async (reader, request) => {
  const rows = (await reader.listSelectorPolicies()).map((policy) => ({
    id: policy.name,
    politica: toAdminSelectorPolicy(policy),
  }))
  const read = async (page: Parameters<typeof pageOf>[1]) => pageOf(rows, page)
  const page = await readPage(request, read, (row) => row)
  return { politicas: page.rows.map(({ politica }) => politica), next: page.next }
}

export const showSelectorPolicy: Read<'showSelectorPolicy'> = async (
  reader,
  { nome, agentes: areAgentsAsked = true },
) => {
  const policy = await requirePolicy(reader, nome)
  const politica = toAdminSelectorPolicy(policy)
  if (!areAgentsAsked) return { ...politica, agentes: [], cargas_afetadas: [] }
  const { hostnames, affected } = await lookAtMatchingAgents(reader, policy)
  return { ...politica, agentes: [...hostnames], cargas_afetadas: [...affected] }
}

/** What it took away, the politicas of roles and the others give again. */
export const removeSelectorPolicy: Write<'removeSelectorPolicy'> = async (writer, request) => {
  const found = await requirePolicy(writer, request.nome)
  refuseOtherPolicy(request, found)
  await writer.removeSelectorPolicy(found.name)
  const politica = toAdminSelectorPolicy(found)
  return { acts: [{ type: HubEventType.policyRemoved, payload: politica }], reply: politica }
}

/** A caller who says which politica they saw does not overwrite a later change of another caller. */
function refuseOtherPolicy(
  { nome, etag }: AdminRequest<'setSelectorPolicy' | 'removeSelectorPolicy'>,
  policy: SelectorPolicy | undefined,
): void {
  if (etag === undefined || (policy && policyTag(toAdminSelectorPolicy(policy)) === etag)) return
  throw new AdminRefusal('politica_changed', `the policy ${nome} has changed`)
}

async function requirePolicy(reader: StoreReader, name: string): Promise<SelectorPolicy> {
  const policy = (await reader.listSelectorPolicies()).find((each) => each.name === name)
  if (policy !== undefined) return policy
  throw notFound(name)
}

function notFound(name: string): AdminRefusal {
  const message = `no policy with a selector is named ${name}`
  return new AdminRefusal('politica_not_found', message, { nome: name })
}
