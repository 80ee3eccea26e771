// Phrases that people trip over and that came back too often: docs, and strings and comments of the programs, do without
// them. STYLE.md says what to write instead. `node tools/phrases.ts` prints the faults.

import { findFiles, isTestFile, readSources, type SourceFile } from './source-files.ts'

const PHRASES: readonly RegExp[] = [
  /\bbelongs? into\b/i,
  /\bnobody whom\b|\bwhom nobody\b/i,
  /\b(?:is|are) none for\b/i,
  /\banother one by now\b/i,
  /\bof root['’]s\b/i,
  /\bof before\b/i,
  /\bneither\./i,
  /\bwhoever\b/i,
  /\bby now\b/i,
  /\bas ever\b/i,
  /\banew\b/i,
  /\bof (?:ours|theirs)\b/i,
  /\brenewed no more\b/i,
  /\bhas no say\b/i,
]

/** In whole documents and whole code files. */
export function findPhrases(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      return PHRASES.flatMap((phrase) => {
        const found = phrase.exec(line)
        return found === null ? [] : [`${path}:${index + 1} says "${found[0]}"`]
      })
    }),
  )
}

if (import.meta.main) {
  const paths = [
    'README.md',
    'CONTRIBUTING.md',
    'STYLE.md',
    ...findFiles(['docs'], ['.md']),
    ...findFiles(['src'], ['.ts', '.tsx']).filter((path) => !isTestFile(path)),
  ]
  const faults = findPhrases(readSources(paths))
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  process.stdout.write(`${faults.length} faults in ${paths.length} files\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
