// The encoding of OpenSSH's keys, certificates and signatures: RFC 4251, 5.

/** Reads what a stranger sent. What is not there reads as empty, and then nothing is complete. */
export class SshReader {
  readonly #bytes: Uint8Array
  #at = 0
  #isCut = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Whether everything that was asked for was there, and nothing is left. */
  get isComplete(): boolean {
    return !this.#isCut && this.#at === this.#bytes.length
  }

  get isAtEnd(): boolean {
    return this.#isCut || this.#at === this.#bytes.length
  }

  /** How many bytes have been read. */
  get position(): number {
    return this.#at
  }

  bytes(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) {
      this.#isCut = true
      return Buffer.alloc(0)
    }
    const { buffer, byteOffset } = this.#bytes
    this.#at += length
    return Buffer.from(buffer, byteOffset + this.#at - length, length)
  }

  uint32(): number {
    const bytes = this.bytes(4)
    return bytes.length === 4 ? bytes.readUInt32BE() : 0
  }

  uint64(): bigint {
    const bytes = this.bytes(8)
    return bytes.length === 8 ? bytes.readBigUInt64BE() : 0n
  }

  string(): Buffer {
    return this.bytes(this.uint32())
  }

  text(): string {
    return this.string().toString('latin1')
  }

  /** A positive number without the zero that may stand before it. */
  number(): Buffer {
    const bytes = this.string()
    const isNegative = ((bytes[0] ?? 0) & 0x80) !== 0
    if (isNegative) this.#isCut = true
    return bytes[0] === 0 ? bytes.subarray(1) : bytes
  }

  /** Each of the strings that a string consists of. */
  strings(): string[] {
    const inner = new SshReader(this.string())
    const found: string[] = []
    while (!inner.isAtEnd) found.push(inner.text())
    if (!inner.isComplete) this.#isCut = true
    return found
  }
}

export function sshString(content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Of a positive number. */
export function sshNumber(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first === -1 ? Buffer.alloc(0) : Buffer.from(bytes.subarray(first))
  return sshString((digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits)
}
