// Root's own svc does not become the owner of the vault to write a file: the owner perhaps may not write where root may.
// A second svc, which becomes the owner, prints what this one only writes down.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { UserError } from '../../platform/errors.ts'

const STDERR_CHARACTERS_MAX = 16 * 1024

/** Throws, after the last piece, what the program gave as the reason of its failure. */
export async function* readOutputOf(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input: Iterable<Uint8Array> = [],
): AsyncGenerator<Uint8Array> {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  // A program that does not read it says itself why it ends.
  const given = pipeline(input, child.stdin).catch(() => undefined)
  let said = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (text: string) => {
    if (said.length < STDERR_CHARACTERS_MAX) said += text
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  // Awaited below: until then a failure to start must not end this program.
  closed.catch(() => undefined)
  try {
    for await (const piece of child.stdout) yield piece as Uint8Array
    const [status] = await closed
    if (status !== 0) throw errorOf(said)
  } finally {
    // Where nobody reads on, the program ends with its next piece.
    child.stdout.destroy()
    await closed
    await given
  }
}

/** What it said on stderr, said again by this program. */
function errorOf(said: string): UserError {
  const lines = said.split('\n')
  const find = (word: string): string | undefined => {
    const start = `svc: ${word}: `
    return lines.find((line) => line.startsWith(start))?.slice(start.length)
  }
  const hint = find('hint')
  const message = find('error') ?? 'the svc that reads the vault ended'
  return new UserError('svc_failed', message, hint === undefined ? {} : { hint })
}
