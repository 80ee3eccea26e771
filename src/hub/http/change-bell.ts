// Rings where something changed that no request asked about: the store and the streams of agents ring, who listens looks by itself.

import type { AgentId } from '../../protocol/identifiers.ts'

export interface ChangeListener {
  /** The log has entries that it did not have. */
  readonly onEntries: () => void
  /** The agent holds its stream, or no longer does. */
  readonly onPresence: (agentId: AgentId) => void
}

export class ChangeBell {
  #listener: ChangeListener | undefined

  listen(listener: ChangeListener): void {
    this.#listener = listener
  }

  readonly ringEntries = (): void => this.#listener?.onEntries()

  readonly ringPresence = (agentId: AgentId): void => this.#listener?.onPresence(agentId)
}
