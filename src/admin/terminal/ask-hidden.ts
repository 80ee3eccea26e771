import { createInterface } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import { Writable } from 'node:stream'
import { UserError } from '../../platform/errors.ts'

/** Asks a person for a line that nobody looking over their shoulder shall read. */
export type AskHidden = (question: string) => Promise<string>

/** The question goes to stderr: stdout is for the command's output. */
export function askHiddenOn(input: ReadStream, output: WriteStream): AskHidden {
  return async (question) => {
    // Readline echoes what is typed; here nobody sees the echo.
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
    // Only now that the terminal itself echoes nothing any more.
    output.write(question)
    try {
      return await new Promise<string>((resolve, reject) => {
        lines.once('line', resolve)
        // Ctrl-C and Ctrl-D.
        lines.once('close', () => {
          reject(new UserError('passphrase_missing', 'no passphrase was given'))
        })
      })
    } finally {
      lines.close()
      output.write('\n')
    }
  }
}
