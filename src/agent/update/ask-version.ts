import { execFile, type ExecFileException } from 'node:child_process'
import { UserError } from '../../platform/errors.ts'

const TIMEOUT_MS = 30_000
const OUTPUT_BYTES_MAX = 4096

/** What an executable answers to `--version`, in an environment without the agent's variables. */
export function askVersion(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      path,
      ['--version'],
      {
        cwd: '/',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
        timeout: TIMEOUT_MS,
        killSignal: 'SIGKILL',
        maxBuffer: OUTPUT_BYTES_MAX,
      },
      (error, stdout) => {
        if (error === null) resolve(stdout.trim())
        else reject(new UserError('does_not_run', describeFailure(path, error), { cause: error }))
      },
    )
  })
}

function describeFailure(path: string, error: ExecFileException): string {
  if (error.killed === true) return `${path} --version does not end`
  if (typeof error.signal === 'string') return `${path} --version ended by ${error.signal}`
  if (typeof error.code === 'number') return `${path} --version ended with status ${error.code}`
  return `${path} does not run: ${error.code ?? error.message}`
}
