import { formatSelector } from '../../../../protocol/selector.ts'
import type { SelectorPolicy } from '../../../domain/policy.ts'
import type { PresentObject } from '../../../domain/plan-fleet.ts'
import { parseDecidingWhere } from '../../parse-where.ts'
import { refuseTooManySelectorPolicies } from '../../policy/change-selector-policy.ts'
import { CargoNames } from './cargo-names.ts'
import { changesOf, type Declarable, present } from './declarable.ts'
import { policiesAfter, refuseTakenNames, selectorPoliciesAfter } from './policies-after.ts'
import { declareBounds, presentBounds } from './policy-fields.ts'

const KIND = 'politica_seletor'

/** A politica with a selector is named by its name. docs/protocol.md POL-20. */
export const declaredSelectorPolicies: Declarable = {
  kind: KIND,
  whenUndeclared: 'remove object',
  declare: async (reader, declaration, context) => {
    const { politicas_seletor: politicas = [] } = declaration
    const declared = await declareBounds(reader, politicas, declaration, context)
    return declared.map(([{ nome, where: given }, bounds]) => {
      const where = given && formatSelector(parseDecidingWhere(given, `where of policy ${nome}`))
      return { kind: KIND, name: nome, fields: { ...present({ where }), ...bounds } }
    })
  },
  read: async (reader, { names, ids }) => {
    const wanted = new Set([...names, ...ids])
    const policies = (await reader.listSelectorPolicies()).filter(({ name }) => wanted.has(name))
    const automatic = policies.flatMap(({ automaticCargoes }) => automaticCargoes)
    const cargoNames = await CargoNames.read(reader, automatic)
    return policies.map((policy) => toPresent(policy, cargoNames))
  },
  check: async (reader, changes, context) => {
    if (changesOf(changes, KIND, 'create', 'update').length === 0) return
    const selected = await selectorPoliciesAfter(reader, changes, context)
    const created = new Set(changesOf(changes, KIND, 'create').map(({ name }) => name))
    if (created.size === 0) return
    refuseTooManySelectorPolicies(selected.length)
    const policies = await policiesAfter(reader, changes, context)
    const ofPlan = selected.filter(({ name }) => created.has(name))
    refuseTakenNames(policies, policies, ofPlan)
  },
  apply: async (writer, changes, context) => {
    const policies = await selectorPoliciesAfter(writer, changes, context)
    const removed = changesOf(changes, KIND, 'remove')
    for (const { name } of removed) await writer.removeSelectorPolicy(name)
    const touched = changesOf(changes, KIND, 'create', 'update')
    const names = new Set(touched.map(({ name }) => name))
    for (const policy of policies.filter(({ name }) => names.has(name))) {
      await writer.setSelectorPolicy(policy)
    }
    return [...removed, ...touched].map(({ name }) => ({ name, id: name, said: { nome: name } }))
  },
}

function toPresent(policy: SelectorPolicy, cargoNames: CargoNames): PresentObject {
  return {
    kind: KIND,
    id: policy.name,
    name: policy.name,
    fields: {
      where: formatSelector(policy.selector),
      ...presentBounds(policy, cargoNames),
      reenroll: policy.mayOperatorsReenroll,
    },
  }
}
