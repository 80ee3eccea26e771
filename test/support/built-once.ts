// What several test files need of the sources as they are: the first that asks builds it, and the others of the same run take it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installOnce } from '../../tools/install-once.ts'

let own: string | undefined

/** The directory that `build` has filled; nobody writes there afterwards. The same `name` is built in the same way. */
export async function builtOnce(
  name: string,
  build: (directory: string) => Promise<void>,
): Promise<string> {
  const place = join(process.env['TEST_BUILT'] ?? ownPlace(), name)
  await installOnce(place, build)
  return place
}

/** Of a file that runs without `npm test`. */
function ownPlace(): string {
  if (own !== undefined) return own
  const made = mkdtempSync(join(tmpdir(), 'built-once-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  own = made
  return made
}
