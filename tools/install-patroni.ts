// Installs Patroni, which keeps one PostgreSQL of several the leader, for clusters that tests start. Debian 12 has a version that loses
// acknowledged writes when a leader that was cut off comes back. Run by itself it prints where the program is.

import { SvcError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensurePythonProgram, type PythonProgram } from './python-program.ts'

/** Installed if need be; undefined where that cannot be done, which is an error under CI. */
export function ensurePatroni(): Promise<PythonProgram | undefined> {
  return ensurePythonProgram({
    name: 'patroni',
    version: '4.1.5',
    module: 'patroni',
    // How it reaches etcd and PostgreSQL.
    besides: ['python-etcd==0.4.5', 'psycopg2-binary==2.9.13'],
  })
}

if (import.meta.main) {
  await runProgram('install-patroni', async () => {
    const patroni = await ensurePatroni()
    if (patroni === undefined) throw new SvcError('no_patroni', 'Patroni could not be installed')
    process.stdout.write(`${patroni.join(' ')}\n`)
  })
}
