// Files that a configuration names, which others than root may have written: opening a device may do something, as a
// watchdog or a tape does, and files of the kernel are no files.

import { type Stats, statfsSync, statSync } from 'node:fs'
import { UserError } from '../../platform/errors.ts'
import { readSmallBytes } from '../../platform/small-file.ts'

/** Of `statfs`: proc, sysfs, debugfs, tracefs, securityfs, both of cgroup, devpts. */
const KERNELS = new Set([
  0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0x27e0eb, 0x63677270, 0x1cd1,
])

/** Looked at before it is opened. Throws as `readSmallBytes` does. */
export function readPlainFile(
  path: string,
  bytesMax: number,
): { readonly bytes: Buffer; readonly stats: Stats } {
  if (!statSync(path).isFile() || KERNELS.has(statfsSync(path).type)) {
    throw new UserError('file_invalid', `${path} is not a file`)
  }
  return readSmallBytes(path, bytesMax)
}
