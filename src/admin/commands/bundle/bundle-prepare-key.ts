import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { formatKeyStatement } from '../../../trust/statements.ts'
import { makeTrustKey } from '../../../trust/trust-key.ts'
import type { CommandContext } from '../command-context.ts'
import { readPublicKeyLine } from './read-given.ts'

export function registerBundlePrepareKey(bundle: Command, context: CommandContext): void {
  bundle
    .command('prepare-key <old.pub> <new.pub>')
    .description('write the text by which the trust key names the one that comes after it')
    .requiredOption('--fleet <name>', 'the fleet that the trust key is of')
    .addHelpText(
      'after',
      `
Sign the text with the old secret key as soon as there is one, and keep text, signature and the new secret key apart from
the old one: with them you go on when the old one is lost. The text names no roots and no number, so it never gets old.
This command asks no hub.

Keep what it prints in a file, such as next.txt; minisign -S -s trust.key -m next.txt signs it with the old secret key.
When the new one signs, svc bundle sign set.txt --key-change next.txt says so to the hub.

Examples:
  svc bundle prepare-key trust.pub next.pub --fleet prod
`,
    )
    .action(async (oldPath: string, newPath: string, { fleet }: { readonly fleet: string }) => {
      const from = makeTrustKey(fleet, await readPublicKeyLine(oldPath))
      const to = makeTrustKey(fleet, await readPublicKeyLine(newPath))
      if (from === undefined || to === undefined) {
        throw new UserError('usage', `--fleet: ${fleet} is not a name of a-z, 0-9, . and -`)
      }
      if (from.text === to.text) throw new UserError('usage', 'both files hold the same key')
      await context.output.write(formatKeyStatement({ from, to }))
    })
}
