import type { Command } from 'commander'
import type { AdminOperations, AdminReplies } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import type { Progress } from '../../terminal/progress.ts'
import { parseTimeOption } from './evento-list-options.ts'

interface EventoArchiveOptions {
  readonly before: string
  readonly json?: true
}

export function registerEventoArchive(evento: Command, context: CommandContext): void {
  evento
    .command('archive')
    .description('move old events out of the vault, into sealed segments in SVC_LOG_ARCHIVE_DIR')
    .requiredOption('--before <time>', 'events before a time, or before a duration ago')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub writes each segment, syncs it, reads it again, holds it against the signed checkpoint, and only then removes its events from the
vault. Events of the last 30 days stay, and so does what a webhook has yet to get. You may stop svc at any time: the next run goes on.
Lists, --verify and export read the segments where they are. Back up the directory too: a backup of the vault does not have them.

Examples:
  svc event archive --before 90d
  svc event archive --before 2026-01-01
`,
    )
    .action((options: EventoArchiveOptions) => archiveLog(context, options))
}

type Step = AdminReplies['archiveEntries']

async function archiveLog(context: CommandContext, options: EventoArchiveOptions): Promise<void> {
  const { output, progress, clock } = context
  const before = parseTimeOption('--before', options.before, clock.now())
  const last = await context.withAdmin(({ operations }) => archiveAll(operations, before, progress))
  progress.clear()
  if (options.json) await output.writeJson({ archived_until: last.archived_until })
  else await output.write(`${describe(last)}\n`)
}

async function archiveAll(
  operations: AdminOperations,
  before: string,
  progress: Progress,
): Promise<Step> {
  for (;;) {
    const step = await operations.archiveEntries({ before })
    if (step.done) return step
    const { archived_until, removed_until, target } = step
    progress.show(`archiving: ${archived_until} of ${target} events, ${removed_until} removed`)
  }
}

function describe({ removed_until: until }: Step): string {
  return until === 0
    ? 'no event is archived: none is old enough'
    : `events 1 to ${until} are archived; svc event segments lists their files`
}
