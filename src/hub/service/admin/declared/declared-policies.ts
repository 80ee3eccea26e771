import type { Policy } from '../../../domain/policy.ts'
import type { PresentObject } from '../../../domain/plan-fleet.ts'
import { CargoNames } from './cargo-names.ts'
import { changesOf, type Declarable, present, valuesAfter } from './declarable.ts'
import { policiesAfter, refuseTakenNames, selectorPoliciesAfter } from './policies-after.ts'
import { declareBounds, presentBounds } from './policy-fields.ts'

const KIND = 'politica'

/** A politica is named by its role. */
export const declaredPolicies: Declarable = {
  kind: KIND,
  whenUndeclared: 'remove object',
  declare: async (reader, declaration, context) => {
    const { politicas = [] } = declaration
    const declared = await declareBounds(reader, politicas, declaration, context)
    return declared.map(([{ role, nome }, bounds]) => ({
      kind: KIND,
      name: role,
      fields: { ...present({ nome }), ...bounds },
    }))
  },
  read: async (reader, { names, ids }) => {
    const wanted = new Set([...names, ...ids])
    const policies = (await reader.listPolicies()).filter(({ role }) => wanted.has(role))
    const automatic = policies.flatMap(({ automaticCargoes }) => automaticCargoes)
    const cargoNames = await CargoNames.read(reader, automatic)
    return policies.map((policy) => toPresent(policy, cargoNames))
  },
  check: async (reader, changes, context) => {
    const touched = new Set(changesOf(changes, KIND, 'create', 'update').map(({ name }) => name))
    if (touched.size === 0) return
    const policies = await policiesAfter(reader, changes, context)
    const selected = await selectorPoliciesAfter(reader, changes, context)
    const ofPlan = policies.filter(({ role }) => touched.has(role))
    refuseTakenNames(ofPlan, policies, selected)
  },
  apply: async (writer, changes, context) => {
    const policies = await policiesAfter(writer, changes, context)
    const after = new Map(policies.map((policy) => [policy.role, policy]))
    const touched = changesOf(changes, KIND, 'create', 'update', 'remove')
    // Names are free before others take them, also where two politicas change theirs for each other’s.
    for (const change of touched) {
      const isFreed = change.action !== 'create' && 'nome' in valuesAfter(change)
      if (isFreed || change.action === 'remove') await writer.removePolicy(change.name)
    }
    for (const { name } of touched) {
      const policy = after.get(name)
      if (policy !== undefined) await writer.setPolicy(policy)
    }
    return touched.map(({ name }) => {
      const nome = after.get(name)?.name
      return { name, id: name, said: nome === undefined ? {} : { nome } }
    })
  },
}

function toPresent(policy: Policy, cargoNames: CargoNames): PresentObject {
  return {
    kind: KIND,
    id: policy.role,
    name: policy.role,
    fields: {
      nome: policy.name,
      ...presentBounds(policy, cargoNames),
      reenroll: policy.mayOperatorsReenroll,
    },
  }
}
