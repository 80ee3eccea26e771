// Which hub a command is for: `--hub` and its companions, or their variables.

import { UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import { readNamedFile } from './read-named-file.ts'

export interface HubOptions {
  readonly hub?: string
  readonly tokenFile?: string
  readonly hubCa?: string
}

export interface RemoteHub {
  readonly url: URL
  readonly token: Secret<string>
  readonly tokenFile: string
  /** What it is trusted by; the system's store without it. */
  readonly caPem: string | undefined
}

export const CLI_VARIABLES = [
  {
    name: 'SVC_HUB',
    meaning: 'The admin port of a hub, as `--hub`: `https://hub.example.org:8445`.',
  },
  { name: 'SVC_HUB_TOKEN_FILE', meaning: 'The file of an admin token, as `--token-file`.' },
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

const FILE_BYTES_MAX = 256 * 1024
const ACCESS_TOKEN = /^svca_[A-Za-z0-9_-]{43}$/

/** Undefined when the vault on this machine is meant. An option wins over its variable. */
export function findRemoteHub(
  options: HubOptions,
  env: Environment,
  userId: number | undefined,
): RemoteHub | undefined {
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
  const tokenFile = options.tokenFile ?? env['SVC_HUB_TOKEN_FILE'] ?? ''
  if (tokenFile === '') {
    throw new UserError('usage', '--hub needs --token-file, or SVC_HUB_TOKEN_FILE', {
      hint: 'the file of an admin token, which svc admin token create makes on the hub',
    })
  }
  const caFile = options.hubCa ?? env['SVC_HUB_CA'] ?? ''
  return {
    url: parseHubUrl(address),
    token: readTokenFile(tokenFile, userId),
    tokenFile,
    caPem: caFile === '' ? undefined : readCaFile(caFile),
  }
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
