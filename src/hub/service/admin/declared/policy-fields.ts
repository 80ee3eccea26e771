// What politicas of roles and those of selectors declare alike: their bounds, and the cargas that they give.

import type { FleetDeclaration } from '../../../../protocol/admin/declared.ts'
import type { PolicyBounds } from '../../../domain/policy.ts'
import type { Fields, ObjectChange } from '../../../domain/plan-fleet.ts'
import type { StoreReader } from '../../../store/store.ts'
import {
  findAutomaticCargoes,
  parsePermittedSans,
  refuseOtherAutomatic,
  withAutomaticCargoes,
} from '../../policy/parse-policy.ts'
import { CargoNames } from './cargo-names.ts'
import { type DeclaredContext, present, sorted, valuesAfter } from './declarable.ts'

type DeclaredPolicy = Omit<
  NonNullable<FleetDeclaration['politicas_seletor']>[number],
  'nome' | 'where'
>

/** The fields of each of these. */
export async function declareBounds<Of extends DeclaredPolicy>(
  reader: StoreReader,
  politicas: readonly Of[],
  { cargas = [] }: FleetDeclaration,
  { hubNames }: DeclaredContext,
): Promise<readonly (readonly [Of, Fields])[]> {
  const names = await CargoNames.read(
    reader,
    politicas.flatMap((each) => each.cargas_automaticas ?? []),
  )
  const toBeMade = new Set(cargas.map(({ nome }) => nome))
  const nameOf = async (wanted: string): Promise<string> =>
    toBeMade.has(wanted) ? wanted : (names.nameOf((await names.find(wanted)).id) ?? wanted)
  return Promise.all(
    politicas.map(async (politica) => {
      const { token_ttl_max, cert_ttl, sans_permitidos, cargas_automaticas, reenroll } = politica
      const automatic = cargas_automaticas && (await Promise.all(cargas_automaticas.map(nameOf)))
      const fields = present({
        token_ttl_max,
        cert_ttl,
        sans_permitidos: sans_permitidos && sorted(parsePermittedSans(sans_permitidos, hubNames)),
        cargas_automaticas: automatic && sorted(automatic),
        reenroll,
      })
      return [politica, fields] as const
    }),
  )
}

export function presentBounds(policy: PolicyBounds, cargoNames: CargoNames) {
  const names = policy.automaticCargoes.map((id) => cargoNames.nameOf(id))
  return {
    token_ttl_max: policy.tokenTtlSecondsMax,
    cert_ttl: policy.certTtlSeconds,
    // To permit all names is another thing when somebody says so: POL-18.
    sans_permitidos: policy.areSansNamed ? sorted(policy.permittedSans) : null,
    cargas_automaticas: sorted(names.filter((name) => name !== undefined)),
  }
}

export function automaticOf(change: ObjectChange): readonly string[] | undefined {
  return valuesAfter(change)['cargas_automaticas'] as readonly string[] | undefined
}

/** The politica with the cargas that the change names, or else with those that it has. */
export async function withDeclaredCargoes<Of extends PolicyBounds>(
  reader: StoreReader,
  change: ObjectChange,
  policy: Of,
  cargoNames: CargoNames,
): Promise<Of> {
  const names = automaticOf(change)
  const cargoes =
    names === undefined
      ? await findAutomaticCargoes(reader, policy, undefined)
      : await Promise.all(names.map((each) => cargoNames.find(each)))
  refuseOtherAutomatic(cargoes)
  return withAutomaticCargoes(policy, cargoes)
}
