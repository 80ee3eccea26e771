// Root’s own svc does not become the owner of the vault for a backup into a file: the owner perhaps may not write where root
// may. A second svc, which becomes the owner, hands over the backup; this one only writes it down.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { SvcError, UserError } from '../../platform/errors.ts'

const STDERR_BYTES_MAX = 16 * 1024

export async function withBackupByChild<T>(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  work: (pieces: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (text: string) => {
    if (said.length < STDERR_BYTES_MAX) said += text
  })
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  // Awaited below: until then a failure to start must not end this program.
  closed.catch(() => undefined)
  const outcome = await work(child.stdout).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  child.stdout.destroy()
  const [status] = await closed
  // Why the child failed is why there was no whole backup.
  if (status !== 0 && (!('error' in outcome) || said !== '')) throw errorOf(said)
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

/** What it said on stderr, said again by this program. */
function errorOf(said: string): SvcError {
  const lines = said.split('\n')
  const find = (word: string): string | undefined => {
    const start = `svc: ${word}: `
    return lines.find((line) => line.startsWith(start))?.slice(start.length)
  }
  const hint = find('hint')
  const message = find('error') ?? 'the svc that reads the vault ended'
  return new UserError('backup_failed', message, hint === undefined ? {} : { hint })
}
