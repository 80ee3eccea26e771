// What was read from files, kept for as long as the files stay as they were: each round looks at every delivery, and
// parsing keys and certificates that nobody has touched is most of what that would cost.

import { stat } from 'node:fs/promises'
import type { Clock } from '../../platform/clock.ts'
import { errnoCode } from '../../platform/errors.ts'

interface Known<Value> {
  readonly signature: string
  readonly value: Value
}

/** A file that was changed so recently could be changed again without its times showing it. */
const SETTLED_MS = 2000

export class KnownFiles<Value> {
  readonly #clock: Clock
  readonly #known = new Map<string, Known<Value>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The value that these files gave the last time, if nothing about them is different; else they are read. */
  async read(
    key: string,
    paths: readonly string[],
    readAnew: () => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    // Taken before the files are read: a change meanwhile shows the next time.
    const signature = await this.#signatureOf(paths)
    const known = this.#known.get(key)
    if (known !== undefined && known.signature === signature) return known.value
    this.#known.delete(key)
    const value = await readAnew()
    if (signature !== undefined && value !== undefined) this.#known.set(key, { signature, value })
    return value
  }

  keepOnly(isWanted: (key: string) => boolean): void {
    for (const key of this.#known.keys()) if (!isWanted(key)) this.#known.delete(key)
  }

  /** Undefined when a change could go unnoticed. */
  async #signatureOf(paths: readonly string[]): Promise<string | undefined> {
    const parts = await Promise.all(paths.map((path) => this.#describe(path)))
    return parts.includes(undefined) ? undefined : parts.join('\n')
  }

  async #describe(path: string): Promise<string | undefined> {
    try {
      const { dev, ino, size, mode, uid, gid, mtimeNs, ctimeNs, ctimeMs } = await stat(path, {
        bigint: true,
      })
      const ageMs = Math.abs(this.#clock.now().getTime() - Number(ctimeMs))
      if (ageMs < SETTLED_MS) return undefined
      return [path, dev, ino, size, mode, uid, gid, mtimeNs, ctimeNs].join(' ')
    } catch (error) {
      return errnoCode(error) === 'ENOENT' ? `${path} is not there` : undefined
    }
  }
}
