import type { TokenHash } from '../../../../protocol/identifiers.ts'
import type { Passkey } from '../../../domain/passkey.ts'
import type { KnownSession } from '../../../domain/session.ts'
import type { StoreReader } from '../../../store/store.ts'
import { type AdminAsker, AdminRefusal } from '../../admin-act.ts'
import { findTokenByHash } from '../find-access-token.ts'
import type { AdminContext } from '../admin-context.ts'
import type { Confirmations } from './confirmations.ts'

/** A session with the passkeys of its owner. */
export interface OwningSession extends KnownSession {
  /** Newest first. */
  readonly passkeys: readonly Passkey[]
}

/** Undefined where no session asks. */
export async function findOwner(
  reader: StoreReader,
  hash: TokenHash | undefined,
): Promise<OwningSession | undefined> {
  const session = hash && (await reader.sessions.find(hash))
  const token = session && (await findTokenByHash(reader, session.tokenHash))
  if (session === undefined || token === undefined) return undefined
  return { session, token, passkeys: await reader.passkeys.listOf(token) }
}

/** Of a session that is asked to confirm. */
export async function requireOwner(
  reader: StoreReader,
  { session, confirmations }: Pick<AdminContext, 'confirmations'> & AdminAsker,
): Promise<OwningSession & { readonly confirmations: Confirmations }> {
  if (confirmations === undefined) {
    throw new AdminRefusal('passkeys_off', 'SVC_CONSOLE_CONFIRM of the hub is off')
  }
  const owner = await findOwner(reader, session)
  if (owner === undefined) throw new AdminRefusal('passkeys_off', 'no session of the console asks')
  return { ...owner, confirmations }
}
