// The edge of every program: what it prints when it fails, and its exit status.

import { errnoCode, SvcError } from './errors.ts'
import { printableLines } from './printable.ts'
import { redactTokens } from './redact-tokens.ts'

/**
 * Runs a program; a failure prints `NAME: error: …` (and a hint, if there is one) on stderr and exits 1. Not to be
 * awaited at the top level of a program that is built, since CommonJS has no such thing.
 */
export async function runProgram(name: string, main: () => Promise<void>): Promise<void> {
  let isDone = false
  process.once('beforeExit', () => {
    if (isDone) return
    reportFailure(name, new Error('nothing is left to wait for, and it is not done'))
    process.exitCode = 1
  })
  try {
    await main()
  } catch (error) {
    reportFailure(name, error)
    process.exitCode = exitStatusOf(error)
  }
  isDone = true
}

/** 1, unless a failure has a status of its own. */
export function exitStatusOf(error: unknown): number {
  return error instanceof SvcError ? error.exitStatus : 1
}

/** What an operator can mend on the machine: the system's message names the path, and a stack would say nothing more. */
const MENDABLE: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'run it as the owner of that file, or as root'],
  ['EPERM', 'run it as the owner of that file, or as root'],
  ['EISDIR', 'a directory is in the place of a file'],
  ['ENOTDIR', 'a file is in the place of a directory'],
  ['EEXIST', 'another file is in its place'],
  ['ENOSPC', 'free space on that disk'],
  ['EDQUOT', 'free space on that disk'],
  ['EROFS', 'that file system is read-only'],
])

/** Here it has said all there is. */
const SAID_BY_SYSTEM: ReadonlySet<string> = new Set(['ENOENT', 'EADDRINUSE', 'EADDRNOTAVAIL'])

/** Known failures print their message and hint; anything else is a bug and prints its stack. */
export function reportFailure(
  name: string,
  error: unknown,
  output: Pick<NodeJS.WritableStream, 'write'> = process.stderr,
): void {
  if (error instanceof SvcError || (error instanceof Error && isOfSystem(error))) {
    for (const line of printableFailure(error.message).split('\n')) {
      output.write(`${name}: error: ${line}\n`)
    }
    const hint = findHint(error)
    if (hint !== undefined) output.write(`${name}: hint: ${printableFailure(hint)}\n`)
    return
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  output.write(`${name}: error: internal error: ${printableFailure(text)}\n`)
}

function isOfSystem(error: Error): boolean {
  const code = errnoCode(error) ?? ''
  return MENDABLE.has(code) || SAID_BY_SYSTEM.has(code)
}

/** Whatever a failure quotes ends up in the journal, where a token has no business. docs/protocol.md LOG-5. */
function printableFailure(text: string): string {
  return redactTokens(printableLines(text))
}

/** The error's own hint, else the hint of its cause. */
function findHint(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const own = error instanceof SvcError ? error.hint : MENDABLE.get(errnoCode(error) ?? '')
  return own ?? findHint(error.cause)
}
