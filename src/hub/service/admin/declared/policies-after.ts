// All politicas as a plan would leave them. What depends on politicas is looked at after these.

import type { AdminRequest } from '../../../../protocol/admin/operations.ts'
import type { Policy, SelectorPolicy } from '../../../domain/policy.ts'
import type { ObjectChange } from '../../../domain/plan-fleet.ts'
import type { StoreReader } from '../../../store/store.ts'
import { AdminRefusal } from '../../admin-act.ts'
import { parseDecidingWhere } from '../../parse-where.ts'
import {
  changePolicy,
  changeSelectorPolicy,
  emptyPolicy,
  emptySelectorPolicy,
} from '../../policy/parse-policy.ts'
import { refuseNameOfSelector } from '../../policy/refuse-taken-name.ts'
import { CargoNames } from './cargo-names.ts'
import { changesOf, type DeclaredContext, valuesAfter } from './declarable.ts'
import { plannedCargoes } from './declared-cargoes.ts'
import { automaticOf, withDeclaredCargoes } from './policy-fields.ts'

/** Those of roles. Throws what one of them cannot be. */
export async function policiesAfter(
  reader: StoreReader,
  changes: readonly ObjectChange[],
  { hubNames, now }: DeclaredContext,
): Promise<readonly Policy[]> {
  const policies = new Map((await reader.listPolicies()).map((policy) => [policy.role, policy]))
  for (const { name } of changesOf(changes, 'politica', 'remove')) policies.delete(name)
  const touched = changesOf(changes, 'politica', 'create', 'update')
  const cargoNames = await readCargoNames(reader, changes, touched, now)
  for (const change of touched) {
    const { name: role } = change
    const request = { ...valuesAfter(change), role } as AdminRequest<'setPolicy'>
    const policy = changePolicy(policies.get(role) ?? emptyPolicy(role), request, hubNames)
    policies.set(role, await withDeclaredCargoes(reader, change, policy, cargoNames))
  }
  return [...policies.values()]
}

/** Those with selectors. Throws what one of them cannot be. */
export async function selectorPoliciesAfter(
  reader: StoreReader,
  changes: readonly ObjectChange[],
  { hubNames, now }: DeclaredContext,
): Promise<readonly SelectorPolicy[]> {
  const all = await reader.listSelectorPolicies()
  const policies = new Map(all.map((policy) => [policy.name, policy]))
  for (const { name } of changesOf(changes, 'politica_seletor', 'remove')) policies.delete(name)
  const touched = changesOf(changes, 'politica_seletor', 'create', 'update')
  const cargoNames = await readCargoNames(reader, changes, touched, now)
  for (const change of touched) {
    const nome = change.name
    const request = { ...valuesAfter(change), nome } as AdminRequest<'setSelectorPolicy'>
    const { where } = request
    const selector = where === undefined ? undefined : parseDecidingWhere(where)
    const old = policies.get(nome) ?? (selector && emptySelectorPolicy(nome, selector))
    if (old === undefined) {
      const message = `policy ${nome} is new, and has no where`
      throw new AdminRefusal('declared_incomplete', message)
    }
    const base = selector === undefined ? old : { ...old, selector }
    const policy = changeSelectorPolicy(base, request, hubNames)
    policies.set(nome, await withDeclaredCargoes(reader, change, policy, cargoNames))
  }
  return [...policies.values()]
}

function readCargoNames(
  reader: StoreReader,
  changes: readonly ObjectChange[],
  touched: readonly ObjectChange[],
  now: Date,
): Promise<CargoNames> {
  const wanted = touched.flatMap((change) => automaticOf(change) ?? [])
  return CargoNames.read(reader, wanted, plannedCargoes(changes, now))
}

/** Of these politicas of roles, those that have the name of another politica of either kind. */
export function refuseTakenNames(
  touched: readonly Policy[],
  policies: readonly Policy[],
  selected: readonly SelectorPolicy[],
): void {
  for (const policy of touched) {
    refuseNameOfSelector(policy, selected)
    const other = policies.find(({ role, name }) => role !== policy.role && name === policy.name)
    if (other === undefined) continue
    const both = `the policies of roles ${policy.role} and ${other.role}`
    throw new AdminRefusal('nome_taken', `${both} would both be named ${policy.name}`)
  }
}
