// What `svc plan` and `svc apply` have in common: the files, in whose name, and what becomes of what they no longer name.

import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { ACCESS_TOKEN_NAME } from '../../../protocol/admin/admin-tokens.ts'
import { MANAGER_DEFAULT } from '../../../protocol/admin/declared.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { PlanStyle } from '../../declared/render-plan.ts'
import type { CommandContext } from '../command-context.ts'
import { collect } from '../collect.ts'
import { explainFile } from '../explain-file.ts'

export interface FleetOptions {
  readonly file: readonly string[]
  readonly manager: string
  readonly prune?: true
  readonly takeOver?: true
  readonly json?: true
}

export interface AskedFleet {
  readonly request: AdminRequest<'planFleet'>
  readonly filesSha256: string
}

export function addFleetOptions(command: Command): Command {
  return command
    .requiredOption(
      '-f, --file <path>',
      'a .toml, .yaml or .yml file, or a directory of them at any depth; repeatable',
      (value, earlier: readonly string[] | undefined) => collect(value, earlier ?? []),
    )
    .option('--manager <name>', 'in whose name: it owns what its files say', MANAGER_DEFAULT)
    .option('--prune', 'what this manager owns and its files no longer name goes')
    .option('--take-over', 'fields that another manager owns become this one’s')
    .option('--json', 'print one JSON document')
}

/** Reads the files with the rights of the operator, before anything is opened. */
export async function readAskedFleet(options: FleetOptions): Promise<AskedFleet> {
  const { manager, prune, takeOver } = options
  if (!ACCESS_TOKEN_NAME.test(manager)) {
    throw new UserError('usage', `--manager: ${manager} is not a name`, {
      hint: 'letters, digits, . _ - (not first), at most 64 characters',
    })
  }
  const { readFleet } = await import('../../declared/read-fleet.ts')
  const [first = ''] = options.file
  const fleet = await explainFile(first, async () => readFleet(options.file))
  const request = {
    ...fleet.declaration,
    manager,
    ...(prune && { prune }),
    ...(takeOver && { take_over: takeOver }),
  }
  return { request, filesSha256: fleet.filesSha256 }
}

export function styleOf(
  { output: { language } }: Pick<CommandContext, 'output'>,
  { manager, prune }: AskedFleet['request'],
): PlanStyle {
  return { language, manager, isPruning: prune === true }
}

export const FLEET_HELP = `
A file has lists of objects, each with the keys that it is to own; what a file leaves out of an object is left alone:

  [[policy]]           role; name, token_ttl_max, cert_ttl, sans, loads, reenroll
  [[selector_policy]]  name; where, token_ttl_max, cert_ttl, sans, loads, reenroll
  [[load]]             name; type (csr_cert, sealed), where, sans, sha256
  [[join_rule]]        name; pattern, role, max_hosts, labels, ttl, revoke_after
  [[webhook]]          url; types, where
  [[agent]]            hostname, labels
  [[admin_token]]      name, only

The same in YAML is "policy:" and a list. Portuguese words work too (politica, politica_seletor, carga, agente, nome, tipo). Durations are texts ("8h"),
"none" for no bound. docs/operations.md has an example of each.
`
