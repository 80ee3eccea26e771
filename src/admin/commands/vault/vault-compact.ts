import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

interface CompactOptions {
  readonly json?: true
}

export function registerVaultCompact(noun: Command, { vault, output }: CommandContext): void {
  noun
    .command('compact')
    .description('make the database file as small as what is in it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub must be stopped. What svc event archive takes out of the vault leaves room in db.enc, which new events fill. This command gives
that room back to the disk: it copies what is in the database, reads the copy, and puts it in the place of the file by one rename. It
needs room for what is in the database, and takes as long as that is large.

Examples:
  systemctl stop svc-server
  svc vault compact
  systemctl start svc-server
`,
    )
    .action(async ({ json }: CompactOptions) => {
      const { path, bytesBefore, bytesAfter } = await vault.compact()
      if (json) {
        return output.writeJson({ vault: path, bytes_before: bytesBefore, bytes_after: bytesAfter })
      }
      await output.write(`${path}: ${bytesBefore} bytes before, ${bytesAfter} bytes now\n`)
    })
}
