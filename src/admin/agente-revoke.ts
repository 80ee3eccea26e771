import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

export function registerAgenteRevoke(agente: Command, context: CommandContext): void {
  agente
    .command('revoke')
    .description('revoke an agent: it and all its certificates are refused from now on')
    .argument('<agente>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A running hub also revokes its certificates at the CA, in the background: svc agente revocations
shows what is left to do, and revoking once more asks again for what the CA refused.
A revoked host comes back only by a new enrolment: svc token create --reenroll.

Examples:
  svc agente revoke web-1.example.org
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const revoked = await context.withAdmin(({ operations }) =>
        operations.revokeAgent({ agente: name }),
      )
      if (options.json) return context.output.writeJson(revoked)
      await context.output.write(
        `agente ${revoked.hostname} (${revoked.id}) revoked at ${revoked.revoked_at}\n`,
      )
    })
}
