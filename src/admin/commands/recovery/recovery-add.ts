import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'
import { rehearsedKeyChange } from '../rehearsed-key-change.ts'
import { makeKeyFile, type MadeKey } from './key-file.ts'

interface AddOptions {
  readonly file?: string
  readonly recipient?: string
  readonly json?: true
  readonly dryRun?: true
}

export function registerRecoveryAdd(recovery: Command, context: CommandContext): void {
  recovery
    .command('add')
    .description('let one more key open the vault')
    .argument('<name>', 'what the key is called')
    .option('--file <file>', 'make the key, and write it into this new file (mode 0600)')
    .option('--recipient <recipient>', 'the recipient of a key that you have: age1pq1…')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A recovery key sets a new passphrase when the passphrase is lost (svc passphrase change --recovery-identity). It is a
post-quantum identity of age. A person who has it and a copy of the vault can read the vault: keep the two apart, and keep the key
off this machine. A vault has at most three. The hub must be stopped.

Examples:
  svc recovery add safe --file safe.key
  age-keygen -pq -o safe.key     # on another machine, which shows the recipient
  svc recovery add safe --recipient age1pq1…
`,
    )
    .action((name: string, options: AddOptions) => addRecoveryKey(context, name, options))
}

async function addRecoveryKey(
  context: CommandContext,
  name: string,
  options: AddOptions,
): Promise<void> {
  const { vault, output } = context
  const isRehearsal = options.dryRun === true
  const made = await chooseKey(name, options, isRehearsal)
  const report = await vault
    .addRecoveryKey({ name, recipient: made.recipient, isRehearsal })
    .catch(async (error: unknown) => {
      await made.discard(error)
      throw error
    })
  if (isRehearsal) throw rehearsedKeyChange(report)
  const { path, payload } = report
  if (options.json) return output.writeJson({ vault: path, ...payload })
  const where = options.file === undefined ? '' : `${options.file} holds it: keep it elsewhere\n`
  await output.write(
    `recovery key ${name} opens ${path}\nfingerprint ${String(payload['fingerprint'])}\n${where}`,
  )
}

/** With the operator's own rights: before svc becomes the owner of the vault. */
async function chooseKey(
  name: string,
  { file, recipient: text }: AddOptions,
  isRehearsal: boolean,
): Promise<MadeKey> {
  if ((file === undefined) === (text === undefined)) {
    throw new UserError('usage', 'name either --file or --recipient', {
      hint: 'svc recovery add --help shows how',
    })
  }
  if (file !== undefined) return makeKeyFile(name, file, isRehearsal)
  return { recipient: text ?? '', discard: () => Promise.resolve() }
}
