import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { collect } from '../collect.ts'
import { awaitChange } from '../await-change.ts'
import type { CommandContext } from '../command-context.ts'
import { cargoArgument } from '../named-arguments.ts'
import { ifVersaoOption } from './if-versao.ts'
import { renderNewDeliveries } from './new-deliveries.ts'
import { describeStart } from '../rollout/describe-rollout.ts'
import {
  addRolloutOptions,
  parseRolloutOptions,
  type RolloutOptions,
  type RolloutRules,
} from '../rollout/rollout-options.ts'
import { resolveCargo } from './resolve-cargo.ts'
import { addSealOptions, parseVouched, type SealOptions } from './seal-options.ts'

interface CargaUpdateOptions extends SealOptions, RolloutOptions {
  readonly san: readonly string[]
  /** False when --no-sans is given. */
  readonly sans: boolean
  readonly ifVersao?: number
  readonly json?: true
}

export function registerCargaUpdate(carga: Command, context: CommandContext): void {
  const command = carga
    .command('update')
    .description('make the next version of a load, with a fresh delivery for each of its agents')
    .addArgument(cargoArgument())
    .option(
      '--san <name>',
      'a DNS name or IP address, in place of its present names; repeatable',
      collect,
      [],
    )
    .option('--no-sans', 'only the host’s own name from now on')
    .addOption(ifVersaoOption())
  addSealOptions(command, 'the new content of a sealed load')
  addRolloutOptions(command)
  command
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
For a csr_cert, every host gets a new certificate; without --san and --no-sans the names stay as they are. svc seals a
sealed load for the agents that have it, and for its escrow; see svc load create --help for recipients, and for the names that
an operator may give.

With --waves the hub gives the version to a few hosts first. The next wave opens when every host of the last one has installed it, its
targets have reported that they are in place and served, and it was so for the time of --soak. More failures than --max-failed freeze the
rollout. The load itself stays at the version before until the last wave is done: svc rollout undo brings that back.

Examples:
  svc load update site --san shop.example.org --san '*.shop.example.org'
  svc load update site --no-sans
  svc load update db-password --file db-password
  svc load update site --san shop.example.org --waves 1,10%,50%,100% --soak 10m --max-failed 2%
  svc load update site --waves 1,100% --dry-run
  svc load update site --json
`,
    )
    .action((id: string, options: CargaUpdateOptions) => updateCargo(context, id, options))
}

async function updateCargo(
  context: CommandContext,
  id: string,
  options: CargaUpdateOptions,
): Promise<void> {
  const sans = chooseSans(options)
  const rules = parseRolloutOptions(options)
  if (options.file !== undefined) return updateSealedCargo(context, id, { ...options, sans, rules })
  refuseVouching(options)
  const request = {
    carga: id,
    ...(sans === undefined ? {} : { sans }),
    ...(options.ifVersao === undefined ? {} : { versao: options.ifVersao }),
  }
  if (rules !== undefined) {
    const started = await context.withAdmin(({ operations }) =>
      operations.startRollout({ ...request, ...rules }),
    )
    if (options.json) return context.output.writeJson(started)
    return context.output.write(describeStart(started))
  }
  const updated = await context.withAdmin(({ operations }) =>
    awaitChange(context, operations, operations.updateCargo(request)),
  )
  if (options.json) return context.output.writeJson(updated)
  const table = renderNewDeliveries(context.output.language, updated.entregas)
  await context.output.write(
    `load ${updated.carga_id} is now version ${updated.versao}\n\n${table}`,
  )
}

async function updateSealedCargo(
  context: CommandContext,
  name: string,
  options: Omit<CargaUpdateOptions, 'sans'> & {
    readonly sans: readonly string[] | undefined
    readonly rules: RolloutRules | undefined
  },
): Promise<void> {
  const { file = '', ifVersao: versao, json, sans, rules } = options
  if (sans !== undefined)
    throw new UserError('usage', 'a sealed load has no names: leave --san and --no-sans out')
  const vouched = parseVouched(options)
  const id = await resolveCargo(context, name)
  const { contentOfFile, sealNext } = await import('./update-sealed-cargo.ts')
  const source = await context.openSecret(file)
  try {
    const update = { id, versao, vouched, rules, ...(json && { json }) }
    await sealNext(context, update, contentOfFile(source))
  } finally {
    await source.close()
  }
}

function refuseVouching({ acceptRecipient, recipient }: SealOptions): void {
  if (acceptRecipient.length + recipient.length === 0) return
  throw new UserError('usage', '--accept-recipient and --recipient go with --file')
}

function chooseSans({ san, sans }: CargaUpdateOptions): string[] | undefined {
  if (!sans && san.length > 0) {
    throw new UserError('usage', '--san and --no-sans do not go together', {
      hint: '--san alone replaces all the names that the load has',
    })
  }
  if (!sans) return []
  return san.length === 0 ? undefined : [...san]
}
