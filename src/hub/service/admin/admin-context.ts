import type { Clock } from '../../../platform/clock.ts'
import type { AdminOperationName } from '../../../protocol/admin/operations.ts'
import type { AdminHubHealth } from '../../../protocol/admin/views.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'
import type { AdminAsker, UseCase } from '../admin-act.ts'
import type { HubsControl } from './manage-hubs.ts'
import type { ExaminedProcess } from './show-examination.ts'
import type { SharedAnswers } from './summary/shared-answers.ts'
import type { HubSamples } from '../../domain/hub-samples.ts'
import type { AgentAddresses } from './agent-addresses.ts'
import type { DoubledIdentity, LiveSighting } from '../../domain/agent-sighting.ts'
import type { LogArchiver } from '../../domain/log-archive.ts'
import type { AgentNotifier } from '../../domain/agent-notifier.ts'
import type { FleetChanges } from '../cargo/fleet-changes.ts'
import type { TryLifetime } from '../policy/try-lifetime.ts'
import type { AdminRoots } from '../roots/bundle-operations.ts'
import type { AgentRefusals } from '../agent-refusals.ts'
import type { WaitingReasons } from '../waiting-reasons.ts'
import type { Confirmations } from './passkeys/confirmations.ts'
import type { WebhookControl } from '../webhooks/webhook-control.ts'

/** What the use cases of admin operations work with. */
export interface AdminHub {
  readonly store: Store
  readonly clock: Clock
  /** Where agents reach this hub, for the command that `token create` prints. */
  readonly addresses: AgentAddresses
  /** The admin port, as browsers reach it; of a running hub that has one. */
  readonly findConsoleUrl?: () => string | undefined
  /** Of a running hub whose sessions confirm acts by passkeys. */
  readonly confirmations?: Confirmations | undefined
  /** The hub’s own names, which no agent may have. */
  readonly hubNames: readonly string[]
  /** The most that a sealed file may hold. */
  readonly contentBytesMax: number
  /** The renewal threshold of the agents, which says when an agent is late. */
  readonly renewalThresholdMs: number
  /** Knows the polls that are not written yet; of a running hub. */
  readonly polls?: { lastPollAt(agentId: AgentId): Date | undefined }
  /** Knows why deliveries wait; of a running hub. */
  readonly waiting?: Pick<WaitingReasons, 'find' | 'group'>
  /** What only a hub that runs knows of itself. */
  readonly live?: LiveHub
  /** Knows what it refused to agents; of a running hub, and of no other one. */
  readonly refusals?: Pick<AgentRefusals, 'list' | 'findRequest'>
  /** What a running hub sees of its hosts. */
  readonly sightings?: {
    find(agentId: AgentId): LiveSighting | undefined
    findDoubled(agentId: AgentId): DoubledIdentity | undefined
  }
  /** Of a running hub. */
  readonly roots?: AdminRoots
  /** Ends a revoked agent’s connections, and has its certificates revoked at the CA; of a running hub. */
  readonly cutOff?: (agentId: AgentId) => void
  /** Of a running hub, whose callers all wait for the same turns. */
  readonly changes?: FleetChanges
  /** The agents' streams; only a running hub has them. */
  readonly notifier?: AgentNotifier
  /** How it is, and since when; of a running hub. */
  readonly health?: () => Promise<AdminHubHealth>
  /** Disk, CA, certificates and limits, as the hub's process sees them; of a running hub. */
  readonly examineProcess?: () => Promise<ExaminedProcess>
  /** Those that share the vault; of one of them that runs. */
  readonly hubs?: HubsControl
  /** Opens the waves of rollouts; of a running hub. */
  readonly rollouts?: { wake(): void }
  /** Takes old entries out of the vault. */
  readonly archiver?: LogArchiver
  /** Undefined without a running hub. */
  readonly webhooks?: WebhookControl
  /** Asks the CA; of a running hub. */
  readonly tryLifetime?: TryLifetime
}

export interface LiveHub {
  /** Of its own certificate; undefined while it waits for its first one. */
  certificateEnd(): Date | undefined
  /** Of the calls to the CA since the start. */
  lastCaFailure(): { readonly outcome: string; readonly at: Date } | undefined
  countStreams(): number
  /** Of the last minutes. */
  readSamples(minutes: number): HubSamples
}

export interface AdminContext extends AdminHub {
  readonly changes: FleetChanges
  /** What all callers ask for alike. */
  readonly shared: SharedAnswers
}

/** Who asks for an admin operation, and how. */
export interface AdminCaller extends Omit<AdminAsker, 'only'> {
  /** The selector of the hosts that it is for; null for all. */
  readonly only?: string | null
  /** With it a create is done once, however often it is asked for. */
  readonly idempotency?: IdempotencySecret | undefined
}

/** What the caller sent and the hub keeps nowhere. */
export interface IdempotencySecret {
  /** The admin token; empty on the socket. */
  readonly credential: string
  readonly key: string
}

/** One for each entry of ADMIN_OPERATIONS. */
export type UseCases = { readonly [Name in AdminOperationName]: UseCase<Name, AdminContext> }

/** The request was checked against the schema of its operation. */
export type PerformOperation = (
  name: AdminOperationName,
  request: object,
  caller: AdminCaller,
) => Promise<object>
