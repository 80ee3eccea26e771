// The hub of a next version, made of this one: the same programs, with one more step of the tables.

import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Migration } from '../../src/hub/store/sqlite/migration.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** In `directory`; a bin/ for `HubProcess.start`. */
export async function makeNextVersion(
  directory: string,
  steps: readonly Migration[],
): Promise<string> {
  await mkdir(directory)
  const hook = join(directory, 'hook.mjs')
  await writeFile(
    hook,
    `import { MIGRATIONS } from ${JSON.stringify(join(ROOT, 'src/hub/store/sqlite/migrations.ts'))}\n` +
      `MIGRATIONS.push(...${JSON.stringify(steps)})\n`,
  )
  const program = join(directory, 'svc-server')
  const node = join(ROOT, 'node_modules/.bin/node')
  const main = join(ROOT, 'src/hub/main.ts')
  const cache = join(ROOT, 'node_modules/.cache/cartorio/compiled')
  await writeFile(
    program,
    `#!/bin/sh\nexport NODE_COMPILE_CACHE="${cache}"\nexec "${node}" --import "${hook}" "${main}" "$@"\n`,
  )
  await chmod(program, 0o755)
  return directory
}
