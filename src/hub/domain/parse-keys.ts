import type { JSONWebKeySet } from 'jose'

const KEYS_MAX = 100
/** Of the keys that only one side has. */
const PRIVATE_MEMBERS = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth']

/** The public keys of a JSON Web Key Set (RFC 7517); undefined for a text that is none, or has a secret in it. */
export function parseKeys(text: string): JSONWebKeySet | undefined {
  let document: { keys?: unknown } | null
  try {
    document = JSON.parse(text) as { keys?: unknown } | null
  } catch {
    return undefined
  }
  const keys = document?.keys
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > KEYS_MAX) return undefined
  return keys.every(isPublicKey) ? { keys } : undefined
}

function isPublicKey(value: unknown): value is JSONWebKeySet['keys'][number] {
  if (typeof value !== 'object' || value === null) return false
  const key = value as Readonly<Record<string, unknown>>
  return typeof key['kty'] === 'string' && !PRIVATE_MEMBERS.some((member) => member in key)
}
