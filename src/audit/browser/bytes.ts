// Bytes as Web Crypto takes them, hashes, and their texts.

/** As Web Crypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

export function join(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

const ENCODER = new TextEncoder()

export function encode(text: string): Bytes {
  return ENCODER.encode(text)
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decode(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** Without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** More than any key, hash or signature has. */
const BASE64_CHARACTERS_MAX = 16_384
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Undefined for any but the one spelling. */
export function fromBase64(text: string): Bytes | undefined {
  if (text.length > BASE64_CHARACTERS_MAX || text.length % 4 !== 0 || !BASE64.test(text)) {
    return undefined
  }
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  return toBase64(bytes) === text ? bytes : undefined
}
