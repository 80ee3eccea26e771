// Serials by the million in little memory: their bytes one after the other, and a table of where each begins. A serial of sixteen bytes
// takes some 25 bytes; as a string in a Set it would take 150.

import { randomFillSync } from 'node:crypto'

const PIECE_BYTES = 16 * 1024 * 1024
/** Of 64 hex digits, which is what serial-number.ts lets through. */
const SERIAL_BYTES_MAX = 32
const FIRST_SLOTS = 1024
/** Above it the look-ups get long. */
const LOAD_MAX = 0.7
/** A bit of the length byte. */
const FOUND = 0x80

export class SerialSet {
  readonly #pieces: Buffer[] = []
  readonly #given = Buffer.alloc(SERIAL_BYTES_MAX)
  /** Nobody who writes a list can choose serials that meet in the table. */
  readonly #factors = randomFillSync(new Int32Array(SERIAL_BYTES_MAX + 1))
  /** 0, or one more than the place of a serial. */
  #slots = new Uint32Array(FIRST_SLOTS)
  #end = 0
  #size = 0
  #found = 0

  get size(): number {
    return this.#size
  }

  /** How many were not found yet. */
  get missing(): number {
    return this.#size - this.#found
  }

  /** In lower-case hex without leading zeros; whether it was not there yet. */
  add(serial: string): boolean {
    const length = this.#take(serial)
    const slot = this.#slotOf(length)
    if (this.#slots[slot] !== 0) return false
    this.#slots[slot] = this.#append(length) + 1
    this.#size += 1
    if (this.#size > this.#slots.length * LOAD_MAX) this.#grow()
    return true
  }

  has(serial: string): boolean {
    return this.#place(serial) !== undefined
  }

  /** Marks it as found; whether it is here and was not found before. */
  find(serial: string): boolean {
    const place = this.#place(serial)
    if (place === undefined) return false
    const [piece, at] = this.#locate(place)
    const length = piece[at] ?? 0
    if ((length & FOUND) !== 0) return false
    piece[at] = length | FOUND
    this.#found += 1
    return true
  }

  /** In the order in which they came. */
  *[Symbol.iterator](): Generator<string> {
    for (const place of this.#places()) {
      const [piece, at] = this.#locate(place)
      const length = lengthAt(piece, at)
      yield piece.toString('hex', at + 1, at + 1 + length).replace(/^0(?=.)/, '')
    }
  }

  *#places(): Generator<number> {
    for (let place = 0; place < this.#end;) {
      const [piece, at] = this.#locate(place)
      const length = lengthAt(piece, at)
      // The rest of a piece in which the next one had no room.
      if (length === 0) place += PIECE_BYTES - at
      else {
        yield place
        place += 1 + length
      }
    }
  }

  #place(serial: string): number | undefined {
    if (serial === '' || serial.length > 2 * SERIAL_BYTES_MAX) return undefined
    const found = this.#slots[this.#slotOf(this.#take(serial))] ?? 0
    return found === 0 ? undefined : found - 1
  }

  #take(serial: string): number {
    const padded = serial.length % 2 === 0 ? serial : `0${serial}`
    return this.#given.write(padded, 'hex')
  }

  /** Where what was taken is, or would be. */
  #slotOf(length: number): number {
    const mask = this.#slots.length - 1
    let slot = this.#hash(this.#given, 0, length) & mask
    for (;;) {
      const found = this.#slots[slot] ?? 0
      if (found === 0 || this.#isAt(found - 1, length)) return slot
      slot = (slot + 1) & mask
    }
  }

  #isAt(place: number, length: number): boolean {
    const [piece, at] = this.#locate(place)
    if (lengthAt(piece, at) !== length) return false
    for (let byte = 0; byte < length; byte += 1) {
      if (piece[at + 1 + byte] !== this.#given[byte]) return false
    }
    return true
  }

  #hash(bytes: Buffer, start: number, length: number): number {
    let sum = Math.imul(length, this.#factors[SERIAL_BYTES_MAX] ?? 0)
    for (let at = 0; at < length; at += 1) {
      sum = Math.imul(sum ^ (bytes[start + at] ?? 0), 0x01_00_01_93) + (this.#factors[at] ?? 0)
      sum ^= sum >>> 15
    }
    return (Math.imul(sum, 0x9e_37_79_b1) >>> 7) ^ sum
  }

  #append(length: number): number {
    const room = PIECE_BYTES - (this.#end % PIECE_BYTES)
    if (this.#end % PIECE_BYTES === 0 || room < 1 + length) {
      if (this.#end % PIECE_BYTES !== 0) this.#end += room
      this.#pieces.push(Buffer.alloc(PIECE_BYTES))
    }
    const place = this.#end
    const [piece, at] = this.#locate(place)
    piece[at] = length
    this.#given.copy(piece, at + 1, 0, length)
    this.#end += 1 + length
    return place
  }

  #grow(): void {
    const slots = new Uint32Array(2 * this.#slots.length)
    const mask = slots.length - 1
    for (const place of this.#places()) {
      const [piece, at] = this.#locate(place)
      let slot = this.#hash(piece, at + 1, lengthAt(piece, at)) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = place + 1
    }
    this.#slots = slots
  }

  #locate(place: number): readonly [piece: Buffer, at: number] {
    const piece = this.#pieces[Math.floor(place / PIECE_BYTES)] ?? Buffer.alloc(1)
    return [piece, place % PIECE_BYTES]
  }
}

function lengthAt(piece: Buffer, at: number): number {
  return (piece[at] ?? 0) & ~FOUND
}
