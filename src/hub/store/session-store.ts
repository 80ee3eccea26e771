// What the store keeps of those who sign in: sessions and the codes that begin them, both by their hashes alone.

import type { TokenHash } from '../../protocol/identifiers.ts'
import type { Session, SignInCode } from '../domain/session.ts'

export interface SessionReader {
  find(cookieHash: TokenHash): Promise<Session | undefined>
  /** All that are kept, newest first: no more than domain/session.ts lets there be. */
  list(): Promise<Session[]>
  findCode(hash: TokenHash): Promise<SignInCode | undefined>
}

export interface SessionWriter extends SessionReader {
  insert(session: Session): Promise<void>
  setUsed(cookieHash: TokenHash, at: Date): Promise<void>
  setEnded(cookieHash: TokenHash, at: Date): Promise<void>
  remove(cookieHash: TokenHash): Promise<void>
  /** Removes codes that expired before an instant. */
  insertCode(code: SignInCode, expiredBefore: Date): Promise<void>
  setCodeUsed(hash: TokenHash, at: Date): Promise<void>
  /** Forgets tokens of people that have ended, with their sessions and codes. */
  removeTokensOfPeople(room: PeopleRoom): Promise<void>
  /** Sessions, codes, and the tokens of people, who sign in again. */
  removeAll(): Promise<void>
}

/** What is kept of people's tokens that have ended by `now`. */
export interface PeopleRoom {
  readonly now: Date
  /** Those that ended before go. */
  readonly endedBefore: Date
  /** And the oldest of all but so many. */
  readonly keptMax: number
  /** And these, whenever they ended. */
  readonly also: readonly TokenHash[]
}
