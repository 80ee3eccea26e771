import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

const CHARACTERS_MAX = 16 * 1024

/**
 * A line that a person types or pastes, asked for on stderr: stdout is for the command's output. Undefined when the input ends. A
 * terminal shows it as it comes, and takes more than the 4,096 characters of its own line.
 */
export async function askLineOn(
  input: Readable,
  output: Writable,
  question: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isTerminal = 'isTTY' in input && input.isTTY === true
  const lines = createInterface({ input, output, terminal: isTerminal, historySize: 0 })
  try {
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once('line', resolve)
      lines.once('close', () => resolve(undefined))
      signal.addEventListener('abort', () => resolve(undefined), { once: true })
      lines.setPrompt(`${question} `)
      lines.prompt()
    })
    // Nobody has pressed Enter there.
    if (!isTerminal || answer === undefined) output.write('\n')
    return answer?.slice(0, CHARACTERS_MAX)
  } finally {
    lines.close()
  }
}
