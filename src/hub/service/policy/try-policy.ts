import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminTurn } from '../admin-act.ts'
import { type Trial, type TryLifetime, untested } from './try-lifetime.ts'

export type { Trial } from './try-lifetime.ts'

export interface TrialContext {
  /** Undefined without a running hub. */
  readonly tryLifetime?: TryLifetime
}

/**
 * Has the CA sign a certificate of the life that the request names; undefined when there is nothing to try, and for a rehearsal,
 * which asks nobody else to do anything. What the hub itself refuses, by `plan`, costs the CA nothing.
 */
export async function tryPolicy(
  turn: Pick<AdminTurn, 'rehearse'>,
  { cert_ttl: seconds, untested: isUntested }: AdminRequest<'setPolicy' | 'setSelectorPolicy'>,
  plan: () => Promise<unknown>,
  { tryLifetime }: TrialContext,
): Promise<Trial | undefined> {
  if (typeof seconds !== 'number' || isUntested === true || turn.rehearse !== undefined) {
    return undefined
  }
  await plan()
  if (tryLifetime === undefined) throw untested(seconds, 'no hub runs')
  return tryLifetime(seconds)
}
