// A target's TOML. The parser checks the whole file before any part counts, coerces nothing, and refuses unknown keys.

import { hash } from 'node:crypto'
import { isAbsolute } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { KEY_TYPES } from '../../pki/keys.ts'
import { type ArtefactName, parseArtefactName } from '../../protocol/identifiers.ts'
import { parseTargetFile } from './parse-targets-file.ts'
import { parseProbe, PROBE_KEYS } from './parse-targets-probe.ts'
import { quote, TableReader } from './parse-targets-table.ts'
import {
  type Target,
  TARGET_TOML_BYTES_MAX,
  type TargetFile,
  type TargetProblem,
} from './target.ts'
import { indexTargetLines, type TargetLines } from './target-lines.ts'

export type ParsedTarget =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly problems: readonly TargetProblem[] }

const FILES_MAX = 32
const ARGUMENTS_MAX = 64
const NESTING_MAX = 8

const TOP_KEYS = ['name', 'nome', 'key_type', 'reload', 'report_output', 'file', ...PROBE_KEYS]

/** `source` is the file's path, for the problems; they come in the order of their lines. */
export function parseTarget(source: string, text: string): ParsedTarget {
  if (Buffer.byteLength(text) > TARGET_TOML_BYTES_MAX) {
    const reason = `is larger than ${TARGET_TOML_BYTES_MAX} bytes`
    return { ok: false, problems: [{ source, line: undefined, reason }] }
  }
  try {
    const table = parse(text, { maxDepth: NESTING_MAX, unsafeKeyBehaviour: 'throw' })
    return readTarget(source, text, table)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return { ok: false, problems: [{ source, line: error.line, reason: describe(error) }] }
  }
}

function readTarget(source: string, text: string, table: Record<string, unknown>): ParsedTarget {
  const lines = indexTargetLines(text)
  const problems: TargetProblem[] = []
  const reader = new TableReader(table, { source, problems, lineOf: (key) => lines.lineOf(key) })
  reader.refuseUnknownKeys(TOP_KEYS)
  const name = parseName(reader)
  const keyType = reader.word('key_type', KEY_TYPES) ?? 'ec-p256'
  const reload = parseReload(reader)
  const reportsOutput = reader.flag('report_output') ?? true
  const probe = parseProbe(reader)
  const files = parseFiles(reader, lines, { source, problems })
  const artefact = parseArtefact(reader, files, { source, problems })
  if (problems.length > 0 || name === undefined) {
    return { ok: false, problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)) }
  }
  const sourceSha256 = hash('sha256', text, 'hex')
  return {
    ok: true,
    target: {
      source,
      sourceSha256,
      name,
      artefact,
      keyType,
      reload,
      reportsOutput,
      probe,
      files,
    },
  }
}

/** Under its English key or its Portuguese one. docs/protocol.md TGT-40. */
function parseName(reader: TableReader): ArtefactName | undefined {
  const key = reader.has('name') ? 'name' : 'nome'
  if (!reader.has(key)) return reader.refuse(key, 'name is missing')
  if (key === 'name' && reader.has('nome')) {
    return reader.refuse(key, 'name and nome are the same key: leave one of them out')
  }
  const text = reader.text(key)
  if (text === undefined) return undefined
  return (
    parseArtefactName(text) ??
    reader.refuse(key, `${key} cannot be the name of a delivery: ${quote(text)}`)
  )
}

/** A delivery is of a pair or of a file, and a target serves one delivery. */
function parseArtefact(
  reader: TableReader,
  files: readonly TargetFile[],
  { source, problems }: { readonly source: string; readonly problems: TargetProblem[] },
): Target['artefact'] {
  const first = files.find(({ content }) => content.format === 'file')
  if (first === undefined) return 'pair'
  for (const { content, line } of files) {
    if (content.format === 'file') continue
    const reason = `this file takes parts of a certificate, and the file in line ${first.line} takes a delivered file`
    problems.push({ source, line, reason })
  }
  for (const key of ['key_type', ...PROBE_KEYS]) {
    if (reader.has(key))
      reader.refuse(key, `${key} is for certificates, and this target is for a file`)
  }
  return 'file'
}

function parseReload(reader: TableReader): readonly string[] | undefined {
  const argv = reader.texts('reload', ARGUMENTS_MAX)
  const [program] = argv ?? []
  if (program === undefined) return undefined
  if (program.trim() === '') return reader.refuse('reload', 'reload has no program')
  if (program.includes('/') && !isAbsolute(program)) {
    const reason = `the program of reload must be a name or an absolute path: ${quote(program)}`
    return reader.refuse('reload', reason)
  }
  return argv
}

function parseFiles(
  reader: TableReader,
  lines: TargetLines,
  context: { readonly source: string; readonly problems: TargetProblem[] },
): TargetFile[] {
  const tables = readTables(reader)
  const files = tables.flatMap((table, index) => {
    const lineOf = (key: string): number | undefined => lines.lineInFile(index, key)
    const file = new TableReader(table, { ...context, lineOf })
    return parseTargetFile(file, lines.lineInFile(index) ?? 1) ?? []
  })
  for (const [index, { path, line }] of files.entries()) {
    const first = files.find((file) => file.path === path)
    if (first === undefined || files.indexOf(first) === index) continue
    const reason = `the file in line ${first.line} has the same path: ${quote(path)}`
    context.problems.push({ source: context.source, line, reason })
  }
  return files
}

function readTables(reader: TableReader): Record<string, unknown>[] {
  const value = reader.value('file')
  if (value === undefined) reader.refuse('file', 'there is no [[file]]')
  else if (!isTableList(value)) reader.refuse('file', 'file must be written as [[file]]')
  else if (value.length === 0) reader.refuse('file', 'there is no [[file]]')
  else if (value.length > FILES_MAX) reader.refuse('file', `has more than ${FILES_MAX} files`)
  else return value
  return []
}

function isTableList(value: unknown): value is Record<string, unknown>[] {
  // A date is an object too, and has no keys of its own to be told by.
  return (
    Array.isArray(value) &&
    value.every(
      (item) => typeof item === 'object' && item !== null && Object.getPrototypeOf(item) === null,
    )
  )
}

/** The first line of the message; the rest draws the place. */
function describe({ message }: TomlError): string {
  const [first = ''] = message.split('\n')
  return `is not TOML: ${first.replace('Invalid TOML document: ', '')}`
}
