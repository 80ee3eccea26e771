// Which hooks there are, and whether they may be run: only root and the agent's own user may be able to change them.

import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoCode } from '../../platform/errors.ts'
import { ownershipRefusal } from '../files/trusted-path.ts'
import type { HookPart } from './delivery-kind.ts'

export interface FoundHook {
  readonly path: string
  /** Why it is not run, if it is not. */
  readonly refusal: string | undefined
}

/** The hook itself, then the hooks of its `.d` directory in the order of their names' bytes. */
export async function findHooks(
  hookDir: string,
  hookName: HookPart['hookName'],
  userId: number,
): Promise<FoundHook[]> {
  const single = await statIfPresent(join(hookDir, hookName))
  const directory = join(hookDir, `${hookName}.d`)
  const directoryStats = await statIfPresent(directory)
  const parentRefusal = await directoryRefusal(hookDir, userId)
  const found: FoundHook[] = []
  if (single !== undefined) {
    found.push({
      path: join(hookDir, hookName),
      refusal: parentRefusal ?? fileRefusal(single, userId),
    })
  }
  if (directoryStats === undefined) return found
  const refusal = parentRefusal ?? (await directoryRefusal(directory, userId))
  if (refusal !== undefined) return [...found, { path: directory, refusal }]
  for (const name of (await readdir(directory)).filter((entry) => !entry.startsWith('.')).sort()) {
    const stats = await statIfPresent(join(directory, name))
    if (stats === undefined) continue
    found.push({ path: join(directory, name), refusal: fileRefusal(stats, userId) })
  }
  return found
}

async function directoryRefusal(path: string, userId: number): Promise<string | undefined> {
  const stats = await statIfPresent(path)
  if (stats === undefined) return undefined
  if (!stats.isDirectory()) return `${path} is not a directory`
  return ownershipRefusal(stats, userId, `its directory ${path}`)
}

function fileRefusal(stats: Stats, userId: number): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a symbolic link'
  if (!stats.isFile()) return 'it is not a file'
  if ((stats.mode & 0o111) === 0) return 'it is not executable'
  return ownershipRefusal(stats, userId, 'it')
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}
