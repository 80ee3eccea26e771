// A file of any length that appears under its name when it is whole: written beside the name, synced, and renamed.

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, lstat, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoCode, UserError } from './errors.ts'
import { removeIfPresent, syncDirectory } from './files.ts'
import { removeOnSignal } from './remove-on-signal.ts'

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const MODE = 0o600
const PARTIAL = /\.partial-[0-9a-f]{12}$/

/** Whether it is what a crash left of such a file. */
export function isPartialFile(name: string): boolean {
  return PARTIAL.test(name)
}

export interface StreamToFileOptions {
  readonly replace: boolean
  /** For a program that a signal ends at once: nothing is left then, too. */
  readonly endsBySignal?: true
}

/** Throws UserError `file_exists` for a name that is taken, unless it may be replaced. Leaves nothing when it fails. */
export async function streamToFile(
  path: string,
  pieces: AsyncIterable<string | Uint8Array>,
  { replace, endsBySignal }: StreamToFileOptions,
): Promise<void> {
  if (!replace) await refuseTaken(path)
  const staged = `${path}.partial-${randomBytes(6).toString('hex')}`
  const write = (): Promise<void> => writeStaged(staged, path, pieces, replace)
  await (endsBySignal === true ? removeOnSignal(staged, write) : write())
  await syncDirectory(dirname(path))
}

async function writeStaged(
  staged: string,
  path: string,
  pieces: AsyncIterable<string | Uint8Array>,
  replace: boolean,
): Promise<void> {
  const file = await open(staged, CREATE_NEW, MODE)
  try {
    try {
      await file.writeFile(pieces)
      await file.sync()
    } finally {
      await file.close()
    }
    await (replace ? rename(staged, path) : renameUnlessTaken(staged, path))
  } catch (error) {
    await removeIfPresent(staged)
    throw error
  }
}

/** Before the work on its content is begun. */
export async function refuseTaken(path: string): Promise<void> {
  try {
    await lstat(path)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return
    throw error
  }
  throw taken(path)
}

/** A link refuses a name that is taken, which a rename would replace. */
async function renameUnlessTaken(staged: string, path: string): Promise<void> {
  try {
    await link(staged, path)
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') throw taken(path)
    if (!isWithoutLinks(errnoCode(error))) throw error
    await refuseTaken(path)
    await rename(staged, path)
    return
  }
  await removeIfPresent(staged)
}

/** Of file systems that know no second name for a file. */
function isWithoutLinks(code: string | undefined): boolean {
  return ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(code ?? '')
}

function taken(path: string): UserError {
  return new UserError('file_exists', `${path} exists already`, {
    hint: 'choose another name, or replace it with --replace',
  })
}
