// What goes to the hosts in waves: the next version of a carga, a set of roots, a newer agent, or the wish that they renew their identities. Until the last wave is done the
// carga itself stays at the version before, which is the last good one. docs/protocol.md RLO.

import type { CargoId, RolloutId } from '../../protocol/identifiers.ts'
import type { Share } from '../../protocol/rollout-share.ts'
import type { Actor } from './actor.ts'

export const OPEN_ROLLOUT_STATES = ['running', 'paused', 'frozen', 'undoing'] as const
export type RolloutState = (typeof OPEN_ROLLOUT_STATES)[number] | 'undone' | 'done'

export type RolloutKind = RolloutSubject['kind']

/** The next version of a carga, for the hosts that have it. */
export interface LoadSubject {
  readonly kind: 'load'
  readonly cargoId: CargoId
  /** What the hosts of its waves get. */
  readonly version: number
  readonly sans: readonly string[]
}

/** The hosts of its waves are asked to renew their identities. docs/protocol.md RLO-24. */
export interface RotationSubject {
  readonly kind: 'rotation'
  /** Which hosts, as a selector; null for all. */
  readonly where: string | null
}

/** A set of roots that is in force at the hub, for the hosts. docs/protocol.md RLO-29. */
export interface RootsSubject {
  readonly kind: 'roots'
  readonly epoch: number
  readonly number: number
  /** The number of the set, of the same época, that hosts are offered until their wave. */
  readonly base: number
}

/** The hosts of its waves are told that there is a newer version of their agent. docs/protocol.md RLO-36. */
export interface UpdateSubject {
  readonly kind: 'update'
  /** Such as `0.5.0`. */
  readonly version: string
  /** Which hosts, as a selector; null for all. */
  readonly where: string | null
}

export type RolloutSubject = LoadSubject | RotationSubject | RootsSubject | UpdateSubject

export interface Rollout {
  readonly id: RolloutId
  readonly subject: RolloutSubject
  /** How many hosts have the version once the wave is open, all waves before it included. */
  readonly waves: readonly Share[]
  readonly soakMs: number
  /** A host that is not done so long after its wave is open counts as one that failed. */
  readonly lateMs: number
  readonly maxFailed: Share
  readonly startedBy: Actor
  readonly createdAt: Date
  readonly state: RolloutState
  /** Who paused, resumed or undid it last; null while nobody did. */
  readonly changedBy: Actor | null
  /** Why it is frozen. */
  readonly reason: string | null
  /** The wave that is open, or being opened; from 0. */
  readonly wave: number
  readonly openedAt: Date
  /** How many hosts the wave is to reach. */
  readonly wanted: number
  /** The hosts of the wave have a place up to this one in their order; null while that is not counted. docs/protocol.md RLO-4. */
  readonly threshold: number | null
  /** How many hosts were given the version. */
  readonly given: number
  /** All of the wave's hosts were. */
  readonly isGiven: boolean
  /** Where the walk through the hosts has got; empty at its beginning. */
  readonly cursor: string
  /** For how long a hub has watched the wave since all its hosts were given the version. */
  readonly openMs: number
  /** For how long of that every host was done. */
  readonly soakedMs: number
  /** How many failed hosts an operator accepted by a resume. */
  readonly tolerated: number
  readonly endedAt: Date | null
}

export type LoadRollout = Rollout & { readonly subject: LoadSubject }
export type RotationRollout = Rollout & { readonly subject: RotationSubject }
export type RootsRollout = Rollout & { readonly subject: RootsSubject }
export type UpdateRollout = Rollout & { readonly subject: UpdateSubject }

export function isRotationRollout(rollout: Rollout): rollout is RotationRollout {
  return rollout.subject.kind === 'rotation'
}

export function isRootsRollout(rollout: Rollout): rollout is RootsRollout {
  return rollout.subject.kind === 'roots'
}

export function isUpdateRollout(rollout: Rollout): rollout is UpdateRollout {
  return rollout.subject.kind === 'update'
}

export function isLoadRollout(rollout: Rollout): rollout is LoadRollout {
  return rollout.subject.kind === 'load'
}

/** What somebody asked for. */
export type RolloutPlan = Pick<
  Rollout,
  'id' | 'subject' | 'waves' | 'soakMs' | 'lateMs' | 'maxFailed' | 'startedBy' | 'createdAt'
>

/** Before its first wave is counted. */
export function newRollout<Subject extends RolloutSubject>(
  plan: RolloutPlan & { readonly subject: Subject },
): Rollout & { readonly subject: Subject } {
  return {
    ...plan,
    state: 'running',
    changedBy: null,
    reason: null,
    wave: 0,
    openedAt: plan.createdAt,
    wanted: 0,
    threshold: null,
    given: 0,
    isGiven: false,
    cursor: '',
    openMs: 0,
    soakedMs: 0,
    tolerated: 0,
    endedAt: null,
  }
}

/** Hosts that were given the version, or asked, and have not been removed or revoked since, each in one of these. */
export interface RolloutCounts {
  /** Has yet to install it, or to use another identity. */
  readonly pending: number
  /** Of `pending`: nothing was heard of it since its wave was opened. */
  readonly silent: number
  /** Installed it; a target of it has yet to say that it is in place and served. */
  readonly unprobed: number
  readonly done: number
  /** Could not install it, or put a target of it back. */
  readonly failed: number
  /** Does not follow announced updates, or has a newer version: it is in no other figure, and nobody waits for it. */
  readonly declined: number
}

/** It can still go on, or be undone. */
export function isRolloutOpen({ endedAt }: Pick<Rollout, 'endedAt'>): boolean {
  return endedAt === null
}

export function isLastWave({ wave, waves }: Pick<Rollout, 'wave' | 'waves'>): boolean {
  return wave >= waves.length - 1
}
