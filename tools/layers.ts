// Holds the table of rooms over the imports that are really there, and a short list of tidiness that the linter has
// no rule for. `node tools/layers.ts` prints the faults.

import { posix } from 'node:path'
import { ROOMS, type Room } from './layers-rooms.ts'
import { findFiles, isTestFile, readSources, type SourceFile } from './source-files.ts'

export interface Fault {
  /** `path:line`. */
  readonly at: string
  readonly what: string
}

interface Import {
  readonly line: number
  readonly target: string
  readonly isType: boolean
}

export function checkSources(files: readonly SourceFile[]): Fault[] {
  return files
    .filter((file) => !isTestFile(file.path))
    .flatMap((file) => [...checkImports(file), ...checkTidiness(file)])
    .concat(findCircles(files))
}

const IMPORT =
  /^[ \t]*(?:import|export)\b(?<type> type\b)?[^'"();=]*?(?:from\s*)?['"](?<static>\.[^'"]*)['"]|\bimport\(\s*['"](?<dynamic>\.[^'"]*)['"]/gm

function listImports(file: SourceFile): Import[] {
  return [...file.text.matchAll(IMPORT)].map((match) => {
    const specifier = match.groups?.['static'] ?? match.groups?.['dynamic'] ?? ''
    return {
      line: lineOf(file.text, match.index),
      target: posix.join(posix.dirname(file.path), specifier),
      isType: match.groups?.['type'] !== undefined,
    }
  })
}

function checkImports(file: SourceFile): Fault[] {
  if (!file.path.startsWith('src/')) return []
  const room = roomOf(file.path)
  if (room === undefined)
    return [{ at: `${file.path}:1`, what: 'is in no room of tools/layers-rooms.ts' }]
  return listImports(file).flatMap((imported) => {
    const what = reasonAgainst(room, imported)
    return what === undefined ? [] : [{ at: `${file.path}:${imported.line}`, what }]
  })
}

function reasonAgainst(room: Room, imported: Import): string | undefined {
  if (isTestFile(imported.target)) return `imports the test ${imported.target}`
  const target = roomOf(imported.target)
  if (target === undefined) return `imports ${imported.target}, which is in no room`
  if (target === room || room.imports.includes(target.name)) return undefined
  if (room.types?.includes(target.name) === true) {
    return imported.isType ? undefined : `${room.name} may import only types of ${target.name}`
  }
  return `${room.name} may not import ${target.name} (${imported.target})`
}

/** Rooms that reach each other by what their files really import; a type ties as much as a value. */
function findCircles(files: readonly SourceFile[]): Fault[] {
  const arrows = new Map<string, Map<string, string>>()
  for (const file of files) {
    const from = isTestFile(file.path) ? undefined : roomOf(file.path)?.name
    if (from === undefined) continue
    const targets = arrows.get(from) ?? new Map<string, string>()
    arrows.set(from, targets)
    for (const { target, line } of listImports(file)) {
      const to = roomOf(target)?.name
      if (to !== undefined && to !== from && !targets.has(to)) {
        targets.set(to, `${file.path}:${line}`)
      }
    }
  }
  return [...arrows].flatMap(([from, targets]) =>
    [...targets]
      .filter(([to]) => canReach(arrows, to, from))
      .map(([to, at]) => ({ at, what: `${from} and ${to} form a circle` })),
  )
}

function canReach(
  arrows: ReadonlyMap<string, ReadonlyMap<string, string>>,
  start: string,
  goal: string,
): boolean {
  const seen = new Set([start])
  for (const room of seen) {
    if (room === goal) return true
    for (const next of arrows.get(room)?.keys() ?? []) seen.add(next)
  }
  return false
}

function roomOf(path: string): Room | undefined {
  return ROOMS.find((room) =>
    (room.prefixes ?? [`src/${room.name}/`]).some((prefix) => path.startsWith(prefix)),
  )
}

interface TidyRule {
  readonly pattern: RegExp
  readonly homes: RegExp
  readonly what: string
}

/** A line that must break a rule says why after `// tidy:`, on it or just above. */
const TIDY_RULES: readonly TidyRule[] = [
  {
    pattern: /\bprocess\.env\b/,
    homes: /\/(?:main|config)\.ts$/,
    what: 'reads process.env: take parsed configuration',
  },
  {
    pattern: /\bDate\.now\(|\bnew Date\(\)/,
    // What the console shows goes by the clock of the hub, which api/clock.ts holds.
    homes: /^src\/(?:platform\/(?:clock|logger)\.ts$|console\/api\/)/,
    what: 'uses ambient time: take a Clock',
  },
  {
    pattern: /\bsetTimeout\(|\bsetInterval\(/,
    homes: /^src\/(?:platform\/(?:clock|logger)\.ts$|console\/)/,
    what: 'uses ambient time: take a Clock',
  },
  { pattern: /\bMath\.random\b/, homes: /^$/, what: 'uses ambient chance: take it as a parameter' },
  { pattern: /^export default\b/, homes: /^tools\/knip-/, what: 'has a default export: name it' },
]
const SHAPELESS_NAME = /(?:^|\/)(?:utils?|helpers?|common|misc|index)\.tsx?$/

function checkTidiness(file: SourceFile): Fault[] {
  if (SHAPELESS_NAME.test(file.path)) {
    return [
      { at: `${file.path}:1`, what: 'has a name that says nothing: name it for its main export' },
    ]
  }
  if (!file.path.startsWith('src/')) return []
  const lines = file.text.split('\n')
  return lines.flatMap((line, index) => {
    if (isExcused(lines, index)) return []
    return TIDY_RULES.filter((rule) => rule.pattern.test(line) && !rule.homes.test(file.path)).map(
      (rule) => ({ at: `${file.path}:${index + 1}`, what: rule.what }),
    )
  })
}

function isExcused(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? ''
  if (/^\s*(?:\/\/|\*|\/\*)/.test(line)) return true
  return /\/\/ tidy: \S/.test(line) || /\/\/ tidy: \S/.test(lines[index - 1] ?? '')
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

if (import.meta.main) {
  const files = readSources(
    findFiles(['src', 'tools', 'bench', 'fleet', 'reliability', 'test'], ['.ts', '.tsx']),
  )
  const faults = checkSources(files)
  for (const fault of faults) process.stdout.write(`${fault.at} ${fault.what}\n`)
  process.stdout.write(`${faults.length} faults in ${files.length} files\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
