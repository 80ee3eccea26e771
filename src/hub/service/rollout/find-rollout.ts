import { invariant } from '../../../platform/errors.ts'
import { ROLLOUT_KINDS } from '../../../protocol/admin/rollouts.ts'
import type { CargoId, RolloutId } from '../../../protocol/identifiers.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Freeze } from '../../domain/freeze.ts'
import { isInForce } from '../../domain/freeze.ts'
import type { LoadRollout, Rollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'

/**
 * By its id, by the name or the id of the carga of which it is the open one, or by its kind where that has no carga. Throws an AdminRefusal when
 * there is none.
 */
export async function findRollout(reader: StoreReader, wanted: string): Promise<Rollout> {
  const rollout =
    (await reader.rollouts.find(wanted as RolloutId)) ??
    (await findOf(reader, wanted)) ??
    (await findOfKind(reader, wanted))
  if (rollout !== undefined) return rollout
  throw new AdminRefusal(
    'rollout_not_found',
    `no rollout ${wanted}, and no open one of a load ${wanted}`,
  )
}

/** Cargas are never gone, at the most removed. */
export async function findItsCargo(reader: StoreReader, { subject }: LoadRollout): Promise<Cargo> {
  const cargo = await reader.findCargo(subject.cargoId)
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

async function findOfKind(reader: StoreReader, wanted: string): Promise<Rollout | undefined> {
  const kind = ROLLOUT_KINDS.find((each) => each === wanted)
  return kind === undefined || kind === 'load' ? undefined : reader.rollouts.findOpenOf(kind)
}

const CARGAS_OF_A_NAME_MAX = 5
