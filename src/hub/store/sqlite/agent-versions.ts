import type { AgentId } from '../../../protocol/identifiers.ts'

/** Beyond so many everything counts as changed: what is known of a fleet then is read again once. */
const AGENTS_MAX = 10_000

/**
 * Which commit changed what is known of an agent last. In a large fleet some certificate is renewed several times a second,
 * and says nothing about anybody else.
 */
export class AgentVersions {
  #version = 0
  /** The last commit that was about all agents. */
  #ofAll = 0
  readonly #ofAgent = new Map<AgentId, number>()

  /** Commits that changed anything. */
  get version(): number {
    return this.#version
  }

  /** The last one that may have changed what is known of this agent. */
  versionOf(id: AgentId): number {
    return Math.max(this.#ofAll, this.#ofAgent.get(id) ?? 0)
  }

  noteCommit(changed: ReadonlySet<AgentId> | 'all agents'): void {
    this.#version += 1
    if (changed === 'all agents' || this.#ofAgent.size + changed.size > AGENTS_MAX) {
      this.#ofAll = this.#version
      this.#ofAgent.clear()
    } else for (const id of changed) this.#ofAgent.set(id, this.#version)
  }
}
