// Which hub a command is for: `--hub` and its companions, or their variables; and what it is asked with. docs/protocol.md API-20, OID-36.

import { UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import { signInAgain } from './hints.ts'
import type { KeptLogin } from './kept-login.ts'
import type { KeptLogins } from './kept-logins.ts'
import { readNamedFile } from './read-named-file.ts'
import { isSameRoot } from './same-root.ts'

export interface HubOptions {
  readonly hub?: string
  readonly tokenFile?: string
  readonly hubCa?: string
}

/** Where a hub is, and what it is trusted by; the system's store without a root. */
export interface HubAddress {
  readonly url: URL
  readonly caPem: string | undefined
}

export interface RemoteHub extends HubAddress {
  readonly token: Secret<string>
  readonly from: TokenSource
}

/** Where svc has a token from: a file that is named, or a login. */
export type TokenSource = { readonly file: string } | { readonly login: KeptLogin }

export const CLI_VARIABLES = [
  {
    name: 'SVC_HUB',
    meaning: 'The admin port of a hub, as `--hub`: `https://hub.example.org:8445`.',
  },
  {
    name: 'SVC_HUB_TOKEN_FILE',
    meaning:
      'The file of an admin token, as `--token-file`; without either, `svc` uses the login that `svc login` made at that hub.',
  },
  {
    name: 'SVC_HUB_CA',
    meaning: 'The PEM file of the root by which `svc` trusts the hub, as `--hub-ca`.',
  },
  {
    name: 'SVC_LANG',
    meaning: '`en` (default) or `pt`: in which language `svc` prints headings, labels and states.',
  },
] as const

type Environment = Readonly<Record<string, string | undefined>>

export interface FindSurroundings {
  readonly env: Environment
  readonly userId: number | undefined
  readonly logins: Pick<KeptLogins, 'find'>
  readonly now: Date
}

const FILE_BYTES_MAX = 256 * 1024
const ACCESS_TOKEN = /^svca_[A-Za-z0-9_-]{43}$/

/** Undefined when the vault on this machine is meant. An option wins over its variable, and either over a login. */
export function findRemoteHub(
  options: HubOptions,
  { env, userId, logins, now }: FindSurroundings,
): RemoteHub | undefined {
  const address = findHubAddress(options, env)
  if (address === undefined) return undefined
  const tokenFile = options.tokenFile ?? env['SVC_HUB_TOKEN_FILE'] ?? ''
  if (tokenFile === '') return withLogin(address, logins.find(address.url), now)
  return { ...address, token: readTokenFile(tokenFile, userId), from: { file: tokenFile } }
}

/** The hub alone, whether or not there is something to ask it with. */
export function findHubAddress(options: HubOptions, env: Environment): HubAddress | undefined {
  const address = options.hub ?? env['SVC_HUB'] ?? ''
  if (address === '') {
    const [stray] = Object.entries({ '--token-file': options.tokenFile, '--hub-ca': options.hubCa })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => name)
    if (stray === undefined) return undefined
    throw new UserError('usage', `${stray} goes with --hub`, {
      hint: 'svc --hub https://hub.example.org:8445 --token-file <file> …',
    })
  }
  const caFile = options.hubCa ?? env['SVC_HUB_CA'] ?? ''
  return {
    url: parseHubUrl(address),
    caPem: caFile === '' ? undefined : readCaFile(caFile),
  }
}

/** A login goes to no hub but the one that made it, by the root that svc knew it by. */
function withLogin({ url, caPem }: HubAddress, login: KeptLogin | undefined, now: Date): RemoteHub {
  if (login === undefined) {
    throw new UserError('signed_out', `nobody is signed in at ${url.origin}`, {
      hint: `${signInAgain(url.origin)} signs you in; --token-file (SVC_HUB_TOKEN_FILE) names the file of an admin token`,
    })
  }
  if (caPem !== undefined && !isSameRoot(caPem, login.caPem)) {
    throw new UserError('login_of_other_root', `--hub-ca is another root than that of the login`, {
      hint: `${signInAgain(url.origin)} --hub-ca <file> signs in by that root; without --hub-ca svc takes the root of the login`,
    })
  }
  if (login.expiresAt <= now) throw loginEnded(login)
  return { url, caPem: login.caPem, token: login.token, from: { login } }
}

function loginEnded({ hub, name, expiresAt }: KeptLogin): UserError {
  return new UserError(
    'login_ended',
    `the login of ${name} at ${hub} ended at ${expiresAt.toISOString()}`,
    { hint: `sign in again: ${signInAgain(hub)}` },
  )
}

function parseHubUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url !== undefined && url.pathname === '/' && `${url.search}${url.hash}${url.username}` === ''
  if (isPlain && url.protocol === 'https:') return url
  throw new UserError('hub_url_invalid', `--hub: ${text} is not an https URL of a host and port`, {
    hint: 'write it as https://hub.example.org:8445',
  })
}

/** A file that others may read has told its token to them; one that others own could be any. */
function readTokenFile(path: string, userId: number | undefined): Secret<string> {
  const { text, stats } = readNamedFile('--token-file', path, FILE_BYTES_MAX)
  const isOurs = stats.uid === 0 || stats.uid === userId
  if (!isOurs || (stats.mode & 0o077) !== 0) {
    throw new UserError(
      'token_file_exposed',
      `--token-file: ${path} is ${isOurs ? 'open to others' : 'owned by somebody else'}`,
      { hint: `chmod 600 ${path}, as its owner; if others could read it, revoke the token` },
    )
  }
  if (ACCESS_TOKEN.test(text.trim())) return new Secret(text.trim())
  throw new UserError('token_file_invalid', `--token-file: ${path} holds no admin token`, {
    hint: 'it is one line that begins with svca_, as svc admin token create prints it',
  })
}

function readCaFile(path: string): string {
  const { text } = readNamedFile('--hub-ca', path, FILE_BYTES_MAX)
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new UserError('hub_ca_invalid', `--hub-ca: ${path} holds no PEM certificate`)
}
