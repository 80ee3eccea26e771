// What `enroll` was told, written where the settings file leaves it empty: the service that starts next is told the same.

import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { UserError } from '../../platform/errors.ts'
import { replaceFile } from '../../platform/files.ts'
import { parseSettings, SETTINGS_BYTES_MAX } from '../../platform/settings-file.ts'
import { readSmallFile } from '../../platform/small-file.ts'
import type { AgentVariableName } from './agent-variables.ts'

/** No secret is one of them: others may read the file. */
export const KEPT_SETTINGS = [
  'SVC_SERVER_URL',
  'SVC_SERVER_MTLS_URL',
  'SVC_AGENT_HOSTNAME',
  'SVC_AGENT_ROLE',
] as const satisfies readonly AgentVariableName[]

const PLAIN = /^[\w./:@%+,=[\]-]+$/

export interface FilledSettings {
  readonly text: string
  /** The names that were empty, or not there. */
  readonly filled: readonly string[]
  /** The names of which the file says something else: it is what a service reads. */
  readonly different: readonly string[]
}

/**
 * Changes no value that the file has (docs/protocol.md AGV-31). `text` is a file as ENV-33 has it; throws a UserError for a
 * line that is none, and where what is written would be read as anything else than it is.
 */
export function fillSettings(
  text: string,
  given: Readonly<Record<string, string | undefined>>,
  path: string,
): FilledSettings {
  const present = parseSettings(text, path)
  const lines = text.split('\n')
  const filled: string[] = []
  const different: string[] = []
  for (const name of KEPT_SETTINGS) {
    const value = given[name] ?? ''
    const own = present[name] ?? ''
    if (value !== '' && own !== '' && own !== value) different.push(name)
    if (value === '' || own !== '') continue
    const assignment = `${name}=${quote(value)}`
    // The last one counts; a commented one shows where it belongs.
    const empty = lines.findLastIndex((line) => line.trim() === `${name}=`)
    const at = empty === -1 ? lines.findLastIndex((line) => line.trim() === `#${name}=`) : empty
    if (at === -1) lines.splice(lines.at(-1) === '' ? -1 : lines.length, 0, assignment)
    else lines[at] = assignment
    filled.push(name)
  }
  const full = lines.join('\n')
  const wanted = filled.map((name) => [name, given[name]] as const)
  // A line that goes on, or a value with a line break: whatever it is, nothing else may be read in it.
  if (
    filled.length > 0 &&
    !hasSettings(full, { ...present, ...Object.fromEntries(wanted) }, path)
  ) {
    throw new UserError('settings_unfit', `${filled.join(', ')} cannot be written into ${path}`, {
      hint: 'a value is one line; a line that ends in a backslash goes on in the next; the file is UTF-8',
    })
  }
  return { text: full, filled, different }
}

function hasSettings(
  text: string,
  settings: Readonly<Record<string, string | undefined>>,
  path: string,
): boolean {
  // Bytes that are no text would be lost.
  if (text.includes('\ufffd')) return false
  try {
    return isDeepStrictEqual(parseSettings(text, path), settings)
  } catch {
    return false
  }
}

/** Of the administrator's file; undefined when there is none. Its owner and mode stay those of a settings file: root's, 0644. */
export async function fillSettingsFile(
  path: string,
  given: Readonly<Record<string, string | undefined>>,
): Promise<Omit<FilledSettings, 'text'> | undefined> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined
  const { text: before, stats } = readSmallFile(path, SETTINGS_BYTES_MAX)
  const { text, ...names } = fillSettings(before, given, path)
  if (names.filled.length > 0) await replaceFile(path, text, stats.mode & 0o777)
  return names
}

function quote(value: string): string {
  return PLAIN.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
