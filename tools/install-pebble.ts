// Builds Pebble, the ACME CA of Let's Encrypt for tests, and the server of names and files that it asks, once, into the user's cache.
// Run by itself it prints where they are.

import { SvcError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensureGoProgram } from './go-program.ts'

export interface PebblePrograms {
  readonly pebble: string
  readonly challengeServer: string
}

/** Built if need be; undefined where there is no Go, which is an error under CI. */
export async function ensurePebble(): Promise<PebblePrograms | undefined> {
  const build = (name: string): Promise<string | undefined> =>
    ensureGoProgram({
      name,
      version: 'v2.10.3',
      module: `github.com/letsencrypt/pebble/v2/cmd/${name}`,
      duration: 'about half a minute',
    })
  const pebble = await build('pebble')
  const challengeServer = await build('pebble-challtestsrv')
  return pebble && challengeServer ? { pebble, challengeServer } : undefined
}

if (import.meta.main) {
  await runProgram('install-pebble', async () => {
    const programs = await ensurePebble()
    if (programs === undefined) throw new SvcError('no_go', 'there is no Go to build Pebble with')
    process.stdout.write(`${programs.pebble}\n${programs.challengeServer}\n`)
  })
}
