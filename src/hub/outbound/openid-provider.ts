// An OpenID provider (OpenID Connect Core 1.0, RFC 6749, 7636, 9207), asked by openid-client within the hub's own bounds. Nothing is
// asked before somebody signs in; what discovery answers is kept for an hour, and the provider's keys are asked for at each sign-in, so
// that a new key counts at once and a key that is gone counts no more. docs/protocol.md OID-9, OID-10.

import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client'
import type { Clock } from '../../platform/clock.ts'
import { invariant } from '../../platform/errors.ts'
import type { Secret } from '../../platform/secret.ts'
import type {
  OpenidClaims,
  OpenidFailure,
  OpenidProvider,
  OpenidRequest,
} from '../domain/openid-provider.ts'
import type { AgentFor } from './outside-agents.ts'
import { createProviderFetch, ProviderAway } from './provider-fetch.ts'

export interface OpenidProviderOptions {
  /** A URL. */
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client, which has PKCE alone. */
  readonly clientSecret: Secret<string> | undefined
  readonly scopes: string
  /** Asked for at the provider's userinfo when the ID token does not have them. */
  readonly claimsWanted: readonly string[]
  readonly agentFor: AgentFor
  readonly version: string
  readonly clock: Clock
}

interface Discovered {
  readonly metadata: ServerMetadata
  readonly atMs: number
}

const EXCHANGE_MS_MAX = 10_000
const FRESH_MS = 3_600_000
/** Strangers may ask as often as they like. */
const TRIED_MS = 10_000
/** With what the hub says before it, a message has 300. */
const REASON_CHARACTERS_MAX = 275
const TOLERANCE_SECONDS = 30
/** The library takes megabytes of a hub, and most hubs have no provider. */
const loadLibrary = () => import('openid-client')

export function createOpenidProvider(options: OpenidProviderOptions): OpenidProvider {
  const { clock } = options
  let known: Discovered | undefined
  /** Of the newest attempt. */
  let failure: ProviderAway | undefined
  let triedAtMs = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined

  const ask = async (nowMs: number): Promise<void> => {
    try {
      known = { metadata: await discover(options), atMs: nowMs }
      failure = undefined
    } catch (error) {
      failure = new ProviderAway(describeRefusal(error))
    }
  }
  const isOlder = (atMs: number, ageMs: number): boolean =>
    Math.abs(clock.now().getTime() - atMs) > ageMs
  /** Once for all who wait for it. */
  const askAgain = async (): Promise<void> => {
    if (asking === undefined && isOlder(triedAtMs, TRIED_MS)) {
      triedAtMs = clock.now().getTime()
      asking = ask(triedAtMs).finally(() => {
        asking = undefined
      })
    }
    await asking
  }
  /** An older answer does while there is no newer one. */
  const metadata = async (): Promise<ServerMetadata> => {
    if (known === undefined || isOlder(known.atMs, FRESH_MS)) await askAgain()
    if (known !== undefined) return known.metadata
    invariant(failure !== undefined, 'an attempt answers or fails')
    throw failure
  }
  /** A configuration of its own for each sign-in, whose requests all end with its deadline. */
  const configure = async (): Promise<Configuration> => {
    const found = await metadata()
    const { agentFor, version, clientId } = options
    const library = await loadLibrary()
    const config = new library.Configuration(found, clientId, {}, await clientAuth(options, found))
    library.enableNonRepudiationChecks(config)
    const deadline = AbortSignal.timeout(EXCHANGE_MS_MAX)
    config[library.customFetch] = createProviderFetch(agentFor, version, deadline)
    return config
  }
  return {
    authorizationUrl: (request) =>
      orFailure(async () => ({
        ok: true,
        url: await authorizationUrl(await configure(), request, options.scopes),
      })),
    exchange: (request, { code, state, iss }) =>
      orFailure(async () => {
        const current = new URL(request.redirectUri)
        for (const [name, value] of Object.entries({ code, state, iss })) {
          if (value !== undefined) current.searchParams.set(name, value)
        }
        return { ok: true, claims: await claimsOf(await configure(), current, request, options) }
      }),
    look: () =>
      orFailure(async () => {
        await askAgain()
        if (failure !== undefined) throw failure
        return { ok: true }
      }),
  }
}

async function discover(options: OpenidProviderOptions): Promise<ServerMetadata> {
  const { customFetch, discovery } = await loadLibrary()
  const { issuer, clientId, agentFor, version } = options
  const deadline = AbortSignal.timeout(EXCHANGE_MS_MAX)
  const config = await discovery(new URL(issuer), clientId, undefined, undefined, {
    [customFetch]: createProviderFetch(agentFor, version, deadline),
  })
  const metadata = config.serverMetadata()
  // The library lets a cloud name a pattern for all, and then any tenant is the issuer.
  if (!metadata.issuer.includes('{')) return metadata
  throw new ProviderAway(`${issuer} is for all tenants: SVC_OIDC_ISSUER has to name one`)
}

/** By a header unless the provider takes the secret in the body alone. */
async function clientAuth(
  { clientSecret }: OpenidProviderOptions,
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: ServerMetadata,
): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost, None } = await loadLibrary()
  if (clientSecret === undefined) return None()
  const bySecret = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost
  return bySecret(clientSecret.reveal())
}

async function authorizationUrl(
  config: Configuration,
  { redirectUri, state, nonce, verifier, askedSince }: OpenidRequest,
  scope: string,
): Promise<URL> {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await loadLibrary()
  return buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    // OpenID Connect Core 1.0, 3.1.2.1: with max_age the ID token says when that was.
    ...(askedSince && { prompt: 'login', max_age: '0' }),
  })
}

async function claimsOf(
  config: Configuration,
  current: URL,
  { state, nonce, verifier, askedSince }: OpenidRequest,
  { claimsWanted, issuer: configured }: OpenidProviderOptions,
): Promise<OpenidClaims> {
  const { authorizationCodeGrant, fetchUserInfo } = await loadLibrary()
  const tokens = await authorizationCodeGrant(config, current, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('it sent no ID token')
  const { iss, sub: subject, auth_time: authTime } = claims
  const issuer = new URL(iss).href === new URL(configured).href ? configured : iss
  if (askedSince !== undefined && !isSince(authTime, askedSince)) {
    throw new Error('it did not ask the person again, or does not say so (auth_time)')
  }
  const isWhole = claimsWanted.every((claim) => claims[claim] !== undefined)
  if (isWhole || config.serverMetadata().userinfo_endpoint === undefined) {
    return { issuer, subject, all: claims }
  }
  const more = await fetchUserInfo(config, tokens.access_token, subject)
  return { issuer, subject, all: { ...more, ...claims } }
}

/** Within the tolerance that the library has for its other times. */
function isSince(seconds: unknown, since: Date): boolean {
  return typeof seconds === 'number' && (seconds + TOLERANCE_SECONDS) * 1000 >= since.getTime()
}

async function orFailure<Answer>(work: () => Promise<Answer>): Promise<Answer | OpenidFailure> {
  try {
    return await work()
  } catch (error) {
    const why = findAway(error) === undefined ? 'refused' : 'unavailable'
    return { ok: false, why, reason: describeRefusal(error) }
  }
}

function findAway(error: unknown): ProviderAway | undefined {
  if (error instanceof ProviderAway) return error
  return error instanceof Error ? findAway(error.cause) : undefined
}

/** What the provider says itself (RFC 6749, 5.2), or what is wrong with what it says; of its text only what can be shown. */
function describeRefusal(error: unknown): string {
  const said =
    error instanceof Error && 'error' in error && typeof error.error === 'string'
      ? [error.error, 'error_description' in error ? error.error_description : undefined]
          .filter((each) => typeof each === 'string')
          .join(': ')
      : (findAway(error)?.message ?? describeOwn(error))
  const shown = said.replaceAll(/[^ -~]/g, '?')
  if (shown.length <= REASON_CHARACTERS_MAX) return shown
  return `${shown.slice(0, REASON_CHARACTERS_MAX - 3)}...`
}

/** The library's causes hold whole replies, so only messages are taken. */
function describeOwn(error: unknown): string {
  if (!(error instanceof Error)) return 'its answer is not valid'
  const cause = error.cause instanceof Error ? `: ${describeOwn(error.cause)}` : ''
  return `${error.message}${cause}`
}
