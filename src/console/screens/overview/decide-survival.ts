// For how long the hub may stay down: until the first host that renews on time loses something. Where none does, each host has ended or
// is about to, which is the opposite of a fleet in which nothing could end.

import type { AdminFleetSummary } from '../../../protocol/admin/fleet-summary.ts'

export type Survival =
  | NonNullable<AdminFleetSummary['survival_on_time']>
  /** No certificate is in use. */
  | 'nothing_ends'
  | 'none_on_time'

export function decideSurvival({
  certificados: { fresh, renewing, atrasado, expired },
  survival_on_time: survival,
}: AdminFleetSummary): Survival {
  if (survival !== null) return survival
  return fresh + renewing + atrasado + expired === 0 ? 'nothing_ends' : 'none_on_time'
}
