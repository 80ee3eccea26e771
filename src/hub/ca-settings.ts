// Which CA the hub has, and how it reaches it. docs/protocol.md CAX-15.

import { isAbsolute } from 'node:path'
import { UserError } from '../platform/errors.ts'
import { Secret } from '../platform/secret.ts'
import { parseProvisionerKey, type ProvisionerKey } from './ca/provisioner-key.ts'
import {
  type AccountKey,
  type ExternalAccount,
  parseAccountKey,
} from './ca/acme/acme-account-key.ts'
import { CHALLENGES, type ChallengeType } from './ca/acme/acme-hook.ts'
import type { OpenBaoLogin } from './ca/openbao/openbao-login.ts'
import { CA_KINDS, type CaKind } from './ca-variables.ts'
import { isSecretSet, readSecret } from './read-secret.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface StepCaSettings {
  readonly kind: 'step'
  readonly provisionerKid: string
  readonly provisionerName: string | undefined
}

export interface OpenBaoSettings {
  readonly kind: 'openbao'
  readonly mount: string
  readonly role: string
  readonly namespace: string | undefined
  readonly tlsRootPath: string | undefined
  readonly appRole: { readonly mount: string; readonly roleId: string } | undefined
}

/** Of what is delivered. */
export interface AcmeSettings {
  readonly directoryUrl: URL
  readonly challengeType: ChallengeType
  readonly hookPath: string
  readonly eabKid: string | undefined
  readonly tlsRootPath: string | undefined
}

export interface AcmeConfig extends AcmeSettings {
  readonly accountKey: AccountKey
  readonly externalAccount: ExternalAccount | undefined
}

/** All but the secrets. */
export type CaSettings = StepCaSettings | OpenBaoSettings

export interface StepCaConfig extends StepCaSettings {
  readonly provisionerKey: Secret<ProvisionerKey>
}

export interface OpenBaoConfig extends OpenBaoSettings {
  readonly login: OpenBaoLogin
}

export type CaConfig = StepCaConfig | OpenBaoConfig

/** A part of a path of the API, or several. */
const PATH = /^[\w.-]+(?:\/[\w.-]+)*$/
const ROLE = /^[\w.-]+$/

/** The kinds of the hub's CAs, as far as the settings name any. */
export function findCaKinds(env: Environment): ReadonlySet<CaKind> {
  const kind = findKind(env['SVC_CA_KIND'] || 'step')
  if (kind !== 'acme') return new Set(kind === undefined ? [] : [kind])
  const identities = findKind(env['SVC_IDENTITY_CA_KIND'] || 'step')
  return new Set(identities === undefined ? [kind] : [kind, identities])
}

function findKind(text: string): CaKind | undefined {
  return CA_KINDS.find((name) => name === text)
}

/** What the CAs need only beside another setting, or one or the other of, in the words of `findMissing`. */
export function findMissingLogin(env: Environment): string[] {
  const kinds = findCaKinds(env)
  const isHalf = isSet(env, 'SVC_ACME_EAB_KID') && !isSecretSet(env, 'SVC_ACME_EAB_KEY')
  const missing = findMissingToken(env, kinds)
  return kinds.has('acme') && isHalf ? [...missing, 'SVC_ACME_EAB_KEY'] : missing
}

function findMissingToken(env: Environment, kinds: ReadonlySet<CaKind>): string[] {
  if (!kinds.has('openbao')) return []
  if (!isSet(env, 'SVC_OPENBAO_ROLE_ID')) {
    return isSecretSet(env, 'SVC_OPENBAO_TOKEN') ? [] : ['SVC_OPENBAO_TOKEN']
  }
  return isSecretSet(env, 'SVC_OPENBAO_SECRET_ID') ? [] : ['SVC_OPENBAO_SECRET_ID']
}

/** Who signs identities, and all else where there is no ACME CA. Reads no file. `valueOf` knows the defaults. */
export function parseCaSettings(env: Environment, valueOf: (name: string) => string): CaSettings {
  const kind = parseIdentityKind(valueOf)
  if (kind === 'openbao') return parseOpenBao(env, valueOf)
  return {
    kind,
    provisionerKid: valueOf('SVC_CA_PROVISIONER_KID'),
    provisionerName: optional(env, 'SVC_CA_PROVISIONER_NAME'),
  }
}

function parseIdentityKind(valueOf: (name: string) => string): CaSettings['kind'] {
  const text = valueOf('SVC_CA_KIND')
  const kind = findKind(text)
  if (kind === undefined) throw invalid('SVC_CA_KIND', `${text} is none of ${CA_KINDS.join(', ')}`)
  if (kind !== 'acme') return kind
  const identities = valueOf('SVC_IDENTITY_CA_KIND')
  if (identities === 'step' || identities === 'openbao') return identities
  const why =
    identities === 'acme'
      ? 'an ACME CA signs names that are proved, and no identities of agents: step or openbao'
      : `${identities} is neither step nor openbao`
  throw invalid('SVC_IDENTITY_CA_KIND', why)
}

/** Undefined where all certificates are of one CA. Reads no file. */
export function parseAcmeSettings(
  env: Environment,
  valueOf: (name: string) => string,
): AcmeSettings | undefined {
  if (!findCaKinds(env).has('acme')) return undefined
  const directory = valueOf('SVC_ACME_DIRECTORY')
  const url = URL.canParse(directory) ? new URL(directory) : undefined
  if (url?.protocol !== 'https:') {
    throw invalid('SVC_ACME_DIRECTORY', `${directory} is not an https URL`)
  }
  const challenge = valueOf('SVC_ACME_CHALLENGE')
  const challengeType = CHALLENGES.find((type) => type === challenge)
  if (challengeType === undefined) {
    throw invalid('SVC_ACME_CHALLENGE', `${challenge} is neither dns-01 nor http-01`)
  }
  const hookPath = valueOf('SVC_ACME_HOOK')
  if (!isAbsolute(hookPath)) throw invalid('SVC_ACME_HOOK', `${hookPath} is not a whole path`)
  if (valueOf('SVC_IDENTITY_MATCH') === 'cn') {
    const why = 'who proves a name to an ACME CA gets a certificate for it: use identity'
    throw invalid('SVC_IDENTITY_MATCH', why)
  }
  return {
    directoryUrl: url,
    challengeType,
    hookPath,
    eabKid: optional(env, 'SVC_ACME_EAB_KID'),
    tlsRootPath: optional(env, 'SVC_ACME_TLS_ROOT_PATH'),
  }
}

/** Reads the files of the secrets. */
export function readAcmeConfig(
  env: Environment,
  settings: AcmeSettings | undefined,
): AcmeConfig | undefined {
  if (settings === undefined) return undefined
  const { eabKid: kid } = settings
  return {
    ...settings,
    accountKey: parseAccountKey(readSecret(env, 'SVC_ACME_ACCOUNT_KEY').reveal()),
    externalAccount: kid === undefined ? undefined : { kid, key: readMacKey(env) },
  }
}

function readMacKey(env: Environment): Secret<Buffer> {
  const name = 'SVC_ACME_EAB_KEY'
  const text = readSecret(env, name).reveal().trim().replace(/=+$/, '')
  if (/^[\w-]{16,1024}$/.test(text)) return new Secret(Buffer.from(text, 'base64url'))
  throw invalid(name, 'it is not base64url of at least 12 bytes')
}

function parseOpenBao(env: Environment, valueOf: (name: string) => string): OpenBaoSettings {
  const path = (name: string, pattern = PATH): string => {
    const text = valueOf(name).replaceAll(/^\/+|\/+$/g, '')
    if (pattern.test(text) && !text.split('/').some((part) => /^\.+$/.test(part))) return text
    throw invalid(name, `${text} is not a path such as pki or team/pki`)
  }
  const roleId = optional(env, 'SVC_OPENBAO_ROLE_ID')
  if (roleId !== undefined && isSecretSet(env, 'SVC_OPENBAO_TOKEN')) {
    throw invalid('SVC_OPENBAO_ROLE_ID', 'SVC_OPENBAO_TOKEN is set too: which of them is it?')
  }
  const loginMount = path('SVC_OPENBAO_LOGIN_MOUNT')
  const isNamespaced = isSet(env, 'SVC_OPENBAO_NAMESPACE')
  return {
    kind: 'openbao',
    mount: path('SVC_OPENBAO_MOUNT'),
    role: path('SVC_OPENBAO_ROLE', ROLE),
    namespace: isNamespaced ? path('SVC_OPENBAO_NAMESPACE') : undefined,
    tlsRootPath: optional(env, 'SVC_CA_TLS_ROOT_PATH'),
    appRole: roleId === undefined ? undefined : { mount: loginMount, roleId },
  }
}

/** Reads the files of the secrets. */
export function readCaConfig(env: Environment, settings: CaSettings): CaConfig {
  if (settings.kind === 'step') {
    const key = readSecret(env, 'SVC_CA_PROVISIONER_KEY').reveal()
    return { ...settings, provisionerKey: parseProvisionerKey(key) }
  }
  return { ...settings, login: readLogin(env, settings) }
}

function readLogin(env: Environment, { appRole }: OpenBaoSettings): OpenBaoLogin {
  if (appRole === undefined) {
    return { by: 'token', token: readHeaderSecret(env, 'SVC_OPENBAO_TOKEN') }
  }
  return { by: 'approle', ...appRole, secretId: readHeaderSecret(env, 'SVC_OPENBAO_SECRET_ID') }
}

/** A line break within would make another header of the rest. */
function readHeaderSecret(env: Environment, name: string): Secret<string> {
  const secret = readSecret(env, name)
  if (/^[\x21-\x7E]{1,4096}$/.test(secret.reveal())) return secret
  throw invalid(name, 'it is not one line of printable ASCII without blanks')
}

function optional(env: Environment, name: string): string | undefined {
  return isSet(env, name) ? env[name] : undefined
}

function isSet(env: Environment, name: string): boolean {
  return (env[name] ?? '') !== ''
}

function invalid(name: string, why: string): UserError {
  return new UserError('config_invalid', `${name}: ${why}`)
}
