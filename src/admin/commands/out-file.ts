// Where a command writes what is too long for a screen: a file that appears whole, or standard output for a program.

import { UserError } from '../../platform/errors.ts'
import { streamToFile } from '../../platform/stream-to-file.ts'
import { explainFile } from './explain-file.ts'

/** In the place of a file. */
export const STANDARD_OUTPUT = '-'

/** With the rights of the operator; a signal leaves no part of it. */
export function writeOutFile(
  path: string,
  pieces: AsyncIterable<string | Uint8Array>,
  { replace }: { readonly replace?: true },
): Promise<void> {
  return explainFile(path, () =>
    streamToFile(path, pieces, { replace: replace === true, endsBySignal: true }),
  )
}

/** `what` with its article. */
export function refuseTerminal(
  { isTerminal }: { readonly isTerminal: boolean },
  what: string,
): void {
  if (!isTerminal) return
  throw new UserError('usage', `${what} is not for a terminal`, {
    hint: 'name a file, or send the output to a program',
  })
}
