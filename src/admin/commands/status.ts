import type { Command } from 'commander'
import { formatDurationMs } from '../../platform/durations.ts'
import type { AdminReplies } from '../../protocol/admin/operations.ts'
import type { CommandContext } from './command-context.ts'
import { renderFields, renderRows } from '../terminal/table.ts'

type Status = AdminReplies['showStatus']

export function registerStatus(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description('show the fleet in figures, and for how long the hub may stay down')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
"survives" is the time until the first host loses a certificate, because no host can renew without the hub. Late agents count too.

Examples:
  svc status
  svc status --json
`,
    )
    .action(async (options: { json?: true }) => {
      const status = await context.withAdmin(({ operations }) => operations.showStatus({}))
      if (options.json) return context.output.writeJson(status)
      await context.output.write(renderStatus(status))
    })
}

type SentStatus = Omit<Status, 'entregas'> & Partial<Pick<Status, 'entregas'>>

function renderStatus(status: Status): string {
  // A hub up to 0.4.0 does not count entregas.
  const { version, agentes, entregas = {}, certificados, survival } = status as SentStatus
  const figures = renderFields({
    version,
    ...prefixed('agentes', agentes),
    ...prefixed('entregas', entregas),
    ...rowsOf(survival),
  })
  const rows = Object.entries(certificados).map(([purpose, counts]) => ({ purpose, ...counts }))
  const certificates = renderRows(
    {
      CERTIFICATES: (row) => row.purpose,
      VALID: (row) => row.valid,
      ATRASADO: (row) => row.atrasado,
      EXPIRED: (row) => row.expired,
    },
    rows,
  )
  return `${figures}\n${certificates}`
}

function prefixed(prefix: string, counts: Readonly<Record<string, number>>) {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [`${prefix} ${name}`, count]),
  )
}

function rowsOf(survival: Status['survival']): Record<string, string | number> {
  if (survival === null) return { survives: 'for ever: no host has a certificate' }
  const { seconds, first, following_1h, following_24h } = survival
  const what = first.nome === null ? 'its identity' : `delivery ${first.nome}`
  const lateness = first.atrasado ? ', atrasado' : ''
  return {
    survives: formatDurationMs(seconds * 1000),
    'first host': `${first.hostname} (${what}, until ${first.not_after}${lateness})`,
    'hosts within 1h of it': following_1h,
    'hosts within 24h of it': following_24h,
  }
}
