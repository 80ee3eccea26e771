import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

export function registerTokenRevoke(token: Command, context: CommandContext): void {
  token
    .command('revoke')
    .description('end an open enrolment token: its expiry becomes now')
    .argument('<token>', 'its id, as svc token list shows it, or its hostname')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc token list
  svc token revoke web-1.example.org
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const revoked = await context.withAdmin(({ operations }) =>
        operations.revokeToken({ token: name }),
      )
      if (options.json) return context.output.writeJson(revoked)
      await context.output.write(`token ${revoked.id} for ${revoked.hostname} revoked\n`)
    })
}
