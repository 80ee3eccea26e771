// `npm run check`: everything that can be said of the sources without running them. Each checker says how many files
// it looked at and fails below a floor, since one that sees nothing finds no fault either.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './source-files.ts'

interface Check {
  readonly name: string
  readonly program: string
  readonly arguments: readonly string[]
  /** Takes the number of files out of what the program printed. */
  readonly countFiles: (output: string) => number
  readonly filesMin: number
  /** Whether a line is only there to be counted. */
  readonly isNoise?: (line: string) => boolean
}

interface Outcome {
  readonly name: string
  readonly ok: boolean
  readonly files: number
  readonly durationMs: number
}

const CHECK_TIMEOUT_MS = 300_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const LISTED_FILE = /^\/.*\.(?:[cm]?tsx?|json)$/

const LISTED_FILES = {
  countFiles: (output: string): number =>
    output.split('\n').filter((line) => LISTED_FILE.test(line) && !line.includes('/node_modules/'))
      .length,
  filesMin: 60,
  isNoise: (line: string): boolean => LISTED_FILE.test(line),
}

export const CHECKS: readonly Check[] = [
  {
    name: 'types',
    program: 'tsc',
    arguments: ['-p', '.', '--listFiles'],
    ...LISTED_FILES,
  },
  {
    name: 'types of the console',
    program: 'tsc',
    arguments: ['-p', 'src/console', '--listFiles'],
    ...LISTED_FILES,
  },
  {
    name: 'types of its tests',
    program: 'tsc',
    arguments: ['-p', 'src/console/tsconfig.tests.json', '--listFiles'],
    ...LISTED_FILES,
  },
  {
    name: 'lint',
    program: 'oxlint',
    arguments: ['--type-aware', '--report-unused-disable-directives', '.'],
    countFiles: numberBefore('files with'),
    filesMin: 60,
  },
  {
    name: 'format',
    program: 'oxfmt',
    arguments: ['--check', '.'],
    countFiles: numberBefore('files using'),
    filesMin: 60,
  },
  {
    name: 'dead code',
    program: 'knip',
    arguments: ['--no-progress', '--reporter', 'symbols', '--reporter', './tools/knip-count.ts'],
    countFiles: numberBefore('files'),
    filesMin: 60,
  },
  {
    name: 'layers',
    program: 'node',
    arguments: ['tools/layers.ts'],
    countFiles: numberBefore('files'),
    filesMin: 60,
  },
  {
    name: 'docs',
    program: 'node',
    arguments: ['tools/docs.ts', '--require-tests'],
    countFiles: numberBefore('documents'),
    filesMin: 10,
  },
  {
    name: 'phrases',
    program: 'node',
    arguments: ['tools/phrases.ts'],
    countFiles: numberBefore('files'),
    filesMin: 60,
  },
  {
    name: 'lockfile',
    program: 'node',
    arguments: ['tools/lockfile.ts'],
    countFiles: numberBefore('locked packages'),
    filesMin: 200,
  },
]

/** The number that stands right before the words, the last time they are printed; 0 when they are not. */
export function numberBefore(words: string): (output: string) => number {
  return (output) =>
    Number([...output.matchAll(new RegExp(`(\\d+) ${words}`, 'g'))].at(-1)?.[1] ?? 0)
}

export function runCheck(check: Check): Outcome {
  const startedAt = performance.now()
  const child = spawnSync(join(ROOT, 'node_modules/.bin', check.program), check.arguments, {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: CHECK_TIMEOUT_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  const output = `${child.stdout ?? ''}${child.stderr ?? ''}`
  const shown = output.split('\n').filter((line) => check.isNoise?.(line) !== true)
  process.stdout.write(`== ${check.name}: ${check.program} ${check.arguments.join(' ')}\n`)
  process.stdout.write(`${shown.join('\n').trim()}\n`)
  const files = check.countFiles(output)
  if (child.error !== undefined) process.stdout.write(`${check.program}: ${child.error.message}\n`)
  if (files < check.filesMin) {
    process.stdout.write(`saw ${files} files, fewer than ${check.filesMin}: that is a fault\n`)
  }
  return {
    name: check.name,
    ok: child.status === 0 && files >= check.filesMin,
    files,
    durationMs: performance.now() - startedAt,
  }
}

function summarise(outcomes: readonly Outcome[]): string {
  return outcomes
    .map(({ name, ok, files, durationMs }) => {
      const verdict = ok ? 'ok    ' : 'FAILED'
      return `${verdict} ${name.padEnd(20)} ${String(files).padStart(4)} files ${(durationMs / 1000).toFixed(1).padStart(6)} s\n`
    })
    .join('')
}

if (import.meta.main) {
  const outcomes = CHECKS.map(runCheck)
  process.stdout.write(`\n== summary\n${summarise(outcomes)}`)
  const failed = outcomes.filter((outcome) => !outcome.ok).length
  process.stdout.write(failed === 0 ? 'all checks passed\n' : `${failed} checks failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
