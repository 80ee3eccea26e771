import { randomBytes } from 'node:crypto'
import { systemClock } from './clock.ts'

/**
 * A UUID that sorts by when it was made (RFC 9562, version 7): milliseconds since 1970, then 74 random bits. An index of many
 * such ids is written at its end, instead of all over it. Nothing is decided by the time in it.
 */
export function timeOrderedUuid(now: Date = systemClock.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now.getTime(), 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return uuidOfHex(bytes.toString('hex'))
}

/** Of the first 32 characters. */
export function uuidOfHex(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-')
}
