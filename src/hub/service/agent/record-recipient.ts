// The recipient to seal for, when an agent is to read a file: the agent tells it, and the hub keeps it until the agent tells another.

import type { Clock } from '../../../platform/clock.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import type { Recipient } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { fingerprintOf } from '../../../sealing/age-identity.ts'
import type { Agent } from '../../domain/agent.ts'
import { entryBytesOf, type EventOverdraft } from '../../domain/event-budget.ts'
import { findPresentedFault } from '../../domain/find-presented-fault.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { EventBudget } from './event-budget.ts'
import { recordHubAct } from '../hub-acts.ts'

export type RecipientOutcome =
  | { readonly ok: true; readonly recipient: Recipient }
  | { readonly ok: false; readonly refusal: WireErrorCode }
  | EventOverdraft

/** `presentedSha256` names the certificate that the caller showed. */
export type RecordRecipient = (
  agent: Agent,
  recipient: Recipient,
  presentedSha256: string,
) => Promise<RecipientOutcome>

/** Of the entry that a change is, with the longest hostname. */
const ENTRY_BYTES = entryBytesOf('x'.repeat(512))

/** docs/protocol.md BLB. */
export function createRecordRecipient(
  store: Store,
  clock: Clock,
  budget: EventBudget,
): RecordRecipient {
  return async (agent, recipient, presentedSha256) => {
    if ((await store.reader.findRecipient(agent.id)) === recipient) return { ok: true, recipient }
    return budget.spend(
      agent.id,
      ENTRY_BYTES,
      async (writer, charge): Promise<RecipientOutcome> => {
        // It may have been revoked since its request was authenticated. docs/protocol.md AUT-16.
        const current = await writer.findAgentById(agent.id)
        if (current?.revokedAt !== null) return { ok: false, refusal: 'agent_revoked' }
        const presented = await writer.findCertificate(presentedSha256)
        const fault = findPresentedFault(current, presented, { isForIdentity: true })
        if (fault !== undefined) return { ok: false, refusal: fault }
        const now = clock.now()
        const overdraft = await charge(now)
        if (overdraft !== undefined) return overdraft
        await changeRecipient(writer, now, { agent, recipient, actor: 'agent' })
        return { ok: true, recipient }
      },
    )
  }
}

export interface RecipientChange {
  readonly agent: Agent
  /** Undefined when the agent has no recipient any more. */
  readonly recipient: Recipient | undefined
  readonly actor: 'agent' | 'token'
}

/** No entry when it stays what it was. */
export async function changeRecipient(
  writer: StoreWriter,
  now: Date,
  { agent, recipient, actor }: RecipientChange,
): Promise<void> {
  const old = await writer.findRecipient(agent.id)
  if (old === recipient) return
  await writer.setRecipient(agent.id, recipient)
  await recordHubAct(writer, now, HubEventType.recipientChanged, {
    actor,
    agente_id: agent.id,
    hostname: agent.hostname,
    from: old === undefined ? null : fingerprintOf(old),
    to: recipient === undefined ? null : fingerprintOf(recipient),
  })
}
