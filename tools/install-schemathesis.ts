// Installs schemathesis, which sends what the OpenAPI description allows, and what it does not, to a hub. Run by itself it
// prints where the program is.

import { SvcError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensurePythonProgram, type PythonProgram } from './python-program.ts'

/** Installed if need be; undefined where that cannot be done, which is an error under CI. */
export function ensureSchemathesis(): Promise<PythonProgram | undefined> {
  return ensurePythonProgram({
    name: 'schemathesis',
    version: '4.32.5',
    module: 'schemathesis.cli',
  })
}

if (import.meta.main) {
  await runProgram('install-schemathesis', async () => {
    const schemathesis = await ensureSchemathesis()
    if (schemathesis === undefined) {
      throw new SvcError('no_schemathesis', 'schemathesis could not be installed')
    }
    process.stdout.write(`${schemathesis.join(' ')}\n`)
  })
}
