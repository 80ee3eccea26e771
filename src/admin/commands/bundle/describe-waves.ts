import type { AdminUpdatedBundle } from '../../../protocol/admin/views.ts'

/** After what the set is. */
export function describeWaves({ rollout }: Pick<AdminUpdatedBundle, 'rollout'>): string {
  // A hub up to 0.4.0 says nothing of it.
  const id = rollout ?? null
  return id === null
    ? ''
    : `\nagents are offered it in waves, by rollout ${id}: svc rollout show roots says how far it is`
}
