import type { Command } from 'commander'
import { SvcError } from '../../platform/errors.ts'
import { formatDurationMs } from '../../platform/durations.ts'
import type { AdminReplies } from '../../protocol/admin/operations.ts'
import { type Language, stateIn } from '../../protocol/spoken-words.ts'
import type { CommandContext } from './command-context.ts'
import { renderFields, renderRows, stateWord } from '../terminal/table.ts'

type Status = AdminReplies['showStatus']

export function registerStatus(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description(
      'show how the hub is, the fleet in figures, and for how long the hub may stay down',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The first line says whether the hub is ready; what is wrong follows, and since when. The exit status is 1 when it is not ready.
"survives" is the time until the first host loses a certificate, because no host can renew without the hub. Late agents count too.
While some are late, "survives without late" is the time until the first of the others does: late agents do not renew anyway.

Examples:
  svc status
  svc status --json
`,
    )
    .action(async (options: { json?: true }) => {
      const { language } = context.output
      const status = await context.withAdmin(({ operations }) => operations.showStatus({}))
      if (options.json) await context.output.writeJson(status)
      else
        await context.output.write(
          `${renderHealth(language, status)}\n${renderStatus(language, status)}`,
        )
      if (hasHealth(status) && status.hub?.ready !== true) {
        const why = status.hub === null ? 'the hub does not run' : 'the hub is not ready'
        throw new SvcError('hub_not_ready', why)
      }
    })
}

type SentStatus = Omit<Status, Later> & Partial<Pick<Status, Later>>
type Later = 'entregas' | 'rollouts' | 'freeze' | 'survival_on_time'

/** A hub up to 0.4.0 does not say how it is. */
function hasHealth(status: Status): boolean {
  return (status as Partial<Status>).hub !== undefined
}

function renderHealth(language: Language, status: Status): string {
  if (!hasHealth(status)) return ''
  const { hub } = status
  if (hub === null) return renderFields(language, { hub: stateWord('not running') })
  const faults = hub.subsystems.filter(({ ready }) => !ready)
  const lines = [
    ...faults.map(({ name, reason, since }) => `  ${name}: ${reason}, since ${since ?? 'unknown'}`),
    ...hub.remarks.map((remark) => `  ${remark}`),
  ]
  const state = renderFields(language, { hub: stateWord(hub.ready ? 'ready' : 'not ready') })
  return `${state}${lines.map((line) => `${line}\n`).join('')}`
}

function renderStatus(language: Language, status: Status): string {
  // A hub up to 0.4.0 does not count entregas, has no rollouts, and does not look at late hosts apart.
  const sent = status as SentStatus
  const { version, agentes, entregas = {}, certificados, survival } = sent
  const figures = renderFields(language, {
    version,
    ...prefixed('agentes', agentes),
    ...prefixed('entregas', entregas),
    ...rowsOf(survival),
    ...(agentes.atrasado > 0 && rowsOnTime(sent.survival_on_time)),
    ...rolloutsOf(language, sent),
  })
  const rows = Object.entries(certificados).map(([purpose, counts]) => ({ purpose, ...counts }))
  const certificates = renderRows(
    language,
    {
      certificados: (row) => stateWord(row.purpose),
      valid: (row) => row.valid,
      atrasado: (row) => row.atrasado,
      expired: (row) => row.expired,
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
  const lateness = first.atrasado ? ', late' : ''
  return {
    survives: formatDurationMs(seconds * 1000),
    'first host': `${first.hostname} (${describeEnd(first)}${lateness})`,
    following_1h,
    following_24h,
  }
}

/** None of a hub up to 0.4.0, which does not say it. */
function rowsOnTime(survival: SentStatus['survival_on_time']): Record<string, string> {
  if (survival === undefined) return {}
  const text =
    survival === null
      ? 'for ever: no other host has a certificate'
      : `${formatDurationMs(survival.seconds * 1000)}, then ${survival.first.hostname} (${describeEnd(survival.first)})`
  return { 'survives without late': text }
}

function describeEnd({
  nome,
  not_after: end,
}: Pick<NonNullable<Status['survival']>['first'], 'nome' | 'not_after'>): string {
  return `${nome === null ? 'its identity' : `delivery ${nome}`}, until ${end}`
}

/** A line for each, and one for a freeze. */
function rolloutsOf(
  language: Language,
  { rollouts = [], freeze = null }: SentStatus,
): Record<string, string> {
  const lines = rollouts.map(({ kind, nome, state, wave, waves, reason }): [string, string] => {
    const why = reason === null ? '' : `: ${reason}`
    return [
      `rollout ${nome ?? kind}`,
      `${stateIn(language, state)} in wave ${wave} of ${waves}${why}`,
    ]
  })
  return {
    ...Object.fromEntries(lines),
    ...(freeze && { freeze: `until ${freeze.until}: ${freeze.why}` }),
  }
}
