// What the hub has to know again when somebody comes back from an OpenID provider, sealed into the `state` that comes back along: a
// stranger who begins a sign-in leaves nothing at the hub, and every hub of a vault can finish it. docs/protocol.md OID-3.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Secret } from '../../../../platform/secret.ts'
import { parseJson } from '../../../../platform/parse-json.ts'

export interface SignInState {
  readonly for: 'console' | 'svc'
  /** Where `svc` listens; 0 for a page of the console. */
  readonly port: number
  /** The SHA-256 of the secret that stays with the caller. */
  readonly key: string
  /** Of the ID token. */
  readonly nonce: string
  /** Of PKCE. */
  readonly verifier: string
  readonly expiresAt: Date
}

export interface StateSeal {
  seal(state: SignInState): string
  /** Undefined for what no hub of this vault sealed for this provider and client. */
  open(text: string): SignInState | undefined
}

const CIPHER = 'chacha20-poly1305'
const KEY_PURPOSE = 'cartorio openid state'
const SALT_BYTES = 16
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `context` names the provider and the hub's client there. */
export function createStateSeal(dataKey: Secret<Buffer>, context: string): StateSeal {
  // A key for each state: there is no number of them that would be too many for one.
  const keyOf = (salt: Buffer): { readonly key: Buffer; readonly nonce: Buffer } => {
    const length = KEY_BYTES + NONCE_BYTES
    const bytes = Buffer.from(hkdfSync('sha256', dataKey.reveal(), salt, KEY_PURPOSE, length))
    return { key: bytes.subarray(0, KEY_BYTES), nonce: bytes.subarray(KEY_BYTES) }
  }
  const associated = Buffer.from(context)
  return {
    seal: ({ expiresAt, ...state }) => {
      const salt = randomBytes(SALT_BYTES)
      const { key, nonce } = keyOf(salt)
      const text = Buffer.from(JSON.stringify({ ...state, expires_at: expiresAt.getTime() }))
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(associated, { plaintextLength: text.length })
      const sealed = [salt, cipher.update(text), cipher.final()]
      return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url')
    },
    open: (text) => {
      const bytes = Buffer.from(text, 'base64url')
      // One spelling alone, so that a state is known again.
      if (bytes.toString('base64url') !== text || bytes.length <= SALT_BYTES + TAG_BYTES) {
        return undefined
      }
      const { key, nonce } = keyOf(bytes.subarray(0, SALT_BYTES))
      const sealed = bytes.subarray(SALT_BYTES, -TAG_BYTES)
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(associated, { plaintextLength: sealed.length })
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const opened = Buffer.concat([decipher.update(sealed), decipher.final()])
        return readState(opened.toString('utf8'))
      } catch {
        // It was not sealed here: the cipher says no more than that.
        return undefined
      }
    },
  }
}

/** Sealed by a hub of this vault, so it is what such a hub wrote. */
function readState(text: string): SignInState {
  const { expires_at: expiresAt, ...state } = parseJson(text) as Omit<SignInState, 'expiresAt'> & {
    readonly expires_at: number
  }
  return { ...state, expiresAt: new Date(expiresAt) }
}
