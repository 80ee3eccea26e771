// The files of a service's configuration. They are root's, but nobody promises that they are small, few, or files at all.

import { readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { readPlainFile } from './plain-file.ts'

export interface ConfigReader {
  /** Undefined when there is no such file, or none that can be read. */
  read(path: string): string | undefined
  /** The paths that a shell pattern stands for, in the order of their names; a path without one stands for itself. */
  expand(pattern: string): string[]
  /** Plain names in a directory; undefined when it is none. */
  list(directory: string): string[] | undefined
  /** The same name with the links of its directories resolved: two ways to one place are one. */
  place(path: string): string
}

const FILE_BYTES_MAX = 4 * 1024 * 1024
const FILES_MAX = 5000
const TOTAL_BYTES_MAX = 64 * 1024 * 1024
const NAMES_MAX = 20_000
const READS_MAX = 20_000
const LOOKS_MAX = 1_000_000

/**
 * It reads each file once. One for each service: what one of them includes is not taken from another's allowance. What is
 * asked for again counts again: a file that includes itself twice is read 65,536 times before it is too deep. For who asks
 * for a known number of files it does not have to (`countsAgain`).
 */
export function createConfigReader({ countsAgain = true } = {}): ConfigReader {
  const texts = new Map<string, string | undefined>()
  const directories = new Map<string, string[] | undefined>()
  const places = new Map<string, string>()
  let bytes = 0
  let names = 0
  let reads = 0
  let looks = 0
  const list = (directory: string): string[] | undefined => {
    if (directories.has(directory)) {
      const known = directories.get(directory)
      looks += countsAgain ? (known?.length ?? 1) : 0
      if (looks > LOOKS_MAX) throw tooMuch('looks into the same directories too often')
      return known
    }
    const found = namesIn(directory)
    directories.set(directory, found)
    names += found?.length ?? 0
    if (names > NAMES_MAX) throw tooMuch(`names more than ${NAMES_MAX} files`)
    return found
  }
  return {
    list,
    read(path) {
      reads += countsAgain ? 1 : 0
      if (reads > READS_MAX) throw tooMuch(`reads files more than ${READS_MAX} times`)
      if (texts.has(path)) {
        const known = texts.get(path)
        bytes += countsAgain ? (known?.length ?? 0) : 0
        if (bytes > TOTAL_BYTES_MAX) throw tooMuch(`has more than ${TOTAL_BYTES_MAX} bytes`)
        return known
      }
      if (texts.size === FILES_MAX) throw tooMuch(`has more than ${FILES_MAX} files`)
      const text = textOf(path)
      texts.set(path, text)
      bytes += text?.length ?? 0
      if (bytes > TOTAL_BYTES_MAX) throw tooMuch(`has more than ${TOTAL_BYTES_MAX} bytes`)
      return text
    },
    expand: (pattern) => expandPattern(pattern, list),
    place(path) {
      const directory = dirname(path)
      const known = places.get(directory) ?? realPathOf(directory)
      if (places.size < FILES_MAX) places.set(directory, known)
      return join(known, basename(path))
    },
  }
}

function namesIn(directory: string): string[] | undefined {
  try {
    return readdirSync(directory).sort()
  } catch (error) {
    if (errnoCode(error) === undefined) throw error
    return undefined
  }
}

function realPathOf(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory
  }
}

function textOf(path: string): string | undefined {
  try {
    return readPlainFile(path, FILE_BYTES_MAX).bytes.toString('utf8')
  } catch (error) {
    if (errnoCode(error) === undefined && !isNoFile(error)) throw error
    return undefined
  }
}

/** Throws nothing for a pattern that stands for nothing. */
export function expandPattern(
  pattern: string,
  list: (directory: string) => readonly string[] | undefined,
): string[] {
  if (!isAbsolute(pattern)) return []
  if (!isPattern(pattern)) return [pattern]
  const directory = dirname(pattern)
  const last = pattern.slice(directory === '/' ? 1 : directory.length + 1)
  const parents = isPattern(directory) ? expandPattern(directory, list) : [directory]
  const matcher = isPattern(last) ? matcherOf(last) : (name: string) => name === last
  return parents.flatMap((parent) =>
    (list(parent) ?? [])
      .filter((name) => (!name.startsWith('.') || last.startsWith('.')) && matcher(name))
      .map((name) => join(parent, name)),
  )
}

function isPattern(text: string): boolean {
  return /[*?[]/.test(text)
}

/** Greedy, and never back by more than the last star: no pattern makes it slow. */
function matcherOf(pattern: string): (name: string) => boolean {
  const steps = (pattern.match(/\*+|\?|\[[!^]?\]?[^\]]*\]|[^]/g) ?? []).map(stepOf)
  return (name) => {
    let [at, step, starAt, starStep] = [0, 0, 0, -1]
    while (at < name.length) {
      const current = steps[step]
      if (current === 'any') {
        starStep = step
        starAt = at
        step += 1
      } else if (current?.(name[at] ?? '') === true) {
        step += 1
        at += 1
      } else if (starStep >= 0) {
        step = starStep + 1
        starAt += 1
        at = starAt
      } else return false
    }
    return steps.slice(step).every((rest) => rest === 'any')
  }
}

type Step = 'any' | ((character: string) => boolean)

function stepOf(token: string): Step {
  if (token.startsWith('*')) return 'any'
  if (token === '?') return () => true
  if (token.length < 3 || !token.startsWith('[')) return (character) => character === token
  const isNegated = /^\[[!^]/.test(token)
  const members = token.slice(isNegated ? 2 : 1, -1)
  return (character) => isMember(members, character) !== isNegated
}

function isMember(members: string, character: string): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const [from = '', dash, to] = members.slice(at, at + 3)
    if (dash === '-' && to !== undefined) {
      if (character >= from && character <= to) return true
      at += 2
    } else if (from === character) return true
  }
  return false
}

function isNoFile(error: unknown): boolean {
  return error instanceof UserError && error.code === 'file_invalid'
}

function tooMuch(what: string): UserError {
  return new UserError('config_too_large', `the configuration ${what}`)
}
