import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations, AdminReplies } from '../../../protocol/admin/operations.ts'
import { cargoArgument } from '../named-arguments.ts'
import { awaitChange } from '../await-change.ts'
import type { CommandContext } from '../command-context.ts'
import type { DryRunOptions } from '../dry-run.ts'
import { parseDecidingWhereOption, WHERE_FLAG } from '../hosts/where-option.ts'
import { type Columns, renderRows, stateWord } from '../../terminal/table.ts'
import { ifVersaoOption } from './if-versao.ts'

interface CargaSelectOptions extends DryRunOptions {
  /** False when --no-where is given. */
  readonly where?: string | false
  readonly prune?: true
  readonly yes?: true
  readonly ifVersao?: number
  readonly json?: true
}

type Selection = AdminReplies['showSelection']

export function registerCargaSelect(carga: Command, context: CommandContext): void {
  carga
    .command('select')
    .description('show which agents a load is for, or change its selector')
    .addArgument(cargoArgument())
    .option(WHERE_FLAG, 'the load belongs to this selector from now on')
    .option('--no-where', 'the load belongs to no selector: the agents that have it keep it')
    .option('--prune', 'cancel the deliveries of the agents that do not match')
    .option('--yes', 'with --prune: do it')
    .addOption(ifVersaoOption())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Without an option it shows how many agents match, which of them do not have the load yet and why, and which agents have it without
matching. An agent that comes to match gets the load at its next poll. An agent that no longer matches keeps it, and renews it,
until --prune cancels its delivery: the files on the host stay there, and the agent no longer renews them.

Examples:
  svc load select site
  svc load select site --where 'role=web,env in (prod,stage)'
  svc load select site --prune --dry-run
  svc load select site --prune --yes
  svc load select site --no-where
`,
    )
    .action((name: string, options: CargaSelectOptions) => select(context, name, options))
}

async function select(
  context: CommandContext,
  name: string,
  options: CargaSelectOptions,
): Promise<void> {
  const { where, prune, json, output } = { ...options, output: context.output }
  if (prune && where !== undefined) {
    throw new UserError('usage', '--prune goes by the selector that the load has', {
      hint: 'set the selector first, and look at what svc load select shows',
    })
  }
  const versao = options.ifVersao === undefined ? {} : { versao: options.ifVersao }
  await context.withAdmin(async ({ operations }) => {
    if (prune) return pruneLoad(context, operations, { carga: name, ...versao }, options)
    if (where === undefined) {
      const shown = await operations.showSelection({ carga: name })
      return json ? output.writeJson(shown) : output.write(renderSelection(context, shown))
    }
    const text = where === false ? null : parseDecidingWhereOption(where)
    const selected = await operations.selectCargo({ carga: name, where: text, ...versao })
    if (json) return output.writeJson(selected)
    const whom = text === null ? 'to the agents that have it, and no selector' : `to ${text}`
    return output.write(`load ${selected.nome} (${selected.carga_id}) belongs ${whom}\n`)
  })
}

async function pruneLoad(
  context: CommandContext,
  operations: AdminOperations,
  request: { readonly carga: string; readonly versao?: number },
  options: CargaSelectOptions,
): Promise<void> {
  if (!options.yes && !options.dryRun) throw unconfirmed(await operations.showSelection(request))
  const pruned = await awaitChange(context, operations, operations.pruneCargo(request))
  if (options.json) return context.output.writeJson(pruned)
  const { nome, carga_id: id, entregas } = pruned
  const table =
    entregas.length === 0 ? '' : `\n${renderRows(context.output.language, HOLDERS, entregas)}`
  await context.output.write(
    `load ${nome} (${id}): ${countOf(entregas.length, 'delivery', 'deliveries')} cancelled\n${table}`,
  )
}

/** Says which, as far as an error can. */
function unconfirmed({ nome, unmatched, unmatched_total: total }: Selection): UserError {
  const names = unmatched.slice(0, 20).map(({ hostname }) => hostname)
  const more = total > names.length ? `, and ${total - names.length} more` : ''
  const whom = total === 0 ? 'of no agent' : `of ${names.join(', ')}${more}`
  return new UserError('unconfirmed', `this cancels the deliveries of load ${nome} ${whom}`, {
    hint: 'repeat the command with --yes if you mean it; svc load select shows all of them',
  })
}

type Waiting = Selection['waiting'][number]
type Holder = Selection['unmatched'][number]

const WAITING: Columns<Waiting> = {
  hostname: ({ hostname }) => hostname,
  reason: ({ reason, detail }) => (detail === null ? stateWord(reason) : `${reason} ${detail}`),
}

const HOLDERS: Columns<Holder> = {
  hostname: ({ hostname }) => hostname,
  entrega_id: ({ id }) => id,
}

function renderSelection({ output: { language } }: CommandContext, shown: Selection): string {
  const { nome, where, matching, waiting, waiting_total, unmatched, unmatched_total } = shown
  if (where === null)
    return `load ${nome} belongs to no selector: it is for the agents that have it\n`
  const match = countOf(matching, 'agent matches', 'agents match')
  return [
    `load ${nome} belongs to ${where}: ${match}\n`,
    renderList(
      `${countOf(waiting_total, 'of them does', 'of them do')} not have it yet`,
      waiting_total,
      waiting.length,
      renderRows(language, WAITING, waiting),
    ),
    renderList(
      `${countOf(unmatched_total, 'agent has it, and does', 'agents have it, and do')} not match`,
      unmatched_total,
      unmatched.length,
      renderRows(language, HOLDERS, unmatched),
    ),
  ].join('')
}

function renderList(heading: string, total: number, shown: number, table: string): string {
  if (total === 0) return ''
  const part = total > shown ? `; the first ${shown}` : ''
  return `\n${heading}${part}:\n${table}`
}

function countOf(count: number, one: string, many: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${many}`
}
