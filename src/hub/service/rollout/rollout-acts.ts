// What rollouts of one kind do to hosts: all that differs between them. When it is done, and to how many, is the same for each kind.

import type { Agent } from '../../domain/agent.ts'
import type { Rollout } from '../../domain/rollout.ts'
import type { AgentId, DeliveryId } from '../../../protocol/identifiers.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'

/** One that is not revoked. */
export interface WaveHost {
  readonly agent: Pick<Agent, 'id' | 'hostname'>
  /** It was given the version, or asked, already. */
  readonly isReached: boolean
  /** In the order of the rollout. */
  readonly place: number
  /** What it has of the carga; null where there is none. */
  readonly delivery: DeliveryId | null
}

export interface HostSlice {
  readonly hosts: readonly WaveHost[]
  /** Null at the end of the walk. */
  readonly next: string | null
}

export interface GivenSlice {
  readonly rollout: Rollout
  /** Who is to be told. */
  readonly agents: readonly AgentId[]
}

export type LastSlice = GivenSlice & { readonly isComplete: boolean }

/** Each write is one commit of a few hundred hosts at the most. */
export interface RolloutActs<Kind extends Rollout> {
  /** The next hosts behind the cursor. */
  readHosts(reader: StoreReader, rollout: Kind, after: string, now: Date): Promise<HostSlice>
  /** To hosts of the wave. */
  give(writer: StoreWriter, rollout: Kind, hosts: readonly WaveHost[], now: Date): Promise<void>
  /** What there is to do behind the last wave. */
  finish(writer: StoreWriter, rollout: Kind, now: Date): Promise<LastSlice>
  takeBack(writer: StoreWriter, rollout: Kind, now: Date): Promise<LastSlice>
}
