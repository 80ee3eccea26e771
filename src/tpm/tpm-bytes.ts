// The bytes of a TPM's structures: big-endian numbers, and buffers that say their size first (TPM2B). TPM 2.0 Library, part 2.

/** Reads what others sent; every read past the end makes it broken, for good. */
export class TpmReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0
  #isBroken = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  uint8(): number {
    const at = this.#take(1)
    return at === undefined ? 0 : this.#view.getUint8(at)
  }

  uint16(): number {
    const at = this.#take(2)
    return at === undefined ? 0 : this.#view.getUint16(at)
  }

  uint32(): number {
    const at = this.#take(4)
    return at === undefined ? 0 : this.#view.getUint32(at)
  }

  bytes(length: number): Buffer {
    const at = this.#take(length)
    return at === undefined ? Buffer.alloc(0) : Buffer.from(this.#bytes.subarray(at, at + length))
  }

  /** A TPM2B. */
  sized(): Buffer {
    return this.bytes(this.uint16())
  }

  /** Whether all that was read was there, and nothing comes after it. */
  get isDone(): boolean {
    return !this.#isBroken && this.#at === this.#bytes.length
  }

  #take(length: number): number | undefined {
    const at = this.#at
    if (this.#isBroken || length > this.#bytes.length - at) {
      this.#isBroken = true
      return undefined
    }
    this.#at += length
    return at
  }
}

/** A TPM2B. */
export function sized(bytes: Uint8Array): Buffer {
  return Buffer.concat([uint16(bytes.length), bytes])
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** TPM_ALG_ID. */
export const TpmAlgorithm = {
  null: 0x0010,
  sha256: 0x000b,
  ecdsa: 0x0018,
  ecc: 0x0023,
} as const
