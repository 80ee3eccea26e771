// Which CA the hub has, and how it reaches it. docs/protocol.md CAX-15.

import { UserError } from '../platform/errors.ts'
import type { Secret } from '../platform/secret.ts'
import { parseProvisionerKey, type ProvisionerKey } from './ca/provisioner-key.ts'
import type { OpenBaoLogin } from './ca/openbao/openbao-login.ts'
import { CA_KINDS, type CaKind } from './hub-variables.ts'
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

/** Undefined where the text names none. */
export function findCaKind(text: string): CaKind | undefined {
  return CA_KINDS.find((name) => name === text)
}

/** What a CA of this kind needs one or the other of, in the words of `findMissing`. */
export function findMissingLogin(env: Environment, kind: CaKind | undefined): string[] {
  if (kind !== 'openbao') return []
  if (!isSet(env, 'SVC_OPENBAO_ROLE_ID')) {
    return isSecretSet(env, 'SVC_OPENBAO_TOKEN') ? [] : ['SVC_OPENBAO_TOKEN']
  }
  return isSecretSet(env, 'SVC_OPENBAO_SECRET_ID') ? [] : ['SVC_OPENBAO_SECRET_ID']
}

/** Reads no file. `valueOf` knows the defaults. */
export function parseCaSettings(env: Environment, valueOf: (name: string) => string): CaSettings {
  const text = valueOf('SVC_CA_KIND')
  const kind = findCaKind(text)
  if (kind === undefined) {
    throw invalid('SVC_CA_KIND', `${text} is none of ${CA_KINDS.join(', ')}`)
  }
  if (kind === 'openbao') return parseOpenBao(env, valueOf)
  return {
    kind,
    provisionerKid: valueOf('SVC_CA_PROVISIONER_KID'),
    provisionerName: optional(env, 'SVC_CA_PROVISIONER_NAME'),
  }
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
