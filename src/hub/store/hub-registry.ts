// The port to which hubs share a vault, and which of them does what only one may do at a time. A hub that runs says so by beats; what it has it
// keeps by them.

import type { LeaseTerm } from './journal.ts'

/** One process of a hub. */
export interface HubInstance {
  readonly hubId: string
  /** Another one for each start. */
  readonly instanceId: string
}

export interface LeaseWish {
  readonly name: string
  readonly seconds: number
}

export interface Beat extends HubInstance {
  /** The hub's own clock. */
  readonly now: Date
  /** The last record that this hub has run. */
  readonly position: number
  /** What it has, and wants to keep, or wants to have. */
  readonly wishes: readonly LeaseWish[]
}

export interface TakenBeat {
  /** What the hub has of its wishes. */
  readonly leases: readonly LeaseTerm[]
  /** How many hubs run, with this one. */
  readonly running: number
}

export interface RegisteredHub {
  readonly id: string
  /** Sealed by store/hub-seal.ts. */
  readonly sealed: Buffer
  readonly position: number
  /** What its clock is ahead of the database's. */
  readonly clockAheadMs: number
  readonly lastBeatAt: Date
  /** By the database's clock. */
  readonly silentMs: number
  /** What it has now, of what all hubs have in turn. */
  readonly leases: readonly string[]
  /** `stopped`: it said so itself; `silent`: its lease has ended. */
  readonly state: 'running' | 'silent' | 'stopped'
}

export interface HubRegistry {
  /** Says who this hub is; of no avail before a beat. Throws StoreError like all that follows. */
  enter(hub: HubInstance, sealed: Buffer): Promise<void>
  beat(beat: Beat): Promise<TakenBeat>
  release(instance: HubInstance, names: readonly string[]): Promise<void>
  /** And the number of the journal's last record. */
  list(): Promise<{ readonly hubs: readonly RegisteredHub[]; readonly end: number }>
  /** What it does from then on is refused. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}

/** The lease that a hub has for as long as it runs. */
export function standingName(hubId: string): string {
  return `${STANDING}${hubId}`
}

export const STANDING = 'hub '
