// Builds the real age and age-keygen that tests can use, once, into the user's cache: distributions have older ones,
// which know no post-quantum keys. Run by itself it prints where the programs are.

import { SvcError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensureGoProgram } from './go-program.ts'

export interface AgePrograms {
  readonly age: string
  readonly ageKeygen: string
}

const VERSION = 'v1.3.2'

/** Where they are, built if need be; undefined where there is no Go, which is an error under CI. */
export async function ensureAge(): Promise<AgePrograms | undefined> {
  const age = await ensureProgram('age')
  const ageKeygen = await ensureProgram('age-keygen')
  return age === undefined || ageKeygen === undefined ? undefined : { age, ageKeygen }
}

function ensureProgram(name: 'age' | 'age-keygen'): Promise<string | undefined> {
  return ensureGoProgram({
    name,
    version: VERSION,
    module: `filippo.io/age/cmd/${name}`,
    duration: 'a few seconds',
  })
}

if (import.meta.main) {
  await runProgram('install-age', async () => {
    const programs = await ensureAge()
    if (programs === undefined) throw new SvcError('no_go', 'there is no Go to build age with')
    process.stdout.write(`${programs.age}\n${programs.ageKeygen}\n`)
  })
}
