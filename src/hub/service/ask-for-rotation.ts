import type { AgentId } from '../../protocol/identifiers.ts'
import type { RequestedRotation } from '../domain/agent-requests.ts'
import type { StoreWriter } from '../store/store.ts'

/** The agent is to renew its identity, at once or when it is back. docs/protocol.md PSH-12. */
export async function askForRotation(
  writer: StoreWriter,
  id: AgentId,
  now: Date,
): Promise<RequestedRotation> {
  const newest = await writer.findNewestIdentity(id)
  const rotation = { at: now, afterSeq: newest?.seq ?? 0 }
  await writer.requestRotation(id, rotation)
  return rotation
}
