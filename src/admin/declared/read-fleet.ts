// The files of a fleet as one declaration, or all that is wrong with them, each with file, line and key. docs/protocol.md DCL-1 to DCL-3.

import { UserError } from '../../platform/errors.ts'
import { didYouMean } from '../../platform/near-matches.ts'
import type { FleetDeclaration } from '../../protocol/admin/declared.ts'
import { type FleetFile, readFleetFiles } from './find-fleet-files.ts'
import { FLEET_TABLES, type FleetKey, type FleetTable } from './fleet-schema.ts'
import { isTable, ValueFault } from './fleet-values.ts'
import { type FleetText, FleetTextFault, parseFleetText } from './parse-fleet-text.ts'

export interface Fleet {
  readonly declaration: FleetDeclaration
  readonly filesSha256: string
  /** How many files said so. */
  readonly files: number
}

const PROBLEMS_SHOWN_MAX = 20
/** After so many nobody wants to know of more. */
const PROBLEMS_MAX = 200

type Path = readonly (string | number)[]

interface Problem {
  readonly path: string
  /** Looked for only when it is shown: a file may have a problem in each of its lines. */
  readonly line: () => number | undefined
  readonly reason: string
}

type Note = (reason: string, place?: Path) => void

/** Throws a UserError with a line for each problem. */
export function readFleet(named: readonly string[]): Fleet {
  const { files, sha256 } = readFleetFiles(named)
  const reader = new FleetReader()
  for (const file of files) reader.readFile(file)
  return { declaration: reader.finish(), filesSha256: sha256, files: files.length }
}

class FleetReader {
  readonly #problems: Problem[] = []
  readonly #declared: Record<string, Record<string, unknown>[]> = {}
  /** Where each object was first declared. */
  readonly #places = new Map<string, string>()

  readFile(file: FleetFile): void {
    const refuse = (reason: string, line: Problem['line'] = () => undefined): void => {
      this.#problems.push({ path: file.path, line, reason })
      if (this.#problems.length >= PROBLEMS_MAX) this.finish()
    }
    try {
      const parsed = parseFleetText(file.text, file.form)
      const note: Note = (reason, place) =>
        refuse(reason, () => (place === undefined ? undefined : lineOf(parsed, place)))
      // An empty document of YAML.
      if (parsed.value === null || parsed.value === undefined) return
      if (isTable(parsed.value)) this.#readTables(file, parsed.value, note)
      else note('should be a table of kinds')
    } catch (error) {
      if (!(error instanceof FleetTextFault)) throw error
      refuse(error.message, () => error.line)
    }
  }

  finish(): FleetDeclaration {
    const problems = this.#problems
    if (problems.length === 0) return this.#declared
    const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map(({ path, line: findLine, reason }) => {
      const line = findLine()
      return `${path}${line === undefined ? '' : `:${line}`}: ${reason}`
    })
    const more = problems.length - shown.length
    if (more > 0) shown.push(`and ${problems.length < PROBLEMS_MAX ? more : 'many'} more`)
    throw new UserError('fleet_invalid', shown.join('\n'), {
      hint: 'nothing was done; svc plan --help shows the keys of each kind',
    })
  }

  #readTables(file: FleetFile, value: Readonly<Record<string, unknown>>, note: Note): void {
    for (const [word, objects] of Object.entries(value)) {
      const table = FLEET_TABLES.find(({ words }) => words.includes(word))
      if (table === undefined) {
        const known = FLEET_TABLES.map(({ words: [first] }) => first)
        note(unknownKey(word, known), [word])
      } else if (!Array.isArray(objects)) {
        note(`${word} should be a list: [[${word}]] in TOML`, [word])
      } else {
        for (const [at, object] of objects.entries()) {
          this.#readObject(file, table, object, [word, at], note)
        }
      }
    }
  }

  #readObject(file: FleetFile, table: FleetTable, object: unknown, place: Path, note: Note): void {
    const [word] = table.words
    if (!isTable(object)) return note(`${word} should be a table of keys`, place)
    const name = nameOf(table, object)
    const label = name === undefined ? word : `${word} ${name}`
    const wire: Record<string, unknown> = {}
    for (const [given, value] of Object.entries(object)) {
      const key = table.keys.find(({ words }) => words.includes(given))
      const at = [...place, given]
      if (key === undefined) {
        note(
          `${label}: ${unknownKey(
            given,
            table.keys.map(({ words: [first] }) => first),
          )}`,
          at,
        )
      } else if (key.wire in wire) {
        note(`${label}: ${given} is ${key.words[0]} once more`, at)
      } else {
        wire[key.wire] = readValue(key, value, (reason) => note(`${label}: ${given} ${reason}`, at))
      }
    }
    for (const { words, wire: field, isRequired } of table.keys) {
      if (isRequired && !(field in wire)) note(`${label}: ${words[0]} is missing`, place)
    }
    if (name !== undefined) this.#notePlace(`${word} ${name}`, file.path, note, place)
    ;(this.#declared[table.plural] ??= []).push(wire)
  }

  #notePlace(label: string, path: string, note: Note, place: Path): void {
    const first = this.#places.get(label)
    if (first !== undefined) note(`${label} stands in ${first} already`, place)
    else this.#places.set(label, path)
  }
}

/** Of what stands there, or else of what that would stand in. */
function lineOf(text: FleetText, place: Path): number | undefined {
  return text.lineOf(place) ?? (place.length > 1 ? text.lineOf(place.slice(0, -1)) : undefined)
}

function readValue(key: FleetKey, value: unknown, refuse: (reason: string) => void): unknown {
  try {
    return key.read(value)
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error
    refuse(error.message)
    return undefined
  }
}

function nameOf(
  { keys: [{ words }] }: FleetTable,
  object: Readonly<Record<string, unknown>>,
): string | undefined {
  const name = words.map((word) => object[word]).find((value) => value !== undefined)
  return typeof name === 'string' ? name : undefined
}

function unknownKey(given: string, known: readonly string[]): string {
  const near = didYouMean(given, known)
  return `unknown key ${JSON.stringify(given.slice(0, 80))}: ${near ?? `the keys are ${known.join(', ')}`}`
}
