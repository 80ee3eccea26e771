import { AdminRefusal } from '../admin-act.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { StoreReader } from '../../store/store.ts'

/** A carga whose next version is on its way changes only when that has come to its end. docs/protocol.md RLO-5. */
export async function refuseUnderRollout(
  { rollouts }: StoreReader,
  { id, name }: Pick<Cargo, 'id' | 'name'>,
): Promise<void> {
  const open = await rollouts.findOpen(id)
  if (open === undefined) return
  const { id: rollout, subject, wave, waves, state } = open
  throw new AdminRefusal(
    'rollout_open',
    `load ${name} is under rollout ${rollout} of version ${subject.version}, which is ${state} in wave ${wave + 1} of ${waves.length}`,
    { rollout },
  )
}
