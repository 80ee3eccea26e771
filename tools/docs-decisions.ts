// docs/spec-decisions.md is written by hand, but for its last column: the tests that cite a row's statements.

import type { Citation } from './protocol-statements.ts'
import { isTestFile } from './source-files.ts'

const COLUMNS_BY_HAND = 4

export function fillInTests(markdown: string, citations: readonly Citation[]): string {
  return markdown
    .split('\n')
    .map((line) => (line.startsWith('|') ? fillInRow(line, citations) : line))
    .join('\n')
}

function fillInRow(line: string, citations: readonly Citation[]): string {
  const cells = line.split('|').slice(1, 1 + COLUMNS_BY_HAND)
  const statements = cells.at(-1)?.trim() ?? ''
  return `|${cells.join('|')}| ${lastCell(statements, citations)} |`
}

function lastCell(statements: string, citations: readonly Citation[]): string {
  if (statements === 'statements') return 'tests'
  if (/^-+$/.test(statements)) return '---'
  const ids = new Set(expandIds(statements))
  const tests = citations.filter(({ id, path }) => ids.has(id) && isTestFile(path))
  return [...new Set(tests.map(({ path }) => shortName(path)))].toSorted().join(', ')
}

/** `ENR-2, LIM-1 to LIM-3` is four ids. */
export function expandIds(text: string): string[] {
  return [...text.matchAll(/([A-Z]{3,4})-(\d+)(?: to \1-(\d+))?/g)].flatMap(
    ([, area = '', first = '', last = first]) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (_, offset) => {
        return `${area}-${Number(first) + offset}`
      }),
  )
}

function shortName(path: string): string {
  return `\`${path.replace(/^(?:src|test)\//, '').replace(/\.test\.ts$/, '')}\``
}
