import { AdminRefusal } from '../admin-act.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { StoreReader } from '../../store/store.ts'
import { sealedAgents, type SealedFile } from './sealed-file.ts'

/** Whether a file is sealed to exactly the agents that have an entrega; the caller meets these agents one after the other. */
export class SealedMatch {
  readonly #unmet: Set<string>
  readonly #missing: string[] = []

  private constructor(hostnames: readonly string[]) {
    this.#unmet = new Set(hostnames)
  }

  static async read(reader: StoreReader, file: SealedFile): Promise<SealedMatch> {
    const hostnames: string[] = []
    for await (const agents of sealedAgents(reader, file)) {
      hostnames.push(...agents.map(({ hostname }) => hostname))
    }
    return new SealedMatch(hostnames)
  }

  /** An agent that has an entrega. */
  meet(hostname: string): void {
    if (!this.#unmet.delete(hostname)) this.#missing.push(hostname)
  }

  /** Throws an AdminRefusal when not all were met, or when an agent was met that cannot read the file. */
  refuseDifferences({ name }: Cargo): void {
    const unwanted = [...this.#unmet]
    if (this.#missing.length + unwanted.length === 0) return
    const differences = [
      ...(this.#missing.length === 0 ? [] : [`not sealed for ${this.#missing.join(', ')}`]),
      ...(unwanted.length === 0 ? [] : [`sealed for ${unwanted.join(', ')}, without a delivery`]),
    ]
    throw new AdminRefusal(
      'recipients_incomplete',
      `the file is not sealed for exactly the agents of load ${name}: ${differences.join('; ')}`,
    )
  }
}
