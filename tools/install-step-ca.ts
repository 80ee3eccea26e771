// Builds the real step-ca that tests and the demo can use, once, into the user's cache.
// Run by itself it prints where the program is.

import { SvcError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensureGoProgram } from './go-program.ts'

/** The path of step-ca, built if need be; undefined where there is no Go, which is an error under CI. */
export function ensureStepCa(): Promise<string | undefined> {
  return ensureGoProgram({
    name: 'step-ca',
    version: 'v0.30.2',
    module: 'github.com/smallstep/certificates/cmd/step-ca',
    duration: 'about three minutes',
  })
}

if (import.meta.main) {
  await runProgram('install-step-ca', async () => {
    const path = await ensureStepCa()
    if (path === undefined) throw new SvcError('no_go', 'there is no Go to build step-ca with')
    process.stdout.write(`${path}\n`)
  })
}
