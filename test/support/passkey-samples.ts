import { randomBytes } from 'node:crypto'
import type { Person } from '../../src/hub/domain/access-token.ts'
import type { Passkey, PasskeyOwner } from '../../src/hub/domain/passkey.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { RegisteredCredential } from '../../src/protocol/admin/passkeys.ts'
import { NOW } from '../store/store-samples.ts'

export function newPasskey({ name, person }: PasskeyOwner): Passkey {
  return {
    credentialId: randomBytes(16).toString('base64url'),
    name,
    person,
    label: 'YubiKey 5',
    publicKey: randomBytes(77),
    transports: ['usb', 'nfc'],
    counter: 7,
    challengedAt: NOW,
    createdAt: NOW,
    lastUsedAt: null,
  }
}

export async function insertPasskey(
  store: Store,
  name: string,
  person: Person | null = null,
): Promise<Passkey> {
  const passkey = newPasskey({ name, person })
  await store.write((writer) => writer.passkeys.insert(passkey))
  return passkey
}

/** In its form as it should be, and made by no authenticator. */
export function newCredential(): RegisteredCredential {
  const id = randomBytes(16).toString('base64url')
  const response = { clientDataJSON: 'e30', attestationObject: 'oA' }
  return { id, rawId: id, type: 'public-key', response }
}
