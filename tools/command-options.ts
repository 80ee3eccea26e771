// The options of the project's own commands: a mistake in them is the caller's, and the answer names the way to help.

import { parseArgs, type ParseArgsConfig } from 'node:util'
import { describeError, errnoCode, UserError } from '../src/platform/errors.ts'

export interface CommandOptions<Options> {
  /** As in what is printed: `bench: error: …`. */
  readonly name: string
  readonly args: readonly string[]
  /** As parseArgs takes them; `--help` is the command's own. */
  readonly options: Options
}

/** Throws a UserError for options that the command does not know, or that lack their value. */
export function parseCommandOptions<const Options extends NonNullable<ParseArgsConfig['options']>>({
  name,
  args,
  options,
}: CommandOptions<Options>) {
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    if (errnoCode(error)?.startsWith('ERR_PARSE_ARGS_') !== true) throw error
    // Its first sentence says what is wrong; the rest is about `--` and quotes.
    const [fault = ''] = describeError(error).split('. ')
    throw new UserError('usage', fault, { hint: `npm run ${name} -- --help` })
  }
}
