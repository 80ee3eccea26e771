import { invariant } from '../../../../platform/errors.ts'
import type { JoinRuleId } from '../../../../protocol/identifiers.ts'
import { toLabelRecord } from '../../../../protocol/labels.ts'
import { isRuleInForce, type JoinRule } from '../../../domain/join-rule.ts'
import type { ObjectChange, PresentObject } from '../../../domain/plan-fleet.ts'
import { JOIN_RULES_ENDED_MAX } from '../../../domain/remembered-act.ts'
import { policyOfRole } from '../../../domain/role-rules.ts'
import type { StoreReader } from '../../../store/store.ts'
import { AdminRefusal } from '../../admin-act.ts'
import { parseGivenLabels } from '../../labels/parse-labels.ts'
import { agentCommand } from '../agent-command.ts'
import {
  chooseTtlSeconds,
  makeTokenProof,
  newJoinRule,
  refusePattern,
  type RulePolicies,
} from '../join-rules.ts'
import {
  type AppliedChange,
  changesOf,
  type Declarable,
  type DeclaredContext,
  present,
  valuesAfter,
} from './declarable.ts'
import { policiesAfter, selectorPoliciesAfter } from './policies-after.ts'

const KIND = 'join_rule'

/** A rule that expired is not there: it is made again, with another token. What a platform's token has to say, no file says. */
export const declaredJoinRules: Declarable = {
  kind: KIND,
  whenUndeclared: 'remove object',
  declare: async (_reader, { join_rules = [] }) =>
    join_rules.map(({ name, labels, ...others }) => {
      const { method, role, pattern, hosts_max, ttl_seconds, silent_seconds } = others
      if (pattern !== undefined) refusePattern(pattern)
      const fields = present({
        method,
        role,
        pattern,
        hosts_max,
        labels: labels && toLabelRecord(parseGivenLabels(labels)),
        ttl_seconds,
        silent_seconds,
      })
      return { kind: KIND, name, fields }
    }),
  read: async (reader, { names, ids }, { now }) => {
    const rules = await reader.declared.findJoinRules({ names, ids: ids as JoinRuleId[] })
    return rules.filter((rule) => isRuleInForce(rule, now)).map(toPresent)
  },
  markTodo: (change) => {
    const { name, action } = change
    const method = change.fields.find(({ field }) => field === 'method')
    if (method === undefined || (action === 'create' && method.after === 'token')) return change
    const byHand = `svc join-rule create ${name} --help says how`
    if (action === 'create') return { ...change, action: 'todo', todo: `make it: ${byHand}` }
    const todo = `a rule keeps its method: end it, then make it; ${byHand}`
    const fields = change.fields.map((each) => (each === method ? { ...each, todo } : each))
    return { ...change, fields, ...(fields.length === 1 && { action: 'todo' as const }) }
  },
  check: async (reader, changes, context) => {
    if (changesOf(changes, KIND, 'remove').length > JOIN_RULES_ENDED_MAX) {
      const most = `one apply ends at most ${JOIN_RULES_ENDED_MAX} join rules: end some of them first`
      throw new AdminRefusal('fleet_too_large', most)
    }
    await rulesAfter(reader, changes, context)
  },
  apply: async (writer, changes, context) => {
    const applied: AppliedChange[] = []
    for (const { change, rule, token } of await rulesAfter(writer, changes, context)) {
      const said = { join_rule_id: rule.id }
      if (token === undefined) {
        await writer.updateJoinRule(rule)
        applied.push({ name: change.name, id: rule.id, said })
        continue
      }
      await writer.insertJoinRule(rule)
      const command = await agentCommand(writer, context, { role: rule.role, token })
      const joinToken = { name: rule.name, token, ...command }
      applied.push({ name: change.name, id: rule.id, said, joinToken })
    }
    return applied
  },
}

function toPresent(rule: JoinRule): PresentObject {
  return {
    kind: KIND,
    id: rule.id,
    name: rule.name,
    fields: {
      method: rule.proof.method,
      role: rule.role,
      pattern: rule.pattern,
      hosts_max: rule.hostsMax,
      labels: toLabelRecord(rule.labels),
      ttl_seconds: lifeOf(rule),
      silent_seconds: rule.silentMs === null ? null : rule.silentMs / 1000,
    },
  }
}

function lifeOf({ createdAt, expiresAt }: JoinRule): number {
  return Math.round((expiresAt.getTime() - createdAt.getTime()) / 1000)
}

type PoliciesOf = (role: string) => RulePolicies

interface RuleAfter {
  readonly change: ObjectChange
  readonly rule: JoinRule
  /** Of a new one. */
  readonly token?: string
}

/** Throws what a rule cannot be. */
async function rulesAfter(
  reader: StoreReader,
  changes: readonly ObjectChange[],
  context: DeclaredContext,
): Promise<readonly RuleAfter[]> {
  const touched = changesOf(changes, KIND, 'create', 'update', 'remove')
  if (touched.length === 0) return []
  const ids = touched.flatMap(({ id }) => (id === null ? [] : [id as JoinRuleId]))
  const known = await reader.declared.findJoinRules({ names: [], ids })
  const ofRoles = await policiesAfter(reader, changes, context)
  const selected = await selectorPoliciesAfter(reader, changes, context)
  const policiesOf = (role: string): RulePolicies => ({
    ofRole: policyOfRole(role, ofRoles),
    selected,
  })
  const after: RuleAfter[] = []
  for (const change of touched) {
    const rule = known.find(({ id }) => id === change.id)
    if (change.action === 'create') {
      after.push({ change, ...create(change, policiesOf, context) })
      continue
    }
    invariant(rule !== undefined, 'a rule that is changed is there')
    const isEnded = change.action === 'remove'
    const next = isEnded
      ? { ...rule, endedAt: context.now }
      : update(rule, change, policiesOf, context)
    after.push({ change, rule: next })
  }
  return after
}

type NewRule = Parameters<typeof newJoinRule>[0] & { readonly ttl_seconds?: number }

function create(
  change: ObjectChange,
  policiesOf: PoliciesOf,
  { now, role: by }: DeclaredContext,
): { readonly rule: JoinRule; readonly token: string } {
  const { name } = change
  const { silent_seconds, ...fields } = valuesAfter(change)
  for (const field of ['role', 'pattern', 'hosts_max']) {
    if (field in fields) continue
    throw new AdminRefusal('declared_incomplete', `join rule ${name} is new, and has no ${field}`)
  }
  const silence = typeof silent_seconds === 'number' && { silent_seconds }
  const request = { ...fields, ...silence, name } as NewRule
  const ttlSeconds = chooseTtlSeconds(request, policiesOf(request.role), by)
  const { proof, token } = makeTokenProof()
  return { rule: newJoinRule(request, proof, ttlSeconds, now), token }
}

/** Its token and its hosts stay. */
function update(
  rule: JoinRule,
  change: ObjectChange,
  policiesOf: PoliciesOf,
  { now, role: by }: DeclaredContext,
): JoinRule {
  const after = { ...toPresent(rule).fields, ...valuesAfter(change) } as Omit<NewRule, 'labels'> & {
    readonly labels: Record<string, string>
    readonly ttl_seconds: number
    readonly silent_seconds: number | null
  }
  const { role, pattern, labels, ttl_seconds, silent_seconds: silent } = after
  const isWider = ['ttl_seconds', 'role', 'pattern', 'labels'].some((field) =>
    Object.hasOwn(valuesAfter(change), field),
  )
  if (isWider) {
    const bounds = { role, pattern, labels, ttl_seconds }
    chooseTtlSeconds(bounds, policiesOf(role), by)
  }
  const expiresAt =
    ttl_seconds === lifeOf(rule)
      ? rule.expiresAt
      : new Date(rule.createdAt.getTime() + ttl_seconds * 1000)
  if (expiresAt <= now) {
    throw new AdminRefusal(
      'request_invalid',
      `join rule ${rule.name} was made at ${rule.createdAt.toISOString()}, and would have ended already`,
    )
  }
  const silentMs = silent === null ? null : silent * 1000
  return {
    ...rule,
    role,
    pattern: after.pattern,
    labels: new Map(Object.entries(after.labels)),
    hostsMax: after.hosts_max,
    silentMs,
    // Silence counts from when the hub began to watch for it.
    watch: silentMs === rule.silentMs ? rule.watch : null,
    expiresAt,
  }
}
