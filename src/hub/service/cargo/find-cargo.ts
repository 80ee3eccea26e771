import { AdminRefusal } from '../admin-act.ts'
import type { CargoId } from '../../../protocol/identifiers.ts'
import { DeliveryKind } from '../../../protocol/words.ts'
import type { Cargo, CargoContent } from '../../domain/cargo.ts'
import type { StoreReader } from '../../store/store.ts'

/** So many candidates are named when a name is ambiguous. */
export const CANDIDATES_MAX = 5

/**
 * By id, or by name while one carga has it. Throws an AdminRefusal when there is no such carga, or it was removed, or when
 * there are several, which it names. docs/protocol.md API-62.
 */
export async function findCargo(reader: StoreReader, wanted: string): Promise<Cargo> {
  const cargo = await reader.findCargo(wanted as CargoId)
  if (cargo !== undefined && cargo.removedAt === null) return cargo
  const named = cargo === undefined ? await reader.listCargoesNamed(wanted, CANDIDATES_MAX + 1) : []
  const [first, second] = named
  if (first === undefined) throw new AdminRefusal('cargo_not_found', `no load ${wanted}`)
  if (second === undefined) return first
  const names = named.slice(0, CANDIDATES_MAX).map(({ kind, id }) => `${kind} ${id}`)
  const more = named.length > CANDIDATES_MAX ? ', and more' : ''
  throw new AdminRefusal(
    'cargo_ambiguous',
    `more than one load is named ${wanted}: ${names.join(', ')}${more}`,
  )
}

/** Throws an AdminRefusal when the carga holds no sealed file. */
export async function findSealedCargo(
  reader: StoreReader,
  id: string,
): Promise<{ readonly cargo: Cargo; readonly content: CargoContent }> {
  const cargo = await findCargo(reader, id)
  const content = await reader.findContent(cargo.id)
  if (cargo.kind === DeliveryKind.sealed && content !== undefined) return { cargo, content }
  throw new AdminRefusal('cargo_not_sealed', `load ${cargo.name} is of type ${cargo.kind}`)
}
