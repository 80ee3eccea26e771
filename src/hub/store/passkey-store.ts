import type { Passkey, PasskeyOwner, SignedChallenge } from '../domain/passkey.ts'

export interface PasskeyReader {
  find(credentialId: string): Promise<Passkey | undefined>
  /** Newest first: no more than domain/passkey.ts lets there be. */
  listOf(owner: PasskeyOwner): Promise<Passkey[]>
  /** All of them, newest first. */
  list(): Promise<Passkey[]>
}

export interface PasskeyWriter extends PasskeyReader {
  insert(passkey: Passkey): Promise<void>
  setUsed(credentialId: string, signed: SignedChallenge, at: Date): Promise<void>
  remove(credentialId: string): Promise<void>
}
