// The file of a recovery key that svc makes: an identity file, as `age-keygen -pq` writes it.

import { unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describeError, errnoCode, UserError } from '../../../platform/errors.ts'
import { syncDirectory, writeNewFile } from '../../../platform/files.ts'
import { printable } from '../../../platform/printable.ts'
import { generateAgeIdentity, recipientOf } from '../../../sealing/age-identity.ts'

export interface MadeKey {
  readonly recipient: string
  /** After this failure: removes what nothing needs. */
  discard(error: unknown): Promise<void>
}

const FILE_MODE = 0o600
/** The vault may know the key all the same. */
const MADE_ALL_THE_SAME: ReadonlySet<unknown> = new Set(['vault_unsynced', 'entry_waiting'])

/** Durable before the vault knows the key: a key that nobody has must not be one that opens it. */
export async function makeKeyFile(
  name: string,
  path: string,
  isRehearsal: boolean,
): Promise<MadeKey> {
  const identity = await generateAgeIdentity()
  const recipient = await recipientOf(identity)
  if (isRehearsal) return { recipient, discard: () => Promise.resolve() }
  const lines = [
    `# recovery key ${printable(name)} of a Cartorio vault`,
    '# A person who has it and a copy of the vault can read the vault: keep it elsewhere.',
    `# public key: ${recipient}`,
    identity,
  ]
  try {
    await writeNewFile(path, `${lines.join('\n')}\n`, FILE_MODE)
    await syncDirectory(dirname(path))
  } catch (error) {
    const reason = errnoCode(error) === 'EEXIST' ? `${path} exists already` : describeError(error)
    throw new UserError('file_unwritable', `--file: ${reason}`, { cause: error })
  }
  return {
    recipient,
    discard: async (error) => {
      if (MADE_ALL_THE_SAME.has(errnoCode(error))) return
      try {
        await unlink(path)
      } catch (reason) {
        throw new UserError(
          'key_file_left',
          `${describeError(error)}; and ${path} could not be removed: ${describeError(reason)}`,
          { cause: error, hint: `the key in ${path} opens nothing: remove it` },
        )
      }
    },
  }
}
