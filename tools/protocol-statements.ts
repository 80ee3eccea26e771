// The numbered statements of docs/protocol.md, and who cites them.

import { isTestFile, type SourceFile } from './source-files.ts'
import { tierOf } from './test-tiers.ts'

export interface Statement {
  readonly id: string
  readonly isPlanned: boolean
  /** A definition or an advice: there is nothing to test. */
  readonly isNote: boolean
  readonly line: number
}

const STATEMENT = /^(?:- \*\*|\| )(?<id>[A-Z]{3,4}-\d+)(?:\*\*)?(?: \((?<mark>planned|note)\))?/

export function parseStatements(markdown: string): Statement[] {
  return markdown.split('\n').flatMap((line, index) => {
    const groups = STATEMENT.exec(line)?.groups
    if (groups?.['id'] === undefined) return []
    const mark = groups['mark']
    return [
      { id: groups['id'], isPlanned: mark === 'planned', isNote: mark === 'note', line: index + 1 },
    ]
  })
}

export function findDuplicates(statements: readonly Statement[]): string[] {
  const seen = new Set<string>()
  return statements.flatMap(({ id, line }) => {
    if (!seen.has(id)) {
      seen.add(id)
      return []
    }
    return [`docs/protocol.md:${line} ${id} is there twice`]
  })
}

export interface Citation {
  readonly id: string
  readonly path: string
  readonly line: number
}

/** Ids of the areas that there are, anywhere, and whatever stands in brackets as ids do in the titles of tests. */
export function findCitations(
  statements: readonly Statement[],
  files: readonly SourceFile[],
): Citation[] {
  const areas = new Set(statements.map(({ id }) => areaOf(id)))
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((content, index) =>
      [...content.matchAll(/(?<![\w-])(?<bracket>\[?)(?<id>[A-Z]{3,4}-\d+)(?![\w-])/g)]
        .map(({ groups }) => ({
          id: groups?.['id'] ?? '',
          isInBrackets: groups?.['bracket'] === '[',
        }))
        .filter(({ id, isInBrackets }) => isInBrackets || areas.has(areaOf(id)))
        .map(({ id }) => ({ id, path, line: index + 1 })),
    ),
  )
}

function areaOf(id: string): string {
  return id.slice(0, id.indexOf('-'))
}

export function findUnknown(
  statements: readonly Statement[],
  citations: readonly Citation[],
): string[] {
  const known = new Set(statements.map(({ id }) => id))
  return citations
    .filter(({ id }) => !known.has(id))
    .map(({ id, path, line }) => `${path}:${line} ${id} is not in docs/protocol.md`)
}

/** The statements of this version that no test cites. */
export function findUntested(
  statements: readonly Statement[],
  citations: readonly Citation[],
): Statement[] {
  const tested = new Set(citations.filter(({ path }) => isTestFile(path)).map(({ id }) => id))
  return statements.filter(({ id, isPlanned, isNote }) => !isPlanned && !isNote && !tested.has(id))
}

/** The statements whose every test is of the second tier, each with those files. */
export function findHeldBySecondTier(
  statements: readonly Statement[],
  citations: readonly Citation[],
): { readonly id: string; readonly paths: readonly string[] }[] {
  return statements.flatMap(({ id }) => {
    const ofTests = citations.filter((each) => each.id === id && isTestFile(each.path))
    const paths = [...new Set(ofTests.map(({ path }) => path))]
    const isHeldByFirst = paths.some((path) => tierOf(path) === 'first')
    return paths.length === 0 || isHeldByFirst ? [] : [{ id, paths }]
  })
}
