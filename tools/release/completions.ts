// What a program prints for the shells that complete it.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface Completions {
  readonly bash: string
  readonly zsh: string
  readonly fish: string
}

/** Asks the built program itself, as it is started by `command`. */
export async function readCompletions(command: readonly string[]): Promise<Completions> {
  const [program = '', ...args] = command
  const ask = async (shell: string): Promise<string> =>
    (await promisify(execFile)(program, [...args, 'completion', shell], { env: {} })).stdout
  return { bash: await ask('bash'), zsh: await ask('zsh'), fish: await ask('fish') }
}
