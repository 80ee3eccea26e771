// Where the logins of this person are: a file for each hub that only its owner can read. docs/protocol.md OID-34, OID-35.

import { mkdirSync, readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { errnoCode, describeError, UserError } from '../../platform/errors.ts'
import { removeIfPresent, replaceFile, syncDirectory } from '../../platform/files.ts'
import { findPathHands } from '../../platform/path-hands.ts'
import { quoteForShell } from '../../platform/quote-for-shell.ts'
import { readSmallFile, type SmallFile } from '../../platform/small-file.ts'
import { type KeptLogin, parseKeptLogin, renderKeptLogin } from './kept-login.ts'

export interface KeptLogins {
  /** Undefined where there is none; throws for one that others may have read or written. */
  find(hub: URL): KeptLogin | undefined
  list(): ListedLogins
  /** Makes the directory; throws where nothing may be kept. */
  prepare(): void
  /** Answers the path of the file. */
  keep(login: KeptLogin): Promise<string>
  forget(hub: URL): Promise<void>
}

export interface ListedLogins {
  readonly logins: readonly KeptLogin[]
  /** What `find` would throw of each of the others: a file that is no good keeps nobody from a login at another hub. */
  readonly refused: readonly UserError[]
}

const FILE_BYTES_MAX = 512 * 1024
const LOGINS_MAX = 100
const OF_OTHERS = 0o077
const SUFFIX = '.json'

export function openKeptLogins(
  env: Readonly<Record<string, string | undefined>>,
  userId: number | undefined = process.geteuid?.(),
): KeptLogins {
  const directory = directoryOf(env)
  const find = (hub: URL): KeptLogin | undefined => {
    if (directory === undefined) return undefined
    const path = join(directory, fileNameOf(hub))
    const login = readLogin(path, userId)
    if (login === undefined || login.hub === hub.origin) return login
    throw damaged(path)
  }
  const prepare = (): string => {
    if (directory === undefined) {
      throw new UserError('logins_nowhere', 'svc has no place for a login', {
        hint: 'set HOME, or XDG_CONFIG_HOME to the path of a directory',
      })
    }
    return makeDirectory(directory, userId)
  }
  return {
    find,
    list: () => {
      if (directory === undefined) return { logins: [], refused: [] }
      return readAll(directory, listNames(directory).slice(0, LOGINS_MAX), userId)
    },
    prepare: () => void prepare(),
    keep: async (login) => {
      const path = join(prepare(), fileNameOf(new URL(login.hub)))
      await replaceFile(path, renderKeptLogin(login), 0o600)
      return path
    },
    forget: async (hub) => {
      if (directory === undefined) return
      await removeIfPresent(join(directory, fileNameOf(hub)))
      await syncDirectory(directory)
    },
  }
}

/** https://specifications.freedesktop.org/basedir-spec: a relative one does not count. */
function directoryOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_CONFIG_HOME: configured = '', HOME: home = '' } = env
  if (isAbsolute(configured)) return join(configured, 'cartorio', 'logins')
  return home === '' ? undefined : join(home, '.config', 'cartorio', 'logins')
}

/** An IPv6 address has no colons there: some file systems take none. */
function fileNameOf({ hostname, port }: URL): string {
  const host = hostname.replaceAll(/[[\]]/g, '').replaceAll(':', '-')
  return `${host}_${port === '' ? '443' : port}${SUFFIX}`
}

/** A user who can write there, or replace a step of the way, could give a person another login than their own. */
function makeDirectory(directory: string, userId: number | undefined): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new UserError('logins_unwritable', `cannot keep a login: ${describeError(error)}`, {
      cause: error,
      hint: 'XDG_CONFIG_HOME (default ~/.config) is where svc keeps it, below cartorio/',
    })
  }
  const { end, hands } = findPathHands(directory)
  if (end?.uid !== userId) {
    throw exposed(directory, 'owned by somebody else', 'run svc as the person who signs in')
  }
  if ((end?.mode ?? 0) & OF_OTHERS) {
    throw exposed(directory, 'open to others', `chmod 700 ${quoteForShell(directory)}`)
  }
  const stranger = [...hands].find((hand) => hand !== userId)
  if (stranger === undefined) return directory
  const who = stranger === 'anyone' ? 'others' : `user ${stranger}`
  throw exposed(
    directory,
    `below a directory in which ${who} can write`,
    'chmod go-w that directory, or name another one with XDG_CONFIG_HOME',
  )
}

function exposed(directory: string, why: string, hint: string): UserError {
  return new UserError('logins_exposed', `svc keeps no login in ${directory}: it is ${why}`, {
    hint,
  })
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'))
      .sort()
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return []
    throw error
  }
}

function readAll(
  directory: string,
  names: readonly string[],
  userId: number | undefined,
): ListedLogins {
  const logins: KeptLogin[] = []
  const refused: UserError[] = []
  for (const name of names) {
    const path = join(directory, name)
    try {
      const login = readLogin(path, userId)
      if (login === undefined) continue
      if (isNameOf(name, login)) logins.push(login)
      else refused.push(damaged(path))
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      refused.push(error)
    }
  }
  return { logins, refused }
}

function isNameOf(name: string, { hub }: KeptLogin): boolean {
  if (!URL.canParse(hub)) return false
  const url = new URL(hub)
  return url.protocol === 'https:' && url.origin === hub && fileNameOf(url) === name
}

function readLogin(path: string, userId: number | undefined): KeptLogin | undefined {
  const file = readIfPresent(path)
  if (file === undefined) return undefined
  const { text, stats } = file
  if (stats.uid !== userId || (stats.mode & OF_OTHERS) !== 0) {
    const why = stats.uid === userId ? 'open to others' : 'owned by somebody else'
    throw new UserError('login_exposed', `the login in ${path} is ${why}`, {
      hint: `rm ${quoteForShell(path)}, and sign in again; if others could read it, svc admin token revoke ends it`,
    })
  }
  const login = parseKeptLogin(text)
  if (login !== undefined) return login
  throw damaged(path)
}

function readIfPresent(path: string): SmallFile | undefined {
  try {
    return readSmallFile(path, FILE_BYTES_MAX)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT' || errnoCode(error) === 'ENOTDIR') return undefined
    throw new UserError('login_unreadable', `cannot read a login: ${describeError(error)}`, {
      cause: error,
      hint: removeAndSignIn(path),
    })
  }
}

function damaged(path: string): UserError {
  return new UserError('login_invalid', `${path} is damaged, or of a newer version of svc`, {
    hint: removeAndSignIn(path),
  })
}

function removeAndSignIn(path: string): string {
  return `rm ${quoteForShell(path)}, and sign in again`
}
