// What the replies of an ACME CA mean: RFC 8555, 6.5 to 6.7.

import { parseJson } from '../../../platform/parse-json.ts'
import type { CaReply } from '../ca-connection.ts'
import { failureOfReply } from '../ca-reply.ts'
import type { CaError, CaSetting } from '../certificate-authority.ts'

const PROBLEM = 'urn:ietf:params:acme:error:'
/** Longer than that nobody means it. */
const PAUSE_MS_MAX = 24 * 3_600_000
const LIMITED_MS = 60_000

const SETTINGS: Readonly<Partial<Record<string, CaSetting>>> = {
  externalAccountRequired: 'SVC_ACME_EAB_KID',
  badPublicKey: 'SVC_ACME_ACCOUNT_KEY',
  badSignatureAlgorithm: 'SVC_ACME_ACCOUNT_KEY',
}

/** The object in a reply; empty when there is none. */
export function objectIn(body: string): Readonly<Record<string, unknown>> {
  const parsed = parseJson(body)
  return isObject(parsed) ? parsed : {}
}

/** Those in a list; a CA may put anything else between them. */
export function objectsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Such as `badNonce`; undefined when it is none of RFC 8555. */
export function problemOf({ body }: Pick<CaReply, 'body'>): string | undefined {
  const { type } = objectIn(body)
  return typeof type === 'string' && type.startsWith(PROBLEM)
    ? type.slice(PROBLEM.length)
    : undefined
}

export function failureOfAcme(reply: CaReply, task: string): CaError {
  return failureOfReply(reply, task, settingOf)
}

function settingOf(reply: CaReply): CaSetting | undefined {
  const problem = problemOf(reply)
  if (problem !== undefined) return SETTINGS[problem]
  return reply.status === 404 || reply.status === 405 ? 'SVC_ACME_DIRECTORY' : undefined
}

export function headerOf({ headers = {} }: CaReply, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** How long the CA asks to wait; undefined when it does not. RFC 9110, 10.2.3. */
export function retryAfterMs(reply: CaReply, now: Date): number | undefined {
  const text = headerOf(reply, 'retry-after')
  if (text === undefined) return undefined
  const waitMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime()
  return Number.isNaN(waitMs) ? undefined : Math.min(PAUSE_MS_MAX, Math.max(0, waitMs))
}

/** How long a CA that has had too much of something wants no more; undefined when it has not. */
export function limitMs(reply: CaReply, now: Date): number | undefined {
  if (reply.status !== 429 && problemOf(reply) !== 'rateLimited') return undefined
  // A time that is over, or none, is no leave to ask at once.
  return Math.max(LIMITED_MS, retryAfterMs(reply, now) ?? 0)
}

/** How long nothing is asked after such a reply; undefined when it is no matter of how much is asked. */
export function pauseAfterMs(reply: CaReply, now: Date): number | undefined {
  return limitMs(reply, now) ?? (reply.status === 503 ? retryAfterMs(reply, now) : undefined)
}
