import { Check } from 'typebox/value'
import { BundleAdoptedPayload, BundleRefusedPayload } from '../../../protocol/schemas.ts'
import type { EventRequestBody } from '../../../protocol/schemas.ts'
import { EventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { StoreWriter } from '../../store/store.ts'

/** Keeps what the event says of the roots that its sender trusts; any other event, or payload, says nothing. */
export async function recordAgentTrust(
  writer: StoreWriter,
  { id: agentId }: Agent,
  { tipo_evento: type, payload }: EventRequestBody,
  now: Date,
): Promise<void> {
  const base = { agentId, reportedAt: now }
  if (type === EventType.bundleAdopted && Check(BundleAdoptedPayload, payload)) {
    const { numero: number, fingerprints, pinned = null } = payload
    await writer.setAgentTrust({ ...base, number, fingerprints, pinned, error: null })
  }
  if (type === EventType.bundleRefused && Check(BundleRefusedPayload, payload)) {
    const { current: number, fingerprints, pinned = null, erro: error } = payload
    await writer.setAgentTrust({ ...base, number, fingerprints, pinned, error })
  }
}
