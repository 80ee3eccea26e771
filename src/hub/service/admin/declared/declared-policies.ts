import { AdminRefusal } from '../../admin-act.ts'
import type { Policy, SelectorPolicy } from '../../../domain/policy.ts'
import type { ObjectChange, PresentObject } from '../../../domain/plan-fleet.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { AdminRequest } from '../../../../protocol/admin/operations.ts'
import {
  changePolicy,
  emptyPolicy,
  findAutomaticCargoes,
  refuseOtherAutomatic,
  withAutomaticCargoes,
} from '../../policy/parse-policy.ts'
import { refuseNameOfSelector } from '../../policy/refuse-taken-name.ts'
import { CargoNames } from './cargo-names.ts'
import {
  changesOf,
  type Declarable,
  type DeclaredContext,
  present,
  sorted,
  valuesAfter,
} from './declarable.ts'
import { plannedCargoes } from './declared-cargoes.ts'

const KIND = 'politica'

/** A politica is named by its role. */
export const declaredPolicies: Declarable = {
  kind: KIND,
  whenUndeclared: 'remove object',
  declare: async (reader, { politicas = [], cargas = [] }, { hubNames }) => {
    const names = await CargoNames.read(
      reader,
      politicas.flatMap((each) => each.cargas_automaticas ?? []),
    )
    const toBeMade = new Set(cargas.map(({ nome }) => nome))
    return Promise.all(
      politicas.map(async (politica) => {
        const { role, nome, token_ttl_max, cert_ttl, sans_permitidos, reenroll } = politica
        const { permittedSans } = changePolicy(emptyPolicy(role), politica, hubNames)
        const cargas_automaticas = politica.cargas_automaticas?.map(async (wanted) =>
          toBeMade.has(wanted) ? wanted : (names.nameOf((await names.find(wanted)).id) ?? wanted),
        )
        const fields = present({
          nome,
          token_ttl_max,
          cert_ttl,
          sans_permitidos: sans_permitidos && sorted(permittedSans),
          cargas_automaticas: cargas_automaticas && sorted(await Promise.all(cargas_automaticas)),
          reenroll,
        })
        return { kind: KIND, name: role, fields }
      }),
    )
  },
  read: async (reader, { names, ids }) => {
    const wanted = new Set([...names, ...ids])
    const policies = (await reader.listPolicies()).filter(({ role }) => wanted.has(role))
    const cargoNames = await CargoNames.read(
      reader,
      policies.flatMap(({ automaticCargoes }) => automaticCargoes),
    )
    return policies.map((policy) => toPresent(policy, cargoNames))
  },
  check: async (reader, changes, context) => {
    const touched = new Set(changesOf(changes, KIND, 'create', 'update').map(({ name }) => name))
    const policies = await policiesAfter(reader, changes, context)
    const selected = await reader.listSelectorPolicies()
    for (const policy of policies.filter(({ role }) => touched.has(role))) {
      refuseTakenName(policy, policies, selected)
    }
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
  const names = policy.automaticCargoes.map((id) => cargoNames.nameOf(id))
  return {
    kind: KIND,
    id: policy.role,
    name: policy.role,
    fields: {
      nome: policy.name,
      token_ttl_max: policy.tokenTtlSecondsMax,
      cert_ttl: policy.certTtlSeconds,
      // To permit all names is another thing when somebody says so: POL-18.
      sans_permitidos: policy.areSansNamed ? sorted(policy.permittedSans) : null,
      cargas_automaticas: sorted(names.filter((name) => name !== undefined)),
      reenroll: policy.mayOperatorsReenroll,
    },
  }
}

/** All politicas as they would be. Throws what one of them cannot be. */
export async function policiesAfter(
  reader: StoreReader,
  changes: readonly ObjectChange[],
  { hubNames, now }: DeclaredContext,
): Promise<readonly Policy[]> {
  const policies = new Map((await reader.listPolicies()).map((policy) => [policy.role, policy]))
  for (const { name } of changesOf(changes, KIND, 'remove')) policies.delete(name)
  const touched = changesOf(changes, KIND, 'create', 'update')
  const wanted = touched.flatMap((change) => automaticOf(change) ?? [])
  const cargoNames = await CargoNames.read(reader, wanted, plannedCargoes(changes, now))
  for (const change of touched) {
    const { name: role } = change
    const old = policies.get(role) ?? emptyPolicy(role)
    const request = { ...valuesAfter(change), role } as AdminRequest<'setPolicy'>
    const policy = changePolicy(old, request, hubNames)
    const names = automaticOf(change)
    const cargoes =
      names === undefined
        ? await findAutomaticCargoes(reader, old, undefined)
        : await Promise.all(names.map((each) => cargoNames.find(each)))
    refuseOtherAutomatic(cargoes)
    policies.set(role, withAutomaticCargoes(policy, cargoes))
  }
  return [...policies.values()]
}

function automaticOf(change: ObjectChange): readonly string[] | undefined {
  return valuesAfter(change)['cargas_automaticas'] as readonly string[] | undefined
}

function refuseTakenName(
  policy: Policy,
  policies: readonly Policy[],
  selected: readonly SelectorPolicy[],
): void {
  refuseNameOfSelector(policy, selected)
  const other = policies.find(({ role, name }) => role !== policy.role && name === policy.name)
  if (other === undefined) return
  throw new AdminRefusal(
    'nome_taken',
    `the policies of roles ${policy.role} and ${other.role} would both be named ${policy.name}`,
  )
}
