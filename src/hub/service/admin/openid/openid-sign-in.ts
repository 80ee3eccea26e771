// Somebody signs in by an OpenID provider: begun and finished by a page of the console, or by `svc`. docs/protocol.md OID.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../../platform/clock.ts'
import type { Secret } from '../../../../platform/secret.ts'
import type { AdminErrorDetails } from '../../../../protocol/admin/errors.ts'
import {
  OPENID_CONSOLE_PATH,
  OPENID_SIGN_IN_CODE_TTL_SECONDS,
  OPENID_STATE_TTL_SECONDS,
  OPENID_SVC_PATH,
  type OpenidCode,
  type OpenidFinish,
  type OpenidSignIn as Shown,
  type OpenidStart,
  type OpenidStarted,
  type OpenidToken,
} from '../../../../protocol/admin/openid.ts'
import { SIGN_IN_CODE_PREFIX } from '../../../../protocol/admin/sessions.ts'
import type { WireErrorCode } from '../../../../protocol/errors.ts'
import { isGood, type Person } from '../../../domain/access-token.ts'
import {
  decideSignIn,
  type SignInRules,
  type SignInVerdict,
} from '../../../domain/decide-sign-in.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import type { OpenidProvider } from '../../../domain/openid-provider.ts'
import type { Store } from '../../../store/store.ts'
import { entriesOfActs } from '../../admin-act.ts'
import { appendEntries } from '../../append-entries.ts'
import { makeAccessToken } from '../access-token-acts.ts'
import { endPersonTokens, keepPersonToken } from './keep-person-token.ts'
import { createStateSeal, type SignInState } from './sealed-state.ts'
import { createUsedStates } from './used-states.ts'

/** What is set for the provider, beside how it is asked. */
export interface OpenidSettings extends SignInRules {
  readonly name: string
  /** A URL, in the spelling that everything has it in. */
  readonly issuer: string
  readonly clientId: string
  /** Of the admin tokens that it makes. */
  readonly ttlMs: number
}

export interface OpenidSignInOptions {
  readonly settings: OpenidSettings
  readonly provider: OpenidProvider
  readonly store: Store
  readonly clock: Clock
  /** Of the vault: all its hubs have it. */
  readonly dataKey: Secret<Buffer>
  /** Where browsers reach the console, without a slash at its end; without it only `svc` can sign in. */
  readonly consoleUrl: string | undefined
  /**
   * Whether a provider at which the browser is signed in has to ask again before `svc` gets a token: where passkeys confirm acts, a token, of
   * which none is asked for, is not to be had by an open browser alone.
   */
  readonly isAskedAgainForSvc: boolean
}

/** Whether the request is of a page of this very origin, of another page, or of no page. */
export type AskedFrom = 'own page' | 'other page' | 'program'

export interface SignInRefusal {
  readonly refusal: WireErrorCode
  /** For the caller, in the place of what the code says by itself. */
  readonly message?: string
  /** For the caller, what the message is about. */
  readonly details?: AdminErrorDetails
  /** For the hub's log. */
  readonly reason?: string
  /** Whom it refuses, of somebody whom the provider signed in. */
  readonly person?: Person & { readonly name?: string | undefined }
}

export interface OpenidSignIn {
  readonly shown: Shown
  start(request: OpenidStart, from: AskedFrom): Promise<OpenidStarted | SignInRefusal>
  finish(request: OpenidFinish, from: AskedFrom): Promise<OpenidCode | OpenidToken | SignInRefusal>
}

const SECRET_BYTES = 32
/** However many come at once, the provider is asked for so many. */
const EXCHANGES_MAX = 4
const STATE_INVALID: SignInRefusal = { refusal: 'sign_in_state_invalid' }

export function createOpenidSignIn(options: OpenidSignInOptions): OpenidSignIn {
  const { settings, provider, clock, consoleUrl } = options
  const { name, issuer, clientId } = settings
  const states = createStateSeal(options.dataKey, `${new URL(issuer).href} ${clientId}`)
  const used = createUsedStates()
  let exchanges = 0

  const askedSince = (state: Pick<SignInState, 'for' | 'expiresAt'>): Date | undefined =>
    state.for === 'svc' && options.isAskedAgainForSvc
      ? new Date(state.expiresAt.getTime() - OPENID_STATE_TTL_SECONDS * 1000)
      : undefined

  const redirectUriOf = (state: Pick<SignInState, 'for' | 'port'>): string | undefined => {
    if (state.for === 'svc') return `http://127.0.0.1:${state.port}${OPENID_SVC_PATH}`
    return consoleUrl && `${consoleUrl}${OPENID_CONSOLE_PATH}`
  }

  /** The cheapest first: what a stranger can make up costs no request. */
  const findState = (
    { state: text, secret }: OpenidFinish,
    from: AskedFrom,
  ): SignInState | undefined => {
    const state = states.open(text)
    if (state === undefined || state.expiresAt <= clock.now()) return undefined
    if (!isOfCaller(state, from) || !isKeyOf(state, secret)) return undefined
    return state
  }

  return {
    shown: { name, issuer, console: consoleUrl !== undefined },
    start: async ({ for: wanted, port = 0, key }, from) => {
      const redirectUri = redirectUriOf({ for: wanted, port })
      if (!isOfCaller({ for: wanted }, from)) return { refusal: 'admin_token_invalid' }
      if (redirectUri === undefined || (wanted === 'svc') !== port > 0) {
        return { refusal: 'request_invalid' }
      }
      const expiresAt = new Date(clock.now().getTime() + OPENID_STATE_TTL_SECONDS * 1000)
      const [nonce, verifier] = [newSecret(), newSecret()]
      const state = states.seal({ for: wanted, port, key, nonce, verifier, expiresAt })
      const begun = await provider.authorizationUrl({
        redirectUri,
        state,
        nonce,
        verifier,
        askedSince: askedSince({ for: wanted, expiresAt }),
      })
      if (begun.ok) return { url: begun.url.href, expires_at: expiresAt.toISOString() }
      // Nobody has signed in yet: whatever is wrong is so for everybody.
      return { refusal: 'sign_in_provider_unavailable', reason: begun.reason }
    },
    finish: async (request, from) => {
      const state = findState(request, from)
      const redirectUri = state && redirectUriOf(state)
      if (state === undefined || redirectUri === undefined) return STATE_INVALID
      if (exchanges >= EXCHANGES_MAX) return { refusal: 'rate_limited' }
      if (!used.take(request.state)) return STATE_INVALID
      exchanges += 1
      try {
        const { nonce, verifier } = state
        const answer = await provider.exchange(
          {
            redirectUri,
            state: request.state,
            nonce,
            verifier,
            askedSince: askedSince(state),
          },
          request,
        )
        if (!answer.ok) {
          const { why, reason } = answer
          // Nothing was decided: the same sign-in may be finished when the provider is there again.
          if (why === 'unavailable') used.giveBack(request.state)
          return why === 'unavailable'
            ? { refusal: 'sign_in_provider_unavailable', reason }
            : { refusal: 'sign_in_provider_refused', reason, message: refusedBecause(reason) }
        }
        return await admit(options, decideSignIn(answer.claims, settings), state)
      } finally {
        exchanges -= 1
      }
    },
  }
}

async function admit(
  options: OpenidSignInOptions,
  verdict: SignInVerdict,
  state: SignInState,
): Promise<OpenidCode | OpenidToken | SignInRefusal> {
  if (!verdict.ok) {
    const { refusal, reason, person, name } = verdict
    if (refusal === 'sign_in_no_role' && person !== undefined) await endTokens(options, person)
    return { refusal, reason, ...explain(verdict), ...(person && { person: { ...person, name } }) }
  }
  const { store, clock, settings } = options
  const { name, person, role, only } = verdict
  const now = clock.now()
  const { token, plaintext } = makeAccessToken({
    name,
    person,
    role,
    only,
    createdAt: now,
    expiresAt: new Date(now.getTime() + settings.ttlMs),
  })
  const code = `${SIGN_IN_CODE_PREFIX}${newSecret()}`
  const acts = await store.write(async (writer) => {
    const kept = await keepPersonToken(writer, token)
    if (kept === 'sign_in_name_taken') return kept
    if (state.for === 'console') {
      const expiresAt = new Date(now.getTime() + OPENID_SIGN_IN_CODE_TTL_SECONDS * 1000)
      const signIn = { hash: hashToken(code), tokenHash: token.hash, expiresAt, usedAt: null }
      await writer.sessions.insertCode(signIn, new Date(now.getTime() - CODE_KEPT_MS))
    }
    await appendEntries(writer, entriesOfActs(kept, now, `token:${name}`))
    return kept
  })
  if (acts === 'sign_in_name_taken') {
    return {
      refusal: acts,
      person: { ...person, name },
      message: `another person of the provider is signed in as ${name}`,
      details: { name },
    }
  }
  if (state.for === 'console') return { code }
  return { token: plaintext, name, role, only, expires_at: token.expiresAt.toISOString() }
}

/** The person was taken out of a group, or the settings changed. Who never had a token costs no write. */
async function endTokens(
  { store, clock }: Pick<OpenidSignInOptions, 'store' | 'clock'>,
  person: Person,
): Promise<void> {
  const now = clock.now()
  const tokens = await store.reader.listTokensOfPerson(person)
  if (!tokens.some((token) => isGood(token, now))) return
  await store.write(async (writer) => {
    const acts = await endPersonTokens(writer, person, now)
    await appendEntries(writer, entriesOfActs(acts, now, 'hub'))
  })
}

/** As of codes that links carry: who comes with it again is told why nothing happens. */
const CODE_KEPT_MS = 86_400_000

/** Who is refused, and not which groups would do. */
function explain({
  refusal,
  reason,
  name,
}: Extract<SignInVerdict, { ok: false }>): Pick<SignInRefusal, 'message' | 'details'> {
  if (refusal !== 'sign_in_no_role' || name === undefined)
    return { message: refusedBecause(reason) }
  return {
    message: `the provider signed ${name} in, who has no role at this hub`,
    details: { name },
  }
}

function refusedBecause(reason: string): string {
  return `the OpenID provider: ${reason}`
}

/** A page finishes what a page of this origin began, and a program what it began itself: no page can do that for it. */
function isOfCaller({ for: wanted }: Pick<SignInState, 'for'>, from: AskedFrom): boolean {
  return from === (wanted === 'console' ? 'own page' : 'program')
}

function isKeyOf({ key }: SignInState, secret: string): boolean {
  const [wanted, shown] = [Buffer.from(key), Buffer.from(hash('sha256', secret, 'base64url'))]
  return wanted.length === shown.length && timingSafeEqual(wanted, shown)
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
