// A disk whose changes fail when a test says so: as a full disk does, or as for a process that was killed before them.

import { constants, promises } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const WRITING = constants.O_WRONLY | constants.O_RDWR | constants.O_CREAT

type FileFunction = (...args: never[]) => Promise<unknown>
/** What our programs change names on the disk with. */
const CHANGES = ['open', 'rename', 'unlink', 'mkdir', 'symlink', 'link'] as const

/** Does the work; its n-th change of a name on the disk, from 1, fails when `fails(n)`. Answers how many it tried. */
export async function withFailingDisk(
  fails: (change: number) => boolean,
  work: () => Promise<unknown>,
): Promise<number> {
  let changes = 0
  const functions = promises as unknown as Record<(typeof CHANGES)[number], FileFunction>
  const originals = CHANGES.map((name) => [name, functions[name]] as const)
  for (const [name, original] of originals) {
    functions[name] = async (...args) => {
      if (name !== 'open' || (Number(args[1]) & WRITING) !== 0) {
        changes += 1
        if (fails(changes)) {
          throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
        }
      }
      return original(...args)
    }
  }
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    for (const [name, original] of originals) functions[name] = original
    syncBuiltinESMExports()
  }
  return changes
}
