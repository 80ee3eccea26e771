import { hash } from 'node:crypto'
import type { Agent } from '../../domain/agent.ts'
import { isFulfilled } from '../../domain/agent-requests.ts'
import type { Store } from '../../store/store.ts'
import type { GiveSelected } from '../cargo/give-selected.ts'
import { type ManifestReading, readManifest } from './list-manifest.ts'

/** What an agent may have to be told, as marks that change whenever there is something new. */
export interface AgentNews {
  /** Of the manifest that the agent would get now, and of the last time that an operator asked it to poll. */
  readonly manifest: string
  /** Of the rotation that was asked for and is not fulfilled yet. */
  readonly rotation: string | undefined
}

export type ReadAgentNews = (agent: Agent) => Promise<AgentNews>

/** From what is committed alone, so that a hub that was restarted tells neither less nor more. docs/protocol.md PSH-5. */
export function createReadAgentNews(
  { reader }: Pick<Store, 'reader'>,
  giveSelected: GiveSelected,
  reading: ManifestReading = {},
): ReadAgentNews {
  return async (agent) => {
    await giveSelected(agent)
    const { syncAt, rotation } = await reader.findAgentRequests(agent.id)
    const manifest = manifestTag(JSON.stringify(await readManifest(reader, agent, reading)))
    const isOpen = rotation !== null && !isFulfilled(rotation, agent)
    return {
      manifest: `${manifest}.${instantMark(syncAt)}`,
      rotation: isOpen ? instantMark(rotation.at) : undefined,
    }
  }
}

/** The entity tag of a manifest (RFC 9110), without its quotes. */
export function manifestTag(body: string): string {
  return hash('sha256', body, 'base64url')
}

function instantMark(instant: Date | null): string {
  return (instant?.getTime() ?? 0).toString(36)
}
