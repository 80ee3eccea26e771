import { createInterface } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'

const YES: ReadonlySet<string> = new Set(['yes', 'sim'])

/** Asks on stderr: stdout is for the command's output. The end of the input is a no. */
export function confirmOn(
  input: ReadStream,
  output: WriteStream,
): (question: string) => Promise<boolean> {
  return async (question) => {
    const lines = createInterface({ input, output, terminal: true, historySize: 0 })
    try {
      const answer = await new Promise<string>((resolve) => {
        lines.question(`${question} `, resolve)
        lines.once('close', () => resolve(''))
      })
      return YES.has(answer.trim().toLowerCase())
    } finally {
      lines.close()
    }
  }
}
