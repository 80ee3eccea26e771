import type { Command } from 'commander'
import type { AdminCaRevocation } from '../protocol/admin.ts'
import type { CommandContext } from './command-context.ts'
import { readWholeList } from './read-list.ts'
import { type Columns, renderRows } from './table.ts'

const COLUMNS: Columns<AdminCaRevocation> = {
  HOSTNAME: (revocation) => revocation.hostname,
  SERIAL: (revocation) => revocation.serial,
  PURPOSE: (revocation) => revocation.purpose,
  STATE: (revocation) => revocation.state,
  REVOKED_AT: (revocation) => revocation.revoked_at,
  NOT_AFTER: (revocation) => revocation.not_after,
  REASON: (revocation) => revocation.reason,
}

export function registerAgenteRevocations(agente: Command, context: CommandContext): void {
  agente
    .command('revocations')
    .description('list the certificates of revoked agents that the CA has yet to revoke')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub itself refuses all of them. waiting: a running hub asks the CA until it is done. refused: the CA said that it will
not, and is asked again when the agent is revoked once more. Each is listed until it expires, soonest first.

Examples:
  svc agente revocations
  svc agent revocations --json
`,
    )
    .action(async (options: { json?: true }) => {
      const revocations = await context.withAdmin(({ operations }) =>
        readWholeList(
          (page) => operations.listCaRevocations(page),
          (page) => page.revocations,
        ),
      )
      if (options.json) return context.output.writeJson({ revocations })
      await context.output.write(renderRows(COLUMNS, revocations))
    })
}
