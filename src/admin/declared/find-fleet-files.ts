// The files of a fleet: those that are named, and those in directories that are named, at any depth. Bounded in number and size before
// anything is parsed.

import { hash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { UserError } from '../../platform/errors.ts'
import { readSmallFile } from '../../platform/small-file.ts'
import type { FleetForm } from './parse-fleet-text.ts'

export interface FleetFile {
  /** As it is opened, for messages. */
  readonly path: string
  readonly form: FleetForm
  readonly text: string
}

export interface FleetFiles {
  readonly files: readonly FleetFile[]
  /** Hex: SHA-256 of what `sha256sum` prints of the files, by name. */
  readonly sha256: string
}

const FORMS: Readonly<Record<string, FleetForm>> = {
  '.toml': 'toml',
  '.yaml': 'yaml',
  '.yml': 'yaml',
}
const FILES_MAX = 500
const FILE_BYTES_MAX = 1024 * 1024
const BYTES_MAX = 4 * 1024 * 1024
const DEPTH_MAX = 8
/** Of all names in a directory, those of other files too. */
const NAMES_MAX = 20_000

interface FoundFile {
  readonly path: string
  /** Below what was named; the same wherever that lies. */
  readonly name: string
}

export function readFleetFiles(named: readonly string[]): FleetFiles {
  const found = named.flatMap((path) => findFiles(path))
  if (found.length > FILES_MAX) {
    throw new UserError('fleet_too_large', `there are more than ${FILES_MAX} files of a fleet`)
  }
  let bytes = 0
  const files: FleetFile[] = []
  const sums: string[] = []
  for (const { path, name } of found) {
    const { text } = readSmallFile(path, FILE_BYTES_MAX)
    if (text.includes('\ufffd')) throw new UserError('file_invalid', `${path} is not UTF-8`)
    bytes += Buffer.byteLength(text)
    if (bytes > BYTES_MAX) {
      const most = `the files of a fleet have more than the ${BYTES_MAX} bytes allowed`
      throw new UserError('fleet_too_large', most)
    }
    files.push({ path, form: FORMS[extname(path)] ?? 'toml', text })
    sums.push(`${name}\0${hash('sha256', text, 'hex')}  ${name}\n`)
  }
  const lines = sums.toSorted().map((sum) => sum.slice(sum.indexOf('\0') + 1))
  return { files, sha256: hash('sha256', lines.join(''), 'hex') }
}

function findFiles(path: string): readonly FoundFile[] {
  if (!statSync(path).isDirectory()) {
    if (extname(path) in FORMS) return [{ path, name: basename(path) }]
    throw new UserError('file_invalid', `${path} is neither .toml nor .yaml nor .yml`)
  }
  const found = [...filesBelow(path, '', DEPTH_MAX)]
  if (found.length > 0) return found
  throw new UserError('file_invalid', `${path} has no .toml, .yaml or .yml file`)
}

/** By name. Symbolic links to directories are not followed, and hidden names are left out: `.git`, the files of editors. */
function* filesBelow(top: string, below: string, depth: number): Generator<FoundFile> {
  const entries = readdirSync(join(top, below), { withFileTypes: true })
  if (entries.length > NAMES_MAX) {
    throw new UserError('fleet_too_large', `${join(top, below)} has more than ${NAMES_MAX} names`)
  }
  const byName = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  for (const entry of byName) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) {
      if (depth === 0) {
        const message = `${join(top, name)} lies more than ${DEPTH_MAX} directories deep`
        throw new UserError('fleet_too_large', message)
      }
      yield* filesBelow(top, name, depth - 1)
    } else if (extname(entry.name) in FORMS) yield { path: join(top, name), name }
  }
}
