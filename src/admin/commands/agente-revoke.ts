import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

export function registerAgenteRevoke(agente: Command, context: CommandContext): void {
  agente
    .command('revoke')
    .description('revoke an agent: the hub refuses it and all its certificates from now on')
    .argument('<agente>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A running hub also revokes its certificates at the CA, in the background: svc agente revocations
shows the certificates that are left, and revoking once more asks again for those that the CA refused.
Open tokens for its hostname end too. A revoked host comes back only by a token that you make
afterwards: svc token create --reenroll. Revoking once more ends that token too.

Examples:
  svc agente revoke web-1.example.org
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const revoked = await context.withAdmin(({ operations }) =>
        operations.revokeAgent({ agente: name }),
      )
      if (options.json) return context.output.writeJson(revoked)
      const ended = revoked.tokens_ended
      const tokens =
        ended > 0 ? `, ${ended} open ${ended === 1 ? 'token' : 'tokens'} for it ended` : ''
      await context.output.write(
        `agente ${revoked.hostname} (${revoked.id}) revoked at ${revoked.revoked_at}${tokens}\n`,
      )
    })
}
