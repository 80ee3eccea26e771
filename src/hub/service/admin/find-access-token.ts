import { timingSafeEqual } from 'node:crypto'
import { invariant } from '../../../platform/errors.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import { parseSelector, type Selector } from '../../../protocol/selector.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import { hashBoundedToken, hashToken } from '../../domain/hash-token.ts'
import type { StoreReader } from '../../store/store.ts'

/** An admin token by its text, bounded or not. One whose bound this version cannot read is none. */
export async function findAccessToken(
  reader: StoreReader,
  plaintext: string,
): Promise<AccessToken | undefined> {
  const unbounded = await lookUp(reader, hashToken(plaintext))
  if (unbounded !== undefined) return unbounded.only === null ? unbounded : undefined
  const bounded = await lookUp(reader, hashBoundedToken(plaintext))
  if (bounded === undefined || bounded.only === null) return undefined
  return isReadable(bounded) ? bounded : undefined
}

/** Found by a hash that a guesser cannot steer; how long the index takes says nothing of a token. */
async function lookUp(reader: StoreReader, hash: TokenHash): Promise<AccessToken | undefined> {
  const token = await reader.findAccessToken(hash)
  const isSame = timingSafeEqual(Buffer.from(token?.hash ?? hash), Buffer.from(hash))
  return isSame ? token : undefined
}

/** That a session or a sign-in code is for; as above, none of which this version cannot read the bound. */
export async function findTokenByHash(
  reader: StoreReader,
  hash: TokenHash,
): Promise<AccessToken | undefined> {
  const token = await lookUp(reader, hash)
  return token !== undefined && isReadable(token) ? token : undefined
}

/** Whether this version can read its bound. */
export function isReadable({ only }: AccessToken): boolean {
  return only === null || parseSelector(only).ok
}

/** As the use cases of admin operations have it; undefined for all hosts. */
export function boundOf(only: AccessToken['only']): Selector | undefined {
  if (only === null) return undefined
  const parsed = parseSelector(only)
  invariant(parsed.ok, 'a token with a bound that nobody can read is none')
  return parsed.selector
}
