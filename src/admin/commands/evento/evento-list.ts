import { type Command, Option } from 'commander'
import { ENTRY_GROUPS } from '../../../protocol/admin/bounds.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import type { EventoListOptions } from './evento-list-options.ts'

export function registerEventoList(evento: Command, context: CommandContext): void {
  evento
    .command('list')
    .description('list the audit log, oldest first, all of it unless --limit is given')
    .option('--verify', 'check the whole log, whatever svc lists: hash chain, tree, checkpoint')
    .option('--checkpoint <file>', 'with --verify: the log must go on from this checkpoint')
    .option(
      '--key <key>',
      'with --verify: the key that must have signed, as svc checkpoint --key shows it',
    )
    .option(`${flagOf('tipo')} <type>`, 'only events of this type; repeatable', collect, [])
    .option('--about <agent>', 'what an agent sent and what was done to it, by hostname or id')
    .option(`${flagOf('agente')} <agent>`, 'only events that this agent sent, by hostname or id')
    .option('--actor <actor>', 'only what this actor did: admin, hub, agent or token:<name>')
    .addOption(
      new Option('--by <group>', 'only what people did, or what hosts sent').choices(ENTRY_GROUPS),
    )
    .option('--no-routine', 'without what hosts do by themselves while all is well')
    .option('--since <time>', 'only events since a time, or since a duration ago')
    .option('--until <time>', 'only events before a time, or before a duration ago')
    .option('--limit <count>', 'only the newest events; with --after the first ones')
    .option('--after <seq>', 'only events after the event with this number')
    .option('--before <seq>', 'only events before the event with this number')
    .option('--follow', 'print new events as they come; needs a running hub')
    .option('--json', 'print one JSON document (with --follow: one JSON object a line)')
    .addHelpText(
      'after',
      `
With --verify the exit status is 1 when an entry is wrong, or when the log is not the one that was signed.
With --follow svc waits for a hub that is away, and then goes on where it was: no entry is missing, none comes twice. Ctrl-C ends it.

Examples:
  svc event list --limit 20
  svc event list --after 120000 --limit 1000
  svc event list --verify --json
  svc event list --verify --limit 1 --checkpoint yesterday.checkpoint
  svc event list --about web-1.example.org --limit 50
  svc event list --actor token:ci --since 24h
  svc event list --by people --since 24h
  svc event list --by people --limit 20 --follow
  svc event list --no-routine --limit 100
  svc event list --type entrega_falhou --type hook_falhou --since 2026-01-01 --until 2026-02-01
  svc event list --agent web-1.example.org --since 2026-01-31T12:00:00Z
`,
    )
    .action(async (options: EventoListOptions) => {
      const { listEntries } = await import('./list-entries.ts')
      await listEntries(context, options)
    })
}
