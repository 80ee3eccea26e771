// The executable to replace: an agent, in a place that no other user can change.

import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoCode, UserError } from '../../platform/errors.ts'

export type ExecutableKind = 'agent' | 'plain-node' | 'other'

/** Node's mark of a single executable, `:1` behind it once something was injected. In two parts, or we would hold it. */
const FUSE = Buffer.from(['NODE_SEA', 'FUSE_fce680ab2cc467b6e072b8b5df1996b2:'].join('_'))
const CHUNK_BYTES = 1024 * 1024
const STICKY = 0o1000
const OTHERS_WRITE = 0o022

/** The path itself, links resolved. Throws a UserError when it may not be replaced. */
export async function resolveUpdateTarget(path: string): Promise<string> {
  const binary = await resolveLinks(path)
  await refuseOpenPlaces(binary)
  await refuseOthersFile(binary)
  const kind = await findExecutableKind(binary)
  if (kind === 'agent') return binary
  throw new UserError(
    'target_refused',
    kind === 'plain-node'
      ? `${binary} is a plain Node runtime without an agent`
      : `${binary} is not the executable of an agent`,
    { hint: 'self-update replaces the single executable of a release; see --binary' },
  )
}

export async function findExecutableKind(path: string): Promise<ExecutableKind> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) return 'other'
    const mark = await findByteAfter(file, FUSE)
    if (mark === undefined) return 'other'
    return mark === '1'.charCodeAt(0) ? 'agent' : 'plain-node'
  } finally {
    await file.close()
  }
}

async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error
    throw new UserError('target_missing', `there is no ${path} to update`)
  }
}

/** Who could put another file in our way would have it run by us. */
async function refuseOpenPlaces(binary: string): Promise<void> {
  for (let path = dirname(binary); ; path = dirname(path)) {
    const reason = findOpening(await lstat(path), path === dirname(binary))
    if (reason !== undefined) {
      throw new UserError('target_refused', `the directory ${path} ${reason}`, {
        hint: 'install the agent where only root or its own user can write',
      })
    }
    if (path === '/') return
  }
}

/** To ask it for its version is to run it, so no other user may be able to change it. */
async function refuseOthersFile(binary: string): Promise<void> {
  const { uid, mode } = await lstat(binary)
  const isOthers = uid !== 0 && uid !== process.geteuid?.()
  if (!isOthers && (mode & OTHERS_WRITE) === 0) return
  throw new UserError(
    'target_refused',
    `${binary} ${isOthers ? `belongs to user ${uid}` : 'is writable by group or others'}`,
    {
      hint: 'self-update replaces only an executable that belongs to root or to the user who updates it',
    },
  )
}

function findOpening({ uid, mode }: Stats, isItsOwn: boolean): string | undefined {
  if (uid !== 0 && uid !== process.geteuid?.()) return `belongs to user ${uid}`
  // In a sticky directory others cannot touch what is not theirs; but they can take the names beside it.
  const isOpen = (mode & OTHERS_WRITE) !== 0 && (isItsOwn || (mode & STICKY) === 0)
  return isOpen ? 'is writable by group or others' : undefined
}

/** The byte that follows the first occurrence. */
async function findByteAfter(file: FileHandle, wanted: Buffer): Promise<number | undefined> {
  const overlap = wanted.length
  const window = Buffer.alloc(overlap + CHUNK_BYTES)
  let kept = 0
  for (;;) {
    const { bytesRead } = await file.read(window, kept, CHUNK_BYTES)
    if (bytesRead === 0) return undefined
    const length = kept + bytesRead
    const at = window.subarray(0, length).indexOf(wanted)
    if (at >= 0 && at + wanted.length < length) return window[at + wanted.length]
    kept = Math.min(overlap, length)
    window.copy(window, 0, length - kept, length)
  }
}
