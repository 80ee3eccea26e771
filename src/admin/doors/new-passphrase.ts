import { UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'

/** A file that the operator names, or standard input. */
interface PassphraseFile {
  readonly name: string
  /** Undefined for what is no file. */
  readonly mode: number | undefined
  read(bytesMax: number): Promise<Buffer | undefined>
}

const BYTES_MAX = 64 * 1024
const READABLE_BY_OTHERS = 0o004

/** Its content without the final line break. Refuses a file that every user can read. docs/protocol.md KEY-2. */
export async function readNewPassphrase(source: PassphraseFile): Promise<Secret<string>> {
  const { name, mode = 0 } = source
  if ((mode & READABLE_BY_OTHERS) !== 0) {
    throw new UserError(
      'passphrase_exposed',
      `--new-passphrase-file: every user of this machine can read ${name}`,
      { hint: `chmod 600 ${name}; if others could read it, use another passphrase` },
    )
  }
  const content = await source.read(BYTES_MAX)
  if (content !== undefined) return new Secret(content.toString('utf8').replace(/\r?\n$/, ''))
  throw new UserError('file_too_large', `${name} has more than the ${BYTES_MAX} bytes allowed`)
}
