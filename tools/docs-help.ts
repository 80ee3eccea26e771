// What the programs say of themselves: `--help` of each, and of each command below it.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './source-files.ts'

export interface HelpText {
  readonly command: string
  readonly text: string
}

const HELP_TIMEOUT_MS = 20_000

export function readHelp(program: string, subcommands: readonly string[] = []): HelpText[] {
  const text = runHelp(program, subcommands)
  const below = listSubcommands(text).flatMap((name) => readHelp(program, [...subcommands, name]))
  return [{ command: [program, ...subcommands].join(' '), text }, ...below]
}

/** The names in the `Commands:` list of a help text. */
export function listSubcommands(text: string): string[] {
  const [, list] = /^Commands:\n((?: .*\n?)+)/m.exec(text) ?? []
  return [...(list ?? '').matchAll(/^ {2}([a-z][a-z-]*)/gm)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'help')
}

/** In an empty environment, so that nobody's own settings get into a page. */
function runHelp(program: string, subcommands: readonly string[]): string {
  const output = execFileSync(join(ROOT, 'bin', program), [...subcommands, '--help'], {
    encoding: 'utf8',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', COLUMNS: '100', NO_COLOR: '1' },
    timeout: HELP_TIMEOUT_MS,
  })
  return `${output.trimEnd()}\n`
}
