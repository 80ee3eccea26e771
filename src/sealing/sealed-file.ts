// Files of the age format, https://age-encryption.org/v1, for hybrid post-quantum recipients alone.

import { setImmediate } from 'node:timers/promises'
import type { Decrypter, Identity } from 'age-encryption'
import { describeError, invariant, UserError } from '../platform/errors.ts'
import type { Recipient } from '../protocol/identifiers.ts'
import { readAgeHeader } from './age-header.ts'

/**
 * Takes some 15 ms a recipient; `onSealed` hears how many are done. Throws a UserError when a recipient's checksum is
 * wrong.
 */
export async function sealFor(
  recipients: readonly Recipient[],
  content: Uint8Array,
  onSealed: (count: number) => void = () => undefined,
): Promise<Uint8Array> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  for (const [index, recipient] of recipients.entries()) {
    try {
      encrypter.addRecipient(recipient)
    } catch (error) {
      const start = recipient.slice(0, 24)
      throw new UserError('recipient_invalid', `recipient ${start}…: ${describeError(error)}`)
    }
    // A recipient who gets nothing: its turn comes when the recipients before it have had theirs.
    encrypter.addRecipient({
      wrapFileKey: () => {
        onSealed(index + 1)
        return []
      },
    })
  }
  return encrypter.encrypt(content)
}

export type OpenedFile =
  | { readonly ok: true; readonly content: Uint8Array }
  | { readonly ok: false; readonly reason: string }

/** A file that is damaged, not for this identity, or for more than a hub takes is a reason. */
export async function openSealed(identity: string, file: Uint8Array): Promise<OpenedFile> {
  const header = readAgeHeader(file)
  if (!header.ok) return header
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  decrypter.addIdentity(pausing(identity, Decrypter))
  try {
    return { ok: true, content: await decrypter.decrypt(file) }
  } catch (error) {
    return { ok: false, reason: describeError(error) }
  }
}

/**
 * The library tries an identity on all stanzas without a pause, some 10 ms each: a file for a thousand hosts would keep
 * everything else waiting for ten seconds. It hands out its identities nowhere but in that private field.
 */
function pausing(text: string, Opener: typeof Decrypter): Identity {
  const opener = new Opener()
  opener.addIdentity(text)
  const [identity] = opener['identities']
  invariant(identity, 'an identity that was added is there')
  return {
    unwrapFileKey: async (stanzas) => {
      for (const stanza of stanzas) {
        const fileKey = await identity.unwrapFileKey([stanza])
        if (fileKey !== null) return fileKey
        await setImmediate()
      }
      return null
    },
  }
}
