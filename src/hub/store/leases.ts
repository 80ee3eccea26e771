// What one hub of several does at a time, and does again elsewhere when that hub is gone. A hub that has its vault to itself does all of it.

import type { Store } from './store.ts'

/**
 * `jobs`: what a hub does besides answering: webhooks, revocations at the CA, the log’s tree, late certificates, archiving; `changes`: acts on
 * more entregas than one write takes.
 */
export type LeaseName = 'jobs' | 'changes'

export interface Leases {
  /** Writes there are refused with `lease_lost` unless this hub has the lease, whatever it believes. */
  storeFor(name: LeaseName): Store
  /** Does the work whenever this hub has the lease, with a signal that aborts when it has it no more; until the signal aborts. */
  whileHeld(
    name: LeaseName,
    work: (signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>
  /** Once, when this hub has the lease. Throws StoreError `lease_lost` when another one has it for too long. */
  during<T>(name: LeaseName, work: () => Promise<T>): Promise<T>
  has(name: LeaseName): boolean
}

/** Of a hub that shares nothing. */
export function ownLeases(store: Store): Leases {
  return {
    storeFor: () => store,
    whileHeld: (_name, work, signal) => work(signal),
    during: (_name, work) => work(),
    has: () => true,
  }
}
