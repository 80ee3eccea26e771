// The file with a program's settings, read as systemd reads an EnvironmentFile=: a command that root types does what the unit does.
// docs/protocol.md ENV-33.

import { resolve } from 'node:path'
import { describeError, errnoCode, UserError } from './errors.ts'
import { describeStrangers, findPathHands } from './path-hands.ts'
import { readSmallFile } from './small-file.ts'

type Variables = Readonly<Record<string, string | undefined>>

export interface SettingsPlaces {
  /** The package's own settings, which the next file overrules. */
  readonly packagePath: string
  /** The administrator's; need not exist. */
  readonly path: string
}

export const SETTINGS_BYTES_MAX = 1024 * 1024
const ASSIGNMENT = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/
const COMMENT = /^\s*([#;]|$)/

/** `named` is read in place of the administrator's file, and has to exist. The environment wins over both files. */
export function withSettingsOf(
  env: Variables,
  { packagePath, path }: SettingsPlaces,
  named: string | undefined,
): Record<string, string | undefined> {
  const own = readIfOurs(packagePath)
  const given = named === undefined ? readIfOurs(path) : readNamed(resolve(named))
  const settings = { ...own, ...given }
  for (const name of Object.keys(settings)) {
    // A secret comes as NAME or in NAME_FILE, of which NAME counts: also the file of the environment wins over a NAME here.
    if ((env[`${name}_FILE`] ?? '') !== '') delete settings[name]
  }
  return { ...settings, ...env }
}

function readNamed(path: string): Record<string, string> {
  try {
    return read(path)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('settings_unreadable', `--config: ${describeError(error)}`, {
      cause: error,
    })
  }
}

/** Nothing where there is no such file, or where only others may read it: they get its settings from a service manager. */
function readIfOurs(path: string): Record<string, string> {
  try {
    return read(path)
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return {}
    throw error
  }
}

function read(path: string): Record<string, string> {
  refuseForeign(path)
  return parseSettings(readSmallFile(path, SETTINGS_BYTES_MAX).text, path)
}

/** What root reads, root alone writes: settings say where keys are and what is trusted. */
function refuseForeign(path: string): void {
  if (process.geteuid?.() !== 0) return
  const hands = findPathHands(path)
  const stranger = describeStrangers(hands)
  const owner = hands.end?.uid ?? 0
  if (stranger === undefined && owner === 0) return
  throw new UserError(
    'settings_unsafe',
    `${path} can be changed by ${stranger ?? `user ${owner}`}: root takes no settings from it`,
    { hint: `chown root: ${path}; chmod go-w ${path}` },
  )
}

/** Nothing is expanded. Quotes around a whole value go; a backslash takes the next character as it is. */
export function parseSettings(text: string, path: string): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const { line, number } of joinContinued(text)) {
    if (COMMENT.test(line)) continue
    const [, name, value = ''] = ASSIGNMENT.exec(line) ?? []
    if (name === undefined) {
      throw new UserError('settings_invalid', `${path}, line ${number}: not NAME=value`, {
        hint: 'no `export`, and no blank before the equals sign',
      })
    }
    settings[name] = unquote(value.trim())
  }
  return settings
}

function* joinContinued(text: string): Generator<{ line: string; number: number }> {
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const number = at + 1
    let line = lines[at] ?? ''
    while (line.endsWith('\\') && !COMMENT.test(line) && at + 1 < lines.length) {
      at += 1
      line = `${line.slice(0, -1)} ${lines[at] ?? ''}`
    }
    yield { line, number }
  }
}

function unquote(value: string): string {
  const single = /^'([^']*)'$/.exec(value)?.[1]
  if (single !== undefined) return single
  return value.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1')
}
