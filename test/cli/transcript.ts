// Transcripts: `$ command` runs in a shell with `svc` on its PATH; below it stands what it prints, stdout before stderr,
// and `exit N` when it fails. `#` begins a comment, blank lines between commands do not count. What differs from run
// to run is written as a placeholder.

import type { Outcome } from './run-in-shell.ts'

export interface Step {
  readonly command: string
  readonly expected: string
}

export function parseTranscript(text: string): Step[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  return lines
    .join('\n')
    .split(/^\$ /m)
    .slice(1)
    .map((block) => {
      const end = block.indexOf('\n')
      return { command: block.slice(0, end), expected: block.slice(end + 1).trimEnd() }
    })
}

export function renderOutcome(outcome: Outcome, vaultRoot: string): string {
  const exit = outcome.exitStatus === 0 ? '' : `exit ${outcome.exitStatus}\n`
  return `${outcome.stdout}${outcome.stderr}${exit}`
    .replaceAll(vaultRoot, '<vault>')
    .replaceAll(/svc[tj]_[A-Za-z0-9_-]{43}/g, '<token>')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<sha256>')
    .replaceAll(/\b[0-9a-f]{16}\b/g, '<token-id>')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/g, '<time>')
    .trimEnd()
}
