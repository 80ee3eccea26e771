import type { AdminSegment } from '../../../protocol/admin/views.ts'
import type { Command } from 'commander'
import { stateWord, renderRows } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { shortTime } from '../short-time.ts'

export function registerEventoSegments(evento: Command, context: CommandContext): void {
  evento
    .command('segments')
    .description('list the segments of archived events, and whether their files are there')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A file that is missing, or has another length, is needed for lists, --verify and export of its events: put it back into the directory that
SVC_LOG_ARCHIVE_DIR of the hub names.

Examples:
  svc event segments
  svc event segments --json
`,
    )
    .action(async ({ json }: { json?: true }) => {
      const { output } = context
      const segments = await context.withAdmin(async ({ operations }) => {
        const found: AdminSegment[] = []
        for (let after: number | null = 0; after !== null;) {
          const page: { segments: AdminSegment[]; next: number | null } =
            await operations.listSegments({ after })
          found.push(...page.segments)
          after = page.next
        }
        return found
      })
      if (json) await output.writeJson({ segments })
      else await output.write(renderRows(output.language, COLUMNS, segments))
    })
}

const COLUMNS = {
  first: ({ first }: AdminSegment) => first,
  last: ({ last }: AdminSegment) => last,
  first_at: ({ first_at: at }: AdminSegment) => shortTime(at),
  last_at: ({ last_at: at }: AdminSegment) => shortTime(at),
  bytes: ({ bytes }: AdminSegment) => bytes,
  state: ({ state }: AdminSegment) => stateWord(state),
  file: ({ file }: AdminSegment) => file,
}
