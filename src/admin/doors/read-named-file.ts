import { describeError, UserError } from '../../platform/errors.ts'
import { readSmallFile, type SmallFile } from '../../platform/small-file.ts'

/** A file that an option names: what is wrong with it names the option. Throws UserError `file_invalid` or `file_unreadable`. */
export function readNamedFile(option: string, path: string, bytesMax: number): SmallFile {
  try {
    return readSmallFile(path, bytesMax)
  } catch (error) {
    const code = error instanceof UserError ? 'file_invalid' : 'file_unreadable'
    throw new UserError(code, `${option}: ${describeError(error)}`, { cause: error })
  }
}
