// `svc admin passkey`: what people confirm acts by in the console.

import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { listCommand } from './list-command.ts'

export function registerAdminPasskey(admin: Command, context: CommandContext): void {
  const passkey = admin
    .command('passkey')
    .description('what people confirm acts by in the console (SVC_CONSOLE_CONFIRM)')
  listCommand({
    description: 'list the passkeys, newest first; without role admin only the own ones',
    plural: 'passkeys',
    ask: (operations, page) => operations.listPasskeys(page),
    columns: {
      id: (each) => each.id,
      name: (each) => each.name,
      label: (each) => each.label,
      created_at: (each) => each.created_at,
      last_used_at: (each) => each.last_used_at,
    },
  })(passkey, context)
  registerRemove(passkey, context)
}

function registerRemove(passkey: Command, context: CommandContext): void {
  passkey
    .command('remove')
    .description('remove the passkeys of a person whose key is lost, or one of them')
    .argument('<name>', 'whose: the name of the admin token, as svc admin passkey list shows it')
    .option('--id <id>', 'this one alone')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Without a passkey the person registers another one in the console, within 5 minutes after signing in. End the open sessions of that
name first if somebody else may have one of them: svc admin session list.

Examples:
  svc admin passkey list
  svc admin passkey remove ana@example.org
  svc admin passkey remove ana@example.org --id 7d1c0e5a9b3f2468
`,
    )
    .action(async (name: string, options: { id?: string; json?: true }) => {
      const request = { name, ...(options.id !== undefined && { passkey: options.id }) }
      const removed = await context.withAdmin(({ operations }) =>
        operations.removePasskeys(request),
      )
      if (options.json) return context.output.writeJson(removed)
      for (const { id, label } of removed.passkeys) {
        await context.output.write(`passkey ${id} (${label}) of ${name} removed\n`)
      }
    })
}
