// Keeps the documents in step with the code. `node tools/docs.ts` checks, `--write` writes docs/reference, the tests in
// docs/spec-decisions.md and the rooms in docs/architecture.md anew, and `--require-tests` also fails when a statement that is built has no test that cites it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CLI_VARIABLES } from '../src/admin/doors/hub-options.ts'
import { AGENT_VARIABLES } from '../src/agent/settings/agent-variables.ts'
import { HUB_VARIABLES } from '../src/hub/hub-variables.ts'
import { WIRE_ERRORS } from '../src/protocol/errors.ts'
import { ROUTES } from '../src/protocol/routes.ts'
import { DeliveryStatus, EventType, HubEventType } from '../src/protocol/words.ts'
import { fillInTests } from './docs-decisions.ts'
import { page, renderPages, type Page } from './docs-pages.ts'
import { fillInRooms } from './docs-rooms.ts'
import { renderTests } from './docs-tests.ts'
import {
  findCitations,
  findDuplicates,
  findHeldBySecondTier,
  findUnknown,
  findUntested,
  parseStatements,
} from './protocol-statements.ts'
import { findFiles, readSources, ROOT, type SourceFile } from './source-files.ts'

const PROTOCOL = 'docs/protocol.md'
const ARCHITECTURE = 'docs/architecture.md'
const DECISIONS = 'docs/spec-decisions.md'
const TOP_DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'STYLE.md', 'CHANGELOG.md']

/** Pages on disk that are not what the code says. */
export function findStale(pages: readonly Page[], read: (path: string) => string): string[] {
  return pages
    .filter(({ path, text }) => read(path) !== text)
    .map(({ path }) => `${path} is out of step with the code: node tools/docs.ts --write`)
}

/** Relative links to files that are not there. */
export function findBrokenLinks(
  documents: readonly SourceFile[],
  exists: (path: string) => boolean,
): string[] {
  return documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => target ?? '')
      .filter((target) => !exists(join(dirname(path), target)))
      .map((target) => `${path} links to ${target}, which is not there`),
  )
}

/** Words of the code that the protocol does not know, each expected in backticks. */
export function findUndocumented(protocol: string, words: readonly string[]): string[] {
  return words
    .filter((word) => !protocol.includes(`\`${word}\``))
    .map((word) => `${PROTOCOL} says nothing of \`${word}\``)
}

/** Codes whose row has another status than the code, or that have no row. */
export function findWrongErrors(
  protocol: string,
  errors: Readonly<Record<string, { readonly status: number }>>,
): string[] {
  return Object.entries(errors)
    .filter(([code, { status }]) => {
      const row = new RegExp(
        `^\\| ERR-\\d+(?: \\(planned\\))? \\| ${status} \\| \`${code}\` \\|`,
        'm',
      )
      return !row.test(protocol)
    })
    .map(([code, { status }]) => `${PROTOCOL} has no ERR row with ${status} \`${code}\``)
}

/** Variables whose row lacks the default that the code has. */
export function findWrongDefaults(
  protocol: string,
  variables: readonly { readonly name: string; readonly default?: string | undefined }[],
): string[] {
  return variables
    .filter(({ default: value }) => value !== undefined && /^\S+$/.test(value))
    .filter(({ name, default: value }) => {
      const rows = protocol.split('\n').filter((line) => line.includes(`| \`${name}\` |`))
      return !rows.some((row) => row.includes(`| \`${value}\` |`))
    })
    .map(
      ({ name, default: value }) => `${PROTOCOL} has no row of ${name} with the default ${value}`,
    )
}

function wordsOfTheCode(): string[] {
  return [
    ...HUB_VARIABLES.map(({ name }) => name),
    ...AGENT_VARIABLES.map(({ name }) => name),
    ...CLI_VARIABLES.map(({ name }) => name),
    ...Object.values(ROUTES).map(({ method, path }) => `${method} ${path}`),
    ...Object.values(EventType),
    ...Object.values(HubEventType),
    ...Object.values(DeliveryStatus),
  ]
}

function readIfThere(path: string): string {
  const full = join(ROOT, path)
  return existsSync(full) ? readFileSync(full, 'utf8') : ''
}

function main(options: ReadonlySet<string>): number {
  const code = readSources(
    findFiles(
      ['src', 'test', 'tools', 'bench', 'fleet', 'reliability'],
      ['.ts', '.tsx', '.mjs', '.txt'],
    ),
  )
  const protocol = readIfThere(PROTOCOL)
  const statements = parseStatements(protocol)
  const citations = findCitations(
    statements,
    code.filter(({ path }) => !path.startsWith('tools/')),
  )
  const decisions = { path: DECISIONS, text: fillInTests(readIfThere(DECISIONS), citations) }
  const architecture = { path: ARCHITECTURE, text: fillInRooms(readIfThere(ARCHITECTURE)) }
  const heldBySecondTier = findHeldBySecondTier(statements, citations)
  const tests = page('tests', renderTests(heldBySecondTier))
  const pages = [...renderPages(), tests, decisions, architecture]
  if (options.has('--write')) {
    for (const { path, text } of pages) writeFileSync(join(ROOT, path), text)
  }
  const documents = readSources([...TOP_DOCUMENTS, ...findFiles(['docs'], ['.md'])])
  const untested = findUntested(statements, citations)
  const faults = [
    ...findStale(pages, readIfThere),
    ...findDuplicates(statements),
    ...findUnknown(statements, [...citations, ...findCitations(statements, documents)]),
    ...findUndocumented(protocol, wordsOfTheCode()),
    ...findWrongErrors(protocol, WIRE_ERRORS),
    ...findWrongDefaults(protocol, [...HUB_VARIABLES, ...AGENT_VARIABLES]),
    ...findBrokenLinks(documents, (path) => existsSync(join(ROOT, path))),
    ...(options.has('--require-tests') ? untested.map(({ id }) => `no test cites ${id}`) : []),
  ]
  const planned = statements.filter(({ isPlanned }) => isPlanned).length
  const testable = statements.filter(({ isPlanned, isNote }) => !isPlanned && !isNote).length
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  process.stdout.write(
    `${statements.length} statements, ${planned} of them planned; tests cite ${testable - untested.length} of the ${testable} that can be tested\n`,
  )
  if (untested.length > 0) {
    process.stdout.write(`not cited by a test: ${untested.map(({ id }) => id).join(' ')}\n`)
  }
  const onlySecond = heldBySecondTier.map(({ id }) => id).join(' ')
  process.stdout.write(`held only by the second tier (${heldBySecondTier.length}): ${onlySecond}\n`)
  process.stdout.write(`${faults.length} faults in ${documents.length} documents\n`)
  return faults.length === 0 && statements.length > 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = main(new Set(process.argv.slice(2)))
