// A plan that is done: one commit, one entry of the log. docs/protocol.md DCL.

import { invariant } from '../../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../../protocol/admin/operations.ts'
import { HubEventType } from '../../../../protocol/words.ts'
import {
  findOthersField,
  OBJECT,
  type ObjectChange,
  type OwnedField,
} from '../../../domain/plan-fleet.ts'
import { nameWebhook } from '../../../domain/webhook.ts'
import type { AgentId, WebhookId } from '../../../../protocol/identifiers.ts'
import type { News, Store, StoreWriter } from '../../../store/store.ts'
import { type AdminAct, AdminRefusal, type Course, type Done } from '../../admin-act.ts'
import { type Trial, type TryLifetime, untested } from '../../policy/try-lifetime.ts'
import { refuseOlderHubs, type SharedVault } from '../../refuse-older-hubs.ts'
import { type AppliedChange, changesOf, type DeclaredContext, valuesAfter } from './declarable.ts'
import { DECLARABLES } from './declared-kinds.ts'
import {
  confirmPlan,
  everybodysTurn,
  type PlanContext,
  type ReadPlan,
  readPlan,
} from './plan-declared.ts'

type Request = AdminRequest<'applyFleet'>
type Reply = AdminReplies['applyFleet']

interface ApplyContext extends PlanContext, SharedVault {
  readonly store: Store
  readonly tryLifetime?: TryLifetime
}

type TriedLife = Trial & { readonly cert_ttl: number }

/** How many hosts the entry of an apply names. */
const HOSTS_NAMED_MAX = 250

/** Each new life of certificates is tried at the CA first, unless the act is only rehearsed. */
export const applyFleet: Course<'applyFleet', ApplyContext> = {
  run: async (turn, request, context) => {
    await turn.refuseRepetition()
    const { clock, hubNames, addresses, roots, role } = context
    const declared = { now: clock.now(), hubNames, role, addresses, ...(roots && { roots }) }
    const plan = await readPlan(context.store.reader, request, declared, everybodysTurn)
    refuseOtherPlan(plan, request)
    await refuseUnheeded(plan, context)
    const isTried = request.untested !== true && turn.rehearse === undefined
    const trials = isTried ? await tryLives(plan, context.tryLifetime) : []
    return turn.commit((writer) => apply(writer, request, plan, declared, trials))
  },
}

/** A hub of an earlier version passes over what it does not know. docs/protocol.md POL-27. */
async function refuseUnheeded(plan: ReadPlan, context: SharedVault): Promise<void> {
  if (!hasSelectors(plan)) return
  await refuseOlderHubs(context, 'would not keep to a policy with a selector')
}

function hasSelectors({ changes }: ReadPlan): boolean {
  return changesOf(changes, 'politica_seletor', 'create', 'update').length > 0
}

/** Of certificates, as politicas will have them. */
function livesOf({ changes }: ReadPlan): ReadonlySet<number> {
  const lives = new Set<number>()
  for (const kind of ['politica', 'politica_seletor'] as const) {
    for (const change of changesOf(changes, kind, 'create', 'update')) {
      const { cert_ttl } = valuesAfter(change)
      if (typeof cert_ttl === 'number') lives.add(cert_ttl)
    }
  }
  return lives
}

/** What the hub itself refuses costs the CA nothing: the plan was made before. */
async function tryLives(
  plan: ReadPlan,
  tryLifetime: TryLifetime | undefined,
): Promise<readonly TriedLife[]> {
  const trials: TriedLife[] = []
  for (const seconds of livesOf(plan)) {
    if (tryLifetime === undefined) throw untested(seconds, 'no hub runs')
    trials.push({ cert_ttl: seconds, ...(await tryLifetime(seconds)) })
  }
  return trials
}

async function apply(
  writer: StoreWriter,
  request: Request,
  planned: ReadPlan,
  context: DeclaredContext,
  trials: readonly TriedLife[],
): Promise<Done<Reply>> {
  const plan = await confirmPlan(writer, planned, request, context)
  refuseOtherPlan(plan, request)
  refuseUntried(plan, planned)
  const applied = new Map<ObjectChange['kind'], readonly AppliedChange[]>()
  for (const { kind, apply: applyKind } of DECLARABLES) {
    if (!plan.changes.some((change) => change.kind === kind)) continue
    applied.set(kind, await applyKind(writer, plan.changes, context))
  }
  await changeOwners(writer, request.manager, plan, applied)
  const all = [...applied.values()].flat()
  const reply = {
    ...plan.view,
    join_tokens: all.flatMap(({ joinToken }) => joinToken ?? []),
    webhook_secrets: all.flatMap(({ webhookSecret }) => webhookSecret ?? []),
  }
  const done = plan.changes.filter(({ action }) => action !== 'todo')
  if (done.length === 0) return { acts: [], reply }
  return { acts: [actOf(request, done, applied, trials)], reply, news: newsOf(done) }
}

/** A host learns of what it comes to match by its stream, when that is looked at once more. docs/protocol.md LBL-19. */
function newsOf(done: readonly ObjectChange[]): News {
  const areWebhooksChanged = changesOf(done, 'webhook', 'create', 'update', 'remove').length > 0
  const areCargoesChanged = changesOf(done, 'carga', 'create', 'update').length > 0
  const labelled = changesOf(done, 'agente', 'update').map(({ id }) => id as AgentId)
  return {
    ...(labelled.length > 0 && { agents: labelled }),
    ...(areWebhooksChanged && { areWebhooksChanged: true as const }),
    ...(areCargoesChanged && { isForAll: true as const }),
  }
}

function refuseOtherPlan(plan: ReadPlan, { etag }: Request): void {
  if (etag !== undefined && plan.view.etag !== etag) {
    throw new AdminRefusal('fleet_changed', 'what the plan looked at has changed since')
  }
  const others = findOthersField(plan)
  if (others === undefined) return
  const { change, field } = others
  throw new AdminRefusal(
    'declared_owned',
    `manager ${field.owner} owns ${field.field === OBJECT ? 'all' : field.field} of ${change.kind} ${change.name}`,
    { manager: field.owner ?? '', nome: change.name },
  )
}

/** Nobody asked the CA, and no older hub, about what came into the plan since. */
function refuseUntried(plan: ReadPlan, planned: ReadPlan): void {
  const tried = livesOf(planned)
  const isUntried = [...livesOf(plan)].some((seconds) => !tried.has(seconds))
  if (!isUntried && (hasSelectors(planned) || !hasSelectors(plan))) return
  throw new AdminRefusal(
    'fleet_changed',
    'what the plan looked at has changed since the CA was asked',
  )
}

/** Of a politica all rows: they went with a row that was replaced to free its name. */
async function changeOwners(
  writer: StoreWriter,
  manager: string,
  { changes, owned }: ReadPlan,
  applied: ReadonlyMap<ObjectChange['kind'], readonly AppliedChange[]>,
): Promise<void> {
  const ownedOf = Map.groupBy(owned, ({ kind, id }) => `${kind} ${id}`)
  const rows: OwnedField[] = []
  const gone: Pick<OwnedField, 'kind' | 'id' | 'field'>[] = []
  for (const { kind, name, id: known, action, takes, takesObject, releases } of changes) {
    const id = known ?? applied.get(kind)?.find((each) => each.name === name)?.id
    if (id === undefined || (action === 'todo' && known === null)) continue
    const before = ownedOf.get(`${kind} ${id}`) ?? []
    if (action === 'remove') gone.push(...before)
    else {
      const fields = takesObject ? [OBJECT, ...takes] : takes
      if (kind === 'politica') rows.push(...before.filter(({ field }) => !releases.includes(field)))
      rows.push(...fields.map((field) => ({ kind, id, name, field, manager })))
      gone.push(...releases.map((field) => ({ kind, id, field })))
    }
  }
  if (rows.length > 0) await writer.declared.putOwned(rows)
  if (gone.length > 0) await writer.declared.removeOwned(gone)
}

function actOf(
  { manager, files_sha256, prune = false }: Request,
  done: readonly ObjectChange[],
  applied: ReadonlyMap<ObjectChange['kind'], readonly AppliedChange[]>,
  trials: readonly TriedLife[],
): AdminAct {
  const count = (action: ObjectChange['action']): number =>
    done.filter((change) => change.action === action).length
  const hosts = done.filter(({ kind }) => kind === 'agente')
  const named = [
    ...done.filter(({ kind }) => kind !== 'agente'),
    ...hosts.slice(0, HOSTS_NAMED_MAX),
  ]
  const payload = {
    manager,
    files_sha256,
    prune,
    created: count('create'),
    updated: count('update'),
    removed: count('remove'),
    owned: count('own'),
    changes: named.map((change) => {
      const said = applied.get(change.kind)?.find(({ name }) => name === change.name)?.said
      return { ...describe(change), ...said }
    }),
    ...(hosts.length > HOSTS_NAMED_MAX && { agentes_total: hosts.length }),
    ...(trials.length > 0 && { trials }),
  }
  return { type: HubEventType.fleetApplied, payload }
}

function describe({ kind, name, id, action, fields }: ObjectChange) {
  const names = fields.map(({ field }) => field)
  const base = { kind, action, fields: names }
  if (kind !== 'webhook') return { ...base, name }
  // The log has no whole URL.
  if (id === null) return base
  invariant(URL.canParse(name), 'a webhook is named by its URL')
  return { ...base, ...nameWebhook({ id: id as WebhookId, url: name }) }
}
