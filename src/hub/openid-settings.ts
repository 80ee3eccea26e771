// What the hub is told of an OpenID provider. docs/protocol.md OID-1, OID-5.

import { parseDurationMs } from '../platform/durations.ts'
import { UserError } from '../platform/errors.ts'
import type { Secret } from '../platform/secret.ts'
import { parseOpenidRoles } from './domain/openid-roles.ts'
import { isSecretSet, readSecret } from './read-secret.ts'
import type { OpenidSettings } from './service/admin/openid/openid-sign-in.ts'

/** All but the secret. */
export interface ProviderSettings extends OpenidSettings {
  readonly caPath: string | undefined
  readonly scopes: string
}

export interface ProviderConfig extends ProviderSettings {
  /** Undefined for a public client. */
  readonly clientSecret: Secret<string> | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

const TTL_MIN_MS = 5 * 60_000
const TTL_MAX_MS = 12 * 3_600_000
const NAME_CHARACTERS_MAX = 64
const SECRET = 'SVC_OIDC_CLIENT_SECRET'

/** Undefined where people sign in by no provider. Reads no file. */
export function parseProviderSettings(
  env: Environment,
  valueOf: (name: string) => string,
): ProviderSettings | undefined {
  const isSet = (name: string): boolean => (env[name] ?? '') !== ''
  if (!isSet('SVC_OIDC_ISSUER')) return undefined
  const issuer = parseIssuer(valueOf('SVC_OIDC_ISSUER'))
  return {
    issuer,
    clientId: matching('SVC_OIDC_CLIENT_ID', valueOf, /^[ -~]{1,256}$/, 'a client ID'),
    name: isSet('SVC_OIDC_NAME') ? parseName(valueOf('SVC_OIDC_NAME')) : new URL(issuer).host,
    caPath: isSet('SVC_OIDC_CA_PATH') ? env['SVC_OIDC_CA_PATH'] : undefined,
    scopes: parseScopes(valueOf('SVC_OIDC_SCOPES')),
    nameClaim: matching('SVC_OIDC_NAME_CLAIM', valueOf, /^[!-~]{1,128}$/, 'a claim such as email'),
    groupsClaim: matching(
      'SVC_OIDC_GROUPS_CLAIM',
      valueOf,
      /^[!-~]{1,128}$/,
      'a claim such as groups',
    ),
    roles: parseRoles(valueOf('SVC_OIDC_ROLES')),
    ttlMs: parseTtl(valueOf('SVC_OIDC_TTL')),
  }
}

/** Reads the file of the secret. */
export function readProviderConfig(
  env: Environment,
  settings: ProviderSettings | undefined,
): ProviderConfig | undefined {
  if (settings === undefined) return undefined
  if (!isSecretSet(env, SECRET)) return { ...settings, clientSecret: undefined }
  const clientSecret = readSecret(env, SECRET)
  if (/^[ -~]{1,1024}$/.test(clientSecret.reveal())) return { ...settings, clientSecret }
  throw invalid(SECRET, 'it is not one line of printable ASCII')
}

/** As it is written: a provider may write itself otherwise, with a slash at its end or without. */
function parseIssuer(text: string): string {
  const name = 'SVC_OIDC_ISSUER'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:') throw invalid(name, `${text} is not an https URL`)
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw invalid(name, 'it has credentials, a query or a fragment')
  }
  if (!url.pathname.includes('/.well-known/')) return text
  throw invalid(name, 'it ends before /.well-known')
}

function parseRoles(text: string): ProviderSettings['roles'] {
  const parsed = parseOpenidRoles(text)
  if (parsed.ok) return parsed.roles
  throw invalid('SVC_OIDC_ROLES', parsed.why)
}

function parseScopes(text: string): string {
  const scopes = text.split(/\s+/).filter((scope) => scope !== '')
  const name = 'SVC_OIDC_SCOPES'
  if (!scopes.includes('openid')) throw invalid(name, 'openid is not one of them')
  if (text.length <= 512 && scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) {
    return scopes.join(' ')
  }
  throw invalid(name, `${text} is not a list of scopes, separated by blanks`)
}

function parseName(text: string): string {
  if (text.length <= NAME_CHARACTERS_MAX && !/\p{C}/u.test(text)) return text
  throw invalid('SVC_OIDC_NAME', `it is not ${NAME_CHARACTERS_MAX} characters of plain text`)
}

function parseTtl(text: string): number {
  const durationMs = parseDurationMs(text)
  if (durationMs !== undefined && durationMs >= TTL_MIN_MS && durationMs <= TTL_MAX_MS) {
    return durationMs
  }
  throw invalid('SVC_OIDC_TTL', `${text} is not a duration from 5m to 12h`)
}

function matching(
  name: string,
  valueOf: (name: string) => string,
  pattern: RegExp,
  what: string,
): string {
  const text = valueOf(name)
  if (pattern.test(text)) return text
  throw invalid(name, text === '' ? 'SVC_OIDC_ISSUER needs it' : `${text} is not ${what}`)
}

function invalid(name: string, why: string): UserError {
  return new UserError('config_invalid', `${name}: ${why}`)
}
