// The URL of SVC_DATABASE_URL: the servers of the database, as whom the hub comes, and how a server proves that it is one of them. No file
// is read. docs/protocol.md DBS-1 to DBS-4.

import { isIP } from 'node:net'
import { didYouMean } from '../../../platform/near-matches.ts'
import { Secret } from '../../../platform/secret.ts'

export interface DatabaseHost {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
}

export interface DatabaseUrl {
  /** In the order in which they are asked. */
  readonly hosts: readonly DatabaseHost[]
  readonly database: string
  readonly user: string
  readonly password: Secret<string> | undefined
  /** Undefined only where nobody is on the way: loopback, a Unix socket. */
  readonly tls: DatabaseTlsFiles | undefined
}

export interface DatabaseTlsFiles {
  /** Undefined: the system's roots. */
  readonly rootsPath: string | undefined
  /** By which the hub shows who it is. */
  readonly client: { readonly certificatePath: string; readonly keyPath: string } | undefined
}

/**
 * Why a URL is none. It quotes nothing but the names of parameters: a password that is not percent-encoded could be in any other part
 * of what was read.
 */
export interface DatabaseUrlFault {
  readonly fault: string
}

const CHARACTERS_MAX = 8192
const HOSTS_MAX = 8
const DEFAULT_PORT = 5432
const PARAMETERS = ['host', 'port', 'user', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const
const EXAMPLE = 'postgresql://svc@db1,db2/cartorio?sslmode=verify-full'
const SCHEME = /^postgres(?:ql)?:\/\//
/** What follows the user and the password: hosts, database, parameters. */
const REST = /^(?<hosts>[^/?#]*)(?:\/(?<database>[^/?#]*))?(?:\?(?<query>[^#]*))?$/
const HOST_AND_PORT = /^(?:\[(?<address>[^\]]*)\]|(?<name>[^:[\]]*))(?::(?<port>[^:]*))?$/
const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?$/

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>

export function parseDatabaseUrl(text: string): DatabaseUrl | DatabaseUrlFault {
  const parts = splitUrl(text)
  if (isFault(parts)) return parts
  const parameters = readParameters(parts.query)
  if (isFault(parameters)) return parameters
  const credentials = readCredentials(parts.credentials, parameters)
  if (isFault(credentials)) return credentials
  const database = decode(parts.database)
  if (database === undefined || database === '') {
    return fault(`it names no database, as ${EXAMPLE} does`)
  }
  const hosts = readHosts(parts.hosts, parameters)
  if (isFault(hosts)) return hosts
  const tls = decideTls(hosts.hosts, parameters)
  if (isFault(tls)) return tls
  return { ...hosts, ...credentials, database, ...tls }
}

export function isFault(value: object): value is DatabaseUrlFault {
  return 'fault' in value
}

/** Nobody but this machine hears what is said there. */
export function isSocketDirectory(host: string): boolean {
  return host.startsWith('/')
}

/** As people write it. */
export function showHost({ host, port }: DatabaseHost): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

function fault(words: string): DatabaseUrlFault {
  return { fault: words }
}

interface UrlParts {
  readonly credentials: string | undefined
  readonly hosts: string
  readonly database: string
  readonly query: string
}

function splitUrl(text: string): UrlParts | DatabaseUrlFault {
  if (text.length > CHARACTERS_MAX) return fault(`it has more than ${CHARACTERS_MAX} characters`)
  if (!SCHEME.test(text)) return fault(`it is not a URL such as ${EXAMPLE}`)
  const [credentials, rest, ...more] = text.replace(SCHEME, '').split('@')
  const isLoose = rest !== undefined && /[/?#]/.test(credentials ?? '')
  if (more.length > 0 || isLoose) {
    return fault('@ / ? # in it must be percent-encoded, also in the password (%40 %2F %3F %23)')
  }
  const groups = REST.exec(rest ?? credentials ?? '')?.groups
  if (groups === undefined) return fault(`it is not a URL such as ${EXAMPLE}`)
  return {
    credentials: rest === undefined ? undefined : credentials,
    hosts: groups['hosts'] ?? '',
    database: groups['database'] ?? '',
    query: groups['query'] ?? '',
  }
}

function readParameters(query: string): Parameters | DatabaseUrlFault {
  const known: Parameters = {}
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('='))
  if (pairs.some(([name]) => name === 'password')) {
    return fault(
      'the password belongs before the @, as in postgresql://user:password@host/database',
    )
  }
  for (const [name = '', raw, ...more] of pairs) {
    const parameter = PARAMETERS.find((each) => each === name)
    if (parameter === undefined) return fault(describeUnknown(name))
    const value = decode(raw ?? '')
    if (value === undefined || value === '' || more.length > 0) {
      return fault(`the parameter ${parameter} has no value, or one that is not percent-encoded`)
    }
    if (known[parameter] !== undefined) return fault(`the parameter ${parameter} is there twice`)
    known[parameter] = value
  }
  return known
}

function describeUnknown(name: string): string {
  if (!/^\w{1,40}$/.test(name)) return 'it has a parameter without a proper name'
  const meant = didYouMean(name, PARAMETERS) ?? `it may have ${PARAMETERS.join(', ')}`
  return `it has a parameter ${name} that the hub does not know; ${meant}`
}

function readCredentials(
  text: string | undefined,
  { user: named }: Parameters,
): Pick<DatabaseUrl, 'user' | 'password'> | DatabaseUrlFault {
  const colon = (text ?? '').indexOf(':')
  const user = decode(colon < 0 ? (text ?? '') : (text ?? '').slice(0, colon))
  const password = colon < 0 ? '' : decode((text ?? '').slice(colon + 1))
  if (user === undefined || password === undefined) {
    return fault('user or password are not percent-encoded (a % itself is %25)')
  }
  if (user !== '' && named !== undefined) return fault('it names a user twice')
  const name = user === '' ? named : user
  if (name === undefined) return fault(`it names no user, as ${EXAMPLE} does`)
  return { user: name, password: password === '' ? undefined : new Secret(password) }
}

function readHosts(
  authority: string,
  { host: named, port }: Parameters,
): Pick<DatabaseUrl, 'hosts'> | DatabaseUrlFault {
  if (authority !== '' && (named ?? port) !== undefined) {
    return fault('host and port are parameters only where the URL names no host before them')
  }
  const texts = (named ?? authority).split(',')
  if (texts.length > HOSTS_MAX) return fault(`it names more than ${HOSTS_MAX} hosts`)
  const hosts: DatabaseHost[] = []
  for (const [index, text] of texts.entries()) {
    const host = named === undefined ? readHostAndPort(text) : readHost(text, port)
    if (host === undefined) {
      return fault(`host ${index + 1} is not a name or an address with a port, such as db1:5432`)
    }
    hosts.push(host)
  }
  return { hosts }
}

function readHostAndPort(text: string): DatabaseHost | undefined {
  const groups = HOST_AND_PORT.exec(text)?.groups
  if (groups === undefined) return undefined
  const address = groups['address']
  if (address === undefined) return readHost(decode(groups['name'] ?? '') ?? '', groups['port'])
  const host = decode(address) ?? ''
  return isIP(host) === 6 ? readHost(host, groups['port']) : undefined
}

function readHost(host: string, portText: string | undefined): DatabaseHost | undefined {
  const port = portText === undefined ? DEFAULT_PORT : Number(portText)
  const isPort = /^\d{1,5}$/.test(portText ?? '0') && port >= 1 && port <= 65_535
  const isHost = isSocketDirectory(host) || isIP(host) !== 0 || NAME.test(host)
  return isPort && isHost ? { host, port } : undefined
}

const LESS = ['allow', 'prefer', 'require', 'verify-ca']

function decideTls(
  hosts: readonly DatabaseHost[],
  { sslmode, sslrootcert, sslcert, sslkey }: Parameters,
): Pick<DatabaseUrl, 'tls'> | DatabaseUrlFault {
  const isAllHere = hosts.every(({ host }) => isHere(host))
  const mode = sslmode ?? (isAllHere ? 'disable' : 'verify-full')
  if (mode === 'disable') {
    if (!isAllHere) return fault('sslmode=disable is for loopback and Unix sockets: verify-full')
    const surplus = sslrootcert ?? sslcert ?? sslkey
    return surplus === undefined
      ? { tls: undefined }
      : fault('sslrootcert, sslcert and sslkey need sslmode=verify-full')
  }
  if (LESS.includes(mode)) {
    return fault(
      `sslmode=${mode} is less than verify-full: anybody on the way could be the database`,
    )
  }
  if (mode !== 'verify-full') return fault('sslmode is verify-full, or disable on this machine')
  if ((sslcert === undefined) !== (sslkey === undefined)) {
    return fault('sslcert and sslkey go together')
  }
  const client =
    sslcert === undefined || sslkey === undefined
      ? undefined
      : { certificatePath: sslcert, keyPath: sslkey }
  return { tls: { rootsPath: sslrootcert === 'system' ? undefined : sslrootcert, client } }
}

function isHere(host: string): boolean {
  if (isSocketDirectory(host) || host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}

/** Undefined for what is not percent-encoded, and for what no server takes. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    // A NUL ends a text on the wire.
    return decoded.includes('\0') ? undefined : decoded
  } catch {
    // URIError: a % that begins nothing.
    return undefined
  }
}
