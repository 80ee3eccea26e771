import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { getSystemErrorMessage } from 'node:util'
import { UserError } from '../../platform/errors.ts'

export interface OpenedFile {
  /** For messages. */
  readonly name: string
  readonly pieces: AsyncIterable<Uint8Array>
  close(): Promise<void>
}

const PIECE_BYTES = 256 * 1024

/** With the rights of the operator; `-` is `standardInput`. */
export async function openBackupFile(
  name: string,
  standardInput: AsyncIterable<Uint8Array>,
): Promise<OpenedFile> {
  if (name === '-') {
    const close = (): Promise<void> => Promise.resolve()
    return { name: 'standard input', pieces: standardInput, close }
  }
  try {
    const file = await open(name, constants.O_RDONLY)
    if ((await file.stat()).isDirectory()) {
      await file.close()
      throw new UserError('file_unreadable', `${name} is a directory`)
    }
    const pieces = file.createReadStream({ autoClose: false, highWaterMark: PIECE_BYTES })
    return { name, pieces, close: () => file.close() }
  } catch (error) {
    const { errno } = error as { errno?: unknown }
    if (typeof errno !== 'number') throw error
    const reason = getSystemErrorMessage(errno)
    throw new UserError('file_unreadable', `cannot read ${name}: ${reason}`, { cause: error })
  }
}
