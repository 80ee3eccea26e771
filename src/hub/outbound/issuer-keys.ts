// The keys of issuers (JWKS, RFC 7517), where a join rule does not have them itself: fetched once for many tokens, again when they
// are old or one is missing, and never faster than every half minute, whatever callers send. docs/protocol.md JNR-20.

import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import { describeError, SvcError } from '../../platform/errors.ts'
import { parseJson } from '../../platform/parse-json.ts'
import type { IssuerKeys, SignatureVerdict } from '../domain/issuer-keys.ts'
import { parseKeys } from '../domain/parse-keys.ts'
import { decideWebhookUrl } from '../domain/webhook-url.ts'
import type { WorkloadProof } from '../domain/workload-proof.ts'
import type { GetText } from './get-text.ts'

/** Of public keys alone: a key that both sides have would be everybody's who can read it. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
]
const FRESH_MS = 10 * 60_000
/** An issuer that is away lets nobody down for so long. */
const STALE_MS = 24 * 3_600_000
const TRIED_MS = 30_000
const ISSUERS_MAX = 200

interface KeptKeys {
  keys: JSONWebKeySet | undefined
  fetchedAtMs: number
  triedAtMs: number
  failure: string
  fetching: Promise<void> | undefined
}

export function createIssuerKeys(getText: GetText, clock: Clock): IssuerKeys {
  const kept = new Map<string, KeptKeys>()

  const keptFor = ({ issuer, keysUrl }: WorkloadProof): KeptKeys => {
    const name = JSON.stringify([issuer, keysUrl])
    const known = kept.get(name)
    if (known !== undefined) return known
    const [oldest] = kept.keys()
    if (kept.size >= ISSUERS_MAX && oldest !== undefined) kept.delete(oldest)
    const never = Number.NEGATIVE_INFINITY
    const fresh: KeptKeys = {
      keys: undefined,
      fetchedAtMs: never,
      triedAtMs: never,
      failure: 'it was not asked yet',
      fetching: undefined,
    }
    kept.set(name, fresh)
    return fresh
  }
  const fetchOnce = (entry: KeptKeys, proof: WorkloadProof): Promise<void> => {
    const nowMs = clock.now().getTime()
    // Also after a clock that was set back.
    if (Math.abs(nowMs - entry.triedAtMs) < TRIED_MS) return entry.fetching ?? Promise.resolve()
    entry.triedAtMs = nowMs
    entry.fetching = fetchInto(entry, proof).finally(() => {
      entry.fetching = undefined
    })
    return entry.fetching
  }
  const fetchInto = async (entry: KeptKeys, proof: WorkloadProof): Promise<void> => {
    try {
      entry.keys = await fetchKeys(getText, proof)
      entry.fetchedAtMs = clock.now().getTime()
    } catch (error) {
      entry.failure = describeError(error)
    }
  }
  const isOlder = ({ fetchedAtMs }: KeptKeys, ageMs: number): boolean =>
    Math.abs(clock.now().getTime() - fetchedAtMs) > ageMs

  return {
    verify: async (token, proof) => {
      if (proof.keys !== null) return verifyBy(proof.keys, token)
      const entry = keptFor(proof)
      if (isOlder(entry, FRESH_MS)) await fetchOnce(entry, proof)
      const { keys } = entry
      if (keys === undefined || isOlder(entry, STALE_MS)) {
        const reason = `the keys of ${proof.issuer} cannot be had: ${entry.failure}`
        return { ok: false, why: 'unavailable', reason }
      }
      const verdict = await verifyBy(keys, token)
      if (verdict.ok || verdict.isKeyKnown) return verdict
      // It may have a key since then.
      await fetchOnce(entry, proof)
      return entry.keys === keys ? verdict : verifyBy(entry.keys ?? keys, token)
    },
  }
}

async function verifyBy(
  keys: JSONWebKeySet,
  token: string,
): Promise<SignatureVerdict & { readonly isKeyKnown: boolean }> {
  try {
    await compactVerify(token, createLocalJWKSet(keys), { algorithms: ALGORITHMS })
    return { ok: true, isKeyKnown: true }
  } catch (error) {
    const isKeyKnown = !(error instanceof errors.JWKSNoMatchingKey)
    return { ok: false, why: 'bad', reason: describeError(error), isKeyKnown }
  }
}

async function fetchKeys(
  getText: GetText,
  { issuer, keysUrl }: WorkloadProof,
): Promise<JSONWebKeySet> {
  const text = await getText(parseUrl(keysUrl ?? (await discoverKeysUrl(getText, issuer))))
  const keys = parseKeys(text)
  if (keys !== undefined) return keys
  throw new SvcError('keys_invalid', 'its answer is no JSON Web Key Set')
}

type Discovered = { readonly issuer?: unknown; readonly jwks_uri?: unknown } | null | undefined

/** OpenID Connect Discovery 1.0, section 4. */
async function discoverKeysUrl(getText: GetText, issuer: string): Promise<string> {
  const url = parseUrl(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const document = parseJson(await getText(url)) as Discovered
  if (document?.issuer !== issuer) {
    throw new SvcError('issuer_differs', `what ${url.href} describes is another issuer`)
  }
  if (typeof document.jwks_uri === 'string') return document.jwks_uri
  throw new SvcError('keys_missing', `${url.href} does not say where its keys are`)
}

function parseUrl(text: string): URL {
  const verdict = decideWebhookUrl(text)
  if (verdict.ok) return verdict.url
  throw new SvcError('url_refused', `the hub does not ask ${text.slice(0, 200)}: ${verdict.reason}`)
}
