// The edge of every program: what it prints when it fails, and its exit status.

import { SvcError } from './errors.ts'
import { printableLines } from './printable.ts'

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
    process.exitCode = 1
  }
  isDone = true
}

/** Known failures print their message and hint; anything else is a bug and prints its stack. */
export function reportFailure(name: string, error: unknown): void {
  if (error instanceof SvcError) {
    for (const line of printableLines(error.message).split('\n')) {
      process.stderr.write(`${name}: error: ${line}\n`)
    }
    if (error.hint !== undefined)
      process.stderr.write(`${name}: hint: ${printableLines(error.hint)}\n`)
    return
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${name}: error: internal error: ${printableLines(text)}\n`)
}
