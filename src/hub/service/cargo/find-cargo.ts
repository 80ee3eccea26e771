import { AdminRefusal } from '../admin-act.ts'
import type { CargoId } from '../../../protocol/identifiers.ts'
import { DeliveryKind } from '../../../protocol/words.ts'
import type { Cargo, CargoContent } from '../../domain/cargo.ts'
import type { StoreReader } from '../../store/store.ts'

/** Throws an AdminRefusal when there is no such carga, or it was removed. */
export async function findCargo(reader: StoreReader, id: string): Promise<Cargo> {
  const cargo = await reader.findCargo(id as CargoId)
  if (cargo !== undefined && cargo.removedAt === null) return cargo
  throw new AdminRefusal('cargo_not_found', `no carga ${id}`)
}

/** Throws an AdminRefusal when the carga holds no sealed file. */
export async function findSealedCargo(
  reader: StoreReader,
  id: string,
): Promise<{ readonly cargo: Cargo; readonly content: CargoContent }> {
  const cargo = await findCargo(reader, id)
  const content = await reader.findContent(cargo.id)
  if (cargo.kind === DeliveryKind.sealed && content !== undefined) return { cargo, content }
  throw new AdminRefusal('cargo_not_sealed', `carga ${cargo.name} is of tipo ${cargo.kind}`)
}
