// The numbered statements of docs/protocol.md, and who cites them.

import { isTestFile, type SourceFile } from './source-files.ts'

export interface Statement {
  readonly id: string
  readonly isPlanned: boolean
  readonly line: number
}

const STATEMENT = /^(?:- \*\*|\| )(?<id>[A-Z]{3,4}-\d+)(?:\*\*)?(?<planned> \(planned\))?/

export function parseStatements(markdown: string): Statement[] {
  return markdown.split('\n').flatMap((line, index) => {
    const groups = STATEMENT.exec(line)?.groups
    if (groups?.['id'] === undefined) return []
    return [{ id: groups['id'], isPlanned: groups['planned'] !== undefined, line: index + 1 }]
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

/** What looks like a statement id but is the name of something else. */
const OTHER_NAMES = /^(?:SHA|RFC|UTF|ISO|AES|CVE|DER|PKCS|TIME|BEGIN)-/

/** In code an id of an unknown area is a mistake too: `[ENT-3]` cites nothing. */
export function findCitations(files: readonly SourceFile[]): Citation[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((content, index) =>
        [...content.matchAll(/(?<![\w-])[A-Z]{3,4}-\d+(?![\w-])/g)]
          .filter(([id]) => !OTHER_NAMES.test(id))
          .map(([id]) => ({ id, path, line: index + 1 })),
      ),
  )
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
  return statements.filter(({ id, isPlanned }) => !isPlanned && !tested.has(id))
}
