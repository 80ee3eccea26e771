import { type Bytes, join, sha256 } from './bytes.ts'
import { ExportFault } from './export-fault.ts'

/** The tree of RFC 6962, 2.1, as the hashes of its full subtrees, the largest first. */
export class WebTree {
  size: number
  readonly #peaks: Bytes[]

  /** One that goes on from the peaks of an earlier one. */
  constructor(size = 0, peaks: readonly Bytes[] = []) {
    this.size = size
    this.#peaks = [...peaks]
  }

  get peaks(): readonly Bytes[] {
    return this.#peaks
  }

  add(leaf: Bytes): Promise<void> {
    return this.#addFull(leaf, 1)
  }

  /** With the full subtrees that are between this tree and the one of `size` leaves. */
  async complete(size: number, hashes: readonly Bytes[]): Promise<void> {
    let taken = 0
    for (const hash of hashes) {
      let width = 1
      while (this.size % (2 * width) === 0 && this.size + 2 * width <= size) width *= 2
      if (this.size + width > size) break
      await this.#addFull(hash, width)
      taken += 1
    }
    if (this.size !== size || taken < hashes.length) {
      throw new ExportFault('the hashes of the other entries are not as many as there are')
    }
  }

  async root(): Promise<Bytes> {
    let right: Bytes | undefined
    for (const peak of this.#peaks.toReversed()) {
      right = right === undefined ? peak : await hashChildren(peak, right)
    }
    return right ?? sha256(new Uint8Array())
  }

  async #addFull(hash: Bytes, width: number): Promise<void> {
    this.size += width
    let node = hash
    for (let rest = this.size / width; rest % 2 === 0; rest /= 2) {
      const left = this.#peaks.pop()
      if (left === undefined) throw new Error('a tree has a peak for each one in its size')
      node = await hashChildren(left, node)
    }
    this.#peaks.push(node)
  }
}

function hashChildren(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(join(Uint8Array.of(1), left, right))
}
