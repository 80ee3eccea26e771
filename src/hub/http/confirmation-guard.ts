// Whether a request of a session has to be confirmed by a passkey, and whether it is. docs/protocol.md PKY-4.

import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../platform/clock.ts'
import { createTokenBuckets } from '../../platform/token-bucket.ts'
import { ADMIN_OPERATIONS, type AdminOperationName } from '../../protocol/admin/operations.ts'
import { CONFIRMATION_HEADER } from '../../protocol/admin/passkeys.ts'
import type { AskedFields } from './admin-routes.ts'
import type { PasskeyOwner } from '../domain/passkey.ts'
import type { KnownSession } from '../domain/session.ts'
import type { VerifyConfirmation } from '../service/admin/passkeys/verify-confirmation.ts'
import type { StoreReader } from '../store/store.ts'

export type GuardedConfirmation =
  | { readonly by: string | undefined }
  | { readonly refusal: 'confirmation_needed' }
  | { readonly refusal: 'rate_limited'; readonly waitMs: number }
  | { readonly refusal: 'confirmation_refused'; readonly fault: string }

export interface GuardedAct {
  readonly name: AdminOperationName
  readonly asked: AskedFields
}

export interface ConfirmationGuard {
  /** Of each body that comes with a confirmation its hash stays, for as long as its request. */
  readonly noteBody: (request: FastifyRequest, body: Buffer) => void
  judge(request: FastifyRequest, act: GuardedAct, known: KnownSession): Promise<GuardedConfirmation>
}

export interface ConfirmationGuardOptions {
  readonly clock: Clock
  readonly reader: Pick<StoreReader, 'passkeys'>
  readonly verify: VerifyConfirmation
}

/** For each session: a hand that touches a key is slower. */
const PER_MINUTE = 30

export function createConfirmationGuard({
  clock,
  reader,
  verify,
}: ConfirmationGuardOptions): ConfirmationGuard {
  const hashes = new WeakMap<FastifyRequest, string>()
  const turns = createTokenBuckets({
    perSecond: PER_MINUTE / 60,
    burst: PER_MINUTE,
    now: () => clock.now(),
  })
  const isAskedFor = async ({ name, asked }: GuardedAct, owner: PasskeyOwner): Promise<boolean> => {
    const { confirm } = ADMIN_OPERATIONS[name]
    if (typeof confirm === 'object') return asked[confirm.ifTrue] === true
    if (confirm !== 'unless_first') return confirm === 'always'
    return (await reader.passkeys.listOf(owner)).length > 0
  }
  return {
    noteBody: (request, body) => {
      if (request.headers[CONFIRMATION_HEADER] !== undefined) {
        hashes.set(request, hashRequest(request, body))
      }
    },
    judge: async (request, act, { session: { cookieHash: session }, token }) => {
      if (!(await isAskedFor(act, token))) return { by: undefined }
      const confirmation = request.headers[CONFIRMATION_HEADER]
      if (typeof confirmation !== 'string') return { refusal: 'confirmation_needed' }
      const waitMs = turns.take(session)
      if (waitMs > 0) return { refusal: 'rate_limited', waitMs }
      const requestSha256 = hashes.get(request) ?? hashRequest(request, Buffer.alloc(0))
      const found = await verify({ session, requestSha256, confirmation })
      if ('confirmedBy' in found) return { by: found.confirmedBy }
      return { refusal: 'confirmation_refused', fault: found.fault }
    },
  }
}

/** Of what is sent, as the page has it too. docs/protocol.md PKY-5. */
function hashRequest({ method, raw }: FastifyRequest, body: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${method} ${raw.url}\n`), body]))
}
