// Files of the age format, https://age-encryption.org/v1, for hybrid post-quantum recipients alone.

import { describeError, UserError } from '../platform/errors.ts'
import type { Recipient } from '../protocol/identifiers.ts'

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
    // A recipient who gets nothing: its turn comes when those before it have had theirs.
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

/** A file that is damaged, or not for this identity, is a reason. */
export async function openSealed(identity: string, file: Uint8Array): Promise<OpenedFile> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity)
  try {
    return { ok: true, content: await decrypter.decrypt(file) }
  } catch (error) {
    return { ok: false, reason: describeError(error) }
  }
}
