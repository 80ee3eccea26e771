// The files of the trust key, as `svc bundle` is given them.

import { UserError } from '../../../platform/errors.ts'
import { readTextIfPresent } from '../../../platform/files.ts'
import { LIMITS } from '../../../protocol/limits.ts'
import type { SignedStatement } from '../../../protocol/schemas.ts'
import { parseMinisignPublicKey } from '../../../trust/minisign.ts'

export async function readGiven(path: string, what: string, bytesMax: number): Promise<string> {
  const text = await readTextIfPresent(path, bytesMax)
  if (text !== undefined) return text
  throw new UserError('file_not_found', `${what} ${path}: not found`)
}

/** A statement, and its signature: beside it, where `minisign -S` leaves it, unless another file is named. */
export async function readSignedStatement(
  path: string,
  signaturePath = `${path}.minisig`,
): Promise<SignedStatement> {
  const statement = await readGiven(path, 'statement', LIMITS.trustStatementCharactersMax)
  const signature = await readTextIfPresent(signaturePath, LIMITS.trustSignatureCharactersMax)
  if (signature !== undefined) return { statement, signature }
  throw new UserError('file_not_found', `signature ${signaturePath}: not found`, {
    hint: `minisign -S -s <secret key> -m ${path} makes it, where the secret key is`,
  })
}

/** The key line of a `.pub` file. */
export async function readPublicKeyLine(path: string): Promise<string> {
  const text = await readGiven(path, 'public key', LIMITS.trustSignatureCharactersMax)
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? ''
  if (parseMinisignPublicKey(line) !== undefined) return line
  throw new UserError('key_invalid', `${path} is not a public key of minisign`, {
    hint: 'minisign -G makes a key pair: name its .pub file',
  })
}
