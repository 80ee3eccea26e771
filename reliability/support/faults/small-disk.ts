// A small file system of a hub's own, below its vault, to be filled and emptied.

import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { cp, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoCode } from '../../../src/platform/errors.ts'
import type { HubProcess } from '../../../test/support/hub-process.ts'
import { runTool } from '../../../test/support/processes.ts'

export interface SmallDisk extends AsyncDisposable {
  freeBytes(): Promise<number>
  /** Takes all that is free but this much. */
  fillUpTo(freeBytes: number): Promise<void>
  empty(): Promise<void>
}

const CHUNK = Buffer.alloc(64 * 1024)
const PAGE_BYTES = 4096

/** Nobody has it open: the vault of a hub that is stopped, or another directory; it moves onto the new disk, under the same name. */
export async function mountSmallDisk(
  hub: Pick<HubProcess, 'vaultRoot'>,
  sizeBytes: number,
): Promise<SmallDisk> {
  const { vaultRoot } = hub
  const aside = `${vaultRoot}.aside`
  await cp(vaultRoot, aside, { recursive: true, preserveTimestamps: true })
  await runTool('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes},mode=0700`, 'tmpfs', vaultRoot])
  await cp(aside, vaultRoot, { recursive: true, preserveTimestamps: true })
  await rm(aside, { recursive: true })
  const filler = join(vaultRoot, 'filler')
  const freeBytes = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(vaultRoot)
    return bavail * bsize
  }
  return {
    freeBytes,
    fillUpTo: async (keptBytes) => {
      const descriptor = openSync(
        filler,
        constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
      )
      try {
        while ((await freeBytes()) > keptBytes) {
          const missing = (await freeBytes()) - keptBytes
          writeSync(descriptor, CHUNK, 0, missing > CHUNK.length ? CHUNK.length : PAGE_BYTES)
        }
      } catch (error) {
        if (errnoCode(error) !== 'ENOSPC') throw error
      } finally {
        closeSync(descriptor)
      }
    },
    empty: () => rm(filler, { force: true }),
    [Symbol.asyncDispose]: async () => {
      await runTool('umount', ['--lazy', vaultRoot])
    },
  }
}

/** Why no file system can be mounted here; undefined when one can. */
export async function findMountObstacle(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root may mount'
  try {
    await runTool('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
    return undefined
  } catch (error) {
    return `nothing can be mounted: ${String(error)}`
  }
}
