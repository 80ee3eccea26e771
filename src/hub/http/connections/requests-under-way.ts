import type { ServerResponse } from 'node:http'
import { KeyCounts } from './key-counts.ts'

/** Of one holder. What waits for a client that reads nothing is megabytes for each. */
const MAX = 32

/** How many requests of each holder are under way: until all of the answer has gone, or the caller has. docs/protocol.md LIM-82. */
export class RequestsUnderWay {
  readonly #counts = new KeyCounts()

  /** False where the holder has as many as it may. */
  enter(holder: string, response: ServerResponse): boolean {
    if (this.#counts.of(holder) >= MAX) return false
    // Of a caller that went while the hub looked up who it is there is no end to wait for.
    if (response.closed) return true
    this.#counts.add(holder)
    response.once('close', () => this.#counts.remove(holder))
    return true
  }
}
