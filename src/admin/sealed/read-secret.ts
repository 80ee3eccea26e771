import { UserError } from '../../platform/errors.ts'
import { parseIdentityFile, recipientOf } from '../../sealing/age-identity.ts'
import type { Recipient } from '../../protocol/identifiers.ts'
import type { SecretSource } from './secret-source.ts'

const IDENTITY_FILE_BYTES_MAX = 64 * 1024

/** Reads the content to seal. Refuses a file that is too large before it reads a byte. */
export async function readContent(source: SecretSource, bytesMax: number): Promise<Uint8Array> {
  const { name, size } = source
  if (size !== undefined && size > bytesMax) throw tooLarge(`${name} has ${size} bytes`, bytesMax)
  const content = await source.read(bytesMax)
  if (content === undefined) throw tooLarge(`${name} has more than ${bytesMax} bytes`, bytesMax)
  if (content.length === 0) {
    throw new UserError('file_empty', `${name} is empty`, {
      hint: 'a program that failed may have written nothing',
    })
  }
  return content
}

export interface EscrowIdentity {
  readonly identity: string
  readonly recipient: Recipient
}

/** `command` is what takes the identity on its standard input. */
export async function readEscrowIdentity(
  source: SecretSource,
  command = 'svc load reseal ID --escrow-identity -',
): Promise<EscrowIdentity> {
  const content = await source.read(IDENTITY_FILE_BYTES_MAX)
  const identity = content && parseIdentityFile(content.toString('utf8'))
  if (identity === undefined) throw noIdentity(source, command)
  try {
    return { identity, recipient: await recipientOf(identity) }
  } catch {
    throw noIdentity(source, command)
  }
}

function tooLarge(what: string, bytesMax: number): UserError {
  return new UserError('file_too_large', `${what}, and a sealed file holds ${bytesMax} at most`, {
    hint: 'SVC_BLOB_MAX of the hub sets the limit',
  })
}

function noIdentity({ name }: SecretSource, command: string): UserError {
  return new UserError('identity_invalid', `${name} is not a post-quantum identity file of age`, {
    hint: `for an identity with a passphrase: age -d FILE | ${command}`,
  })
}
