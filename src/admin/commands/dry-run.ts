// `--dry-run`: the operation that a command asks for is asked for with `dry_run`. Its answer is thrown through the command,
// which would not know what to do with it, and printed where the command was started. docs/protocol.md CLI-48, CLI-49.

import type { Command } from 'commander'
import { SvcError } from '../../platform/errors.ts'
import type { AdminRehearsal } from '../../protocol/admin/operation.ts'
import { ADMIN_OPERATIONS, wrapOperations } from '../../protocol/admin/operations.ts'
import type { AdminSession } from '../doors/admin-session.ts'
import type { Output } from '../terminal/output.ts'
import { renderRows } from '../terminal/table.ts'
import { requireFeature } from './require-feature.ts'

export interface DryRunOptions {
  readonly dryRun?: true
  readonly json?: true
}

/** Not a failure: it ends the command in place of what the act would have answered. */
export class Rehearsed extends Error {
  override name = 'Rehearsed'
  readonly answer: AdminRehearsal
  constructor(answer: AdminRehearsal) {
    super('the command was rehearsed')
    this.answer = answer
  }
}

const LOOKS: ReadonlySet<string> = new Set([
  'list',
  'show',
  'status',
  'revocations',
  'export',
  'proof',
  'verify',
  'prepare',
  'prepare-key',
  'segments',
  'selectors',
  'compact',
  'migrate',
  'init',
  'promote',
  'owners',
])

/** To each command below it, unless the command only looks. */
export function addDryRunOptions(noun: Command): void {
  for (const command of noun.commands) {
    if (command.commands.length > 0) addDryRunOptions(command)
    else if (!LOOKS.has(command.name())) {
      command.option('--dry-run', 'show what the audit log would say, and change nothing')
    }
  }
}

/** Asks only for rehearsals of what would change something. */
export function rehearsing(session: AdminSession): AdminSession {
  const operations = wrapOperations(session.operations, async (name, request, proceed) => {
    if (ADMIN_OPERATIONS[name].does === 'reads') return proceed(request)
    // An older hub ignores the field that it does not know, and acts.
    const consequence = 'it would carry the command out instead of rehearsing it'
    await requireFeature(session.operations, 'dry_run', consequence)
    const answer = await proceed({ ...request, dry_run: true })
    if (isRehearsal(answer)) throw new Rehearsed(answer)
    throw new SvcError('dry_run_ignored', 'the hub did not rehearse the command but carried it out')
  })
  return { ...session, operations }
}

function isRehearsal(answer: object): answer is AdminRehearsal {
  return 'dry_run' in answer && answer.dry_run === true
}

const COLUMNS = {
  tipo_evento: ({ tipo }: AdminRehearsal['acts'][number]) => tipo,
  entrega_id: ({ entrega_id }: AdminRehearsal['acts'][number]) => entrega_id,
  payload: ({ payload }: AdminRehearsal['acts'][number]) => JSON.stringify(payload),
}

export async function printRehearsal(
  output: Output,
  answer: AdminRehearsal,
  isJson: boolean,
): Promise<void> {
  if (isJson) return output.writeJson(answer)
  const { acts, agentes } = answer
  const told = agentes === 1 ? '1 agent' : `${agentes} agents`
  const log =
    acts.length === 0
      ? 'the audit log would say nothing\n'
      : renderRows(output.language, COLUMNS, acts)
  const foreseen = answer.politica === undefined ? '' : renderForeseen(answer.politica)
  await output.write(`${log}${foreseen}${told} would be told; nothing was done\n`)
}

/** docs/protocol.md POL-28. */
function renderForeseen({
  agentes,
  cargas,
  cargas_afetadas: affected,
}: NonNullable<AdminRehearsal['politica']>): string {
  const held = `the policy would hold for ${agentes === 1 ? '1 agent' : `${agentes} agents`}\n`
  const lines = affected.map(
    ({ nome, sans, agentes: hosts }) => `  ${nome} (${sans.join(', ')}): ${hosts}\n`,
  )
  const more = cargas > affected.length ? `  and ${cargas - affected.length} more\n` : ''
  return cargas === 0
    ? held
    : `${held}loads with names that it would forbid, and how many agents have them:\n${lines.join('')}${more}`
}
