import { UserError } from '../../../platform/errors.ts'
import { Secret } from '../../../platform/secret.ts'
import { readEscrowIdentity } from '../../sealed/read-secret.ts'
import type { CommandContext } from '../command-context.ts'
import { readFrom } from '../read-from.ts'

const STANDARD_INPUT = '-'

/** Of the file that an operator named in place of the passphrase, with the operator's rights. `command` is what takes it. */
export function readRecoveryIdentity(
  context: Pick<CommandContext, 'openSecret'>,
  name: string | undefined,
  command: string,
): Promise<Secret<string> | undefined> {
  return readFrom(context, name, async (source) => {
    const { identity } = await readEscrowIdentity(source, `${command} --recovery-identity -`)
    return new Secret(identity)
  })
}

/** The same beside a backup, which can come from there too. */
export function readRecoveryIdentityFor(
  context: Pick<CommandContext, 'openSecret'>,
  { backup, name, command }: { backup: string; name: string | undefined; command: string },
): Promise<Secret<string> | undefined> {
  if (backup === STANDARD_INPUT && name === STANDARD_INPUT) {
    throw new UserError('usage', 'the backup and the recovery key cannot both be standard input', {
      hint: 'name a file for one of them',
    })
  }
  return readRecoveryIdentity(context, name, command)
}
