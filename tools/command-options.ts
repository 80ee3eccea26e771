// The options of the project's own commands: each says by `--help` how it is asked, and names an option that it does not know.

import { parseArgs, type ParseArgsConfig } from 'node:util'
import { describeError, errnoCode, UserError } from '../src/platform/errors.ts'

type Options = NonNullable<ParseArgsConfig['options']>

export interface CommandOptions<Own> {
  /** As in what is printed: `bench: error: …`. */
  readonly name: string
  readonly args: readonly string[]
  /** As parseArgs takes them, without `--help`. */
  readonly options: Own
  /** What `--help` prints, which is this function's to do. */
  readonly help: string
}

/** Undefined when help was all that was asked for. Throws a UserError for an unknown option, and for one without its value. */
export function parseCommandOptions<const Own extends Options>({
  name,
  args,
  options,
  help,
}: CommandOptions<Own>) {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help)
    return undefined
  }
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    if (errnoCode(error)?.startsWith('ERR_PARSE_ARGS_') !== true) throw error
    // Its first sentence says what is wrong; the rest is about `--` and quotes.
    const [fault = ''] = describeError(error).split('. ')
    throw new UserError('usage', fault, { hint: `npm run ${name} -- --help` })
  }
}
