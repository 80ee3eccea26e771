// A program of the system that looks for us at what may hang for ever: a file system whose server is gone, a name that no server
// answers for. This process could not end before its own call does; the child is left behind. docs/protocol.md DOC-3.

import { spawn } from 'node:child_process'

export interface ChildResult {
  /** Undefined when it did not end in time, or could not be started. */
  readonly status: number | undefined
  readonly stdout: string
}

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const OUTPUT_BYTES_MAX = 64 * 1024

export function runBounded(
  program: string,
  args: readonly string[],
  limitMs: number,
  path: string = PATH,
): Promise<ChildResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: { PATH: path, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    const end = (status: number | undefined): void => {
      deadline.removeEventListener('abort', giveUp)
      child.stdout.destroy()
      child.unref()
      resolve({ status, stdout })
    }
    const deadline = AbortSignal.timeout(limitMs)
    const giveUp = (): void => {
      child.kill('SIGKILL')
      end(undefined)
    }
    deadline.addEventListener('abort', giveUp)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < OUTPUT_BYTES_MAX) stdout += text
    })
    child.once('error', () => end(undefined))
    child.once('close', (status) => end(status ?? undefined))
  })
}
