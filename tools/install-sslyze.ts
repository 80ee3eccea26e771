// Installs sslyze, with which the TLS of the hub is looked at from outside. Run by itself it prints where the program is.

import { SvcError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensurePythonProgram, type PythonProgram } from './python-program.ts'

export type Sslyze = PythonProgram

/** Installed if need be; undefined where that cannot be done, which is an error under CI. */
export function ensureSslyze(): Promise<Sslyze | undefined> {
  return ensurePythonProgram({ name: 'sslyze', version: '6.3.1', module: 'sslyze' })
}

if (import.meta.main) {
  await runProgram('install-sslyze', async () => {
    const sslyze = await ensureSslyze()
    if (sslyze === undefined) throw new SvcError('no_sslyze', 'sslyze could not be installed')
    process.stdout.write(`${sslyze.join(' ')}\n`)
  })
}
