import { invariant } from '../../../platform/errors.ts'
import type { CargoId, RolloutId } from '../../../protocol/identifiers.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Freeze } from '../../domain/freeze.ts'
import { isInForce } from '../../domain/freeze.ts'
import type { Rollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'

/** By its id, or by the name or the id of the carga of which it is the open one. Throws an AdminRefusal when there is none. */
export async function findRollout(
  reader: StoreReader,
  wanted: string,
): Promise<{ readonly rollout: Rollout; readonly cargo: Cargo }> {
  const rollout =
    (await reader.rollouts.find(wanted as RolloutId)) ?? (await findOf(reader, wanted))
  if (rollout === undefined) {
    throw new AdminRefusal(
      'rollout_not_found',
      `no rollout ${wanted}, and none of a load ${wanted}`,
    )
  }
  return { rollout, cargo: await findItsCargo(reader, rollout) }
}

/** Cargas are never gone, at the most removed. */
export async function findItsCargo(reader: StoreReader, { cargoId }: Rollout): Promise<Cargo> {
  const cargo = await reader.findCargo(cargoId)
  invariant(cargo !== undefined, 'the carga of a rollout is there')
  return cargo
}

export async function findFreezeInForce(
  reader: StoreReader,
  now: Date,
): Promise<Freeze | undefined> {
  const freeze = await reader.rollouts.findFreeze()
  return freeze !== undefined && isInForce(freeze, now) ? freeze : undefined
}

async function findOf(reader: StoreReader, wanted: string): Promise<Rollout | undefined> {
  const byId = await reader.rollouts.findOpen(wanted as CargoId)
  if (byId !== undefined) return byId
  for (const { id } of await reader.listCargoesNamed(wanted, CARGAS_OF_A_NAME_MAX)) {
    const open = await reader.rollouts.findOpen(id)
    if (open !== undefined) return open
  }
  return undefined
}

const CARGAS_OF_A_NAME_MAX = 5
