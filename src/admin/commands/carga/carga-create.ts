import { type Command, Option } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { flagOf, toWireValue } from '../../../protocol/spoken-words.ts'
import { DeliveryKind } from '../../../protocol/words.ts'
import { collect } from '../collect.ts'
import { awaitChange } from '../await-change.ts'
import type { CommandContext } from '../command-context.ts'
import {
  OF_CARGO,
  parseDecidingWhereOption,
  requireWhere,
  WHERE_FLAG,
} from '../hosts/where-option.ts'
import { renderNewDeliveries } from './new-deliveries.ts'
import { addSealOptions, type SealOptions } from './seal-options.ts'

export interface CargaCreateOptions extends SealOptions {
  readonly tipo: string
  readonly nome: string
  readonly agente: readonly string[]
  readonly role: readonly string[]
  readonly san: readonly string[]
  readonly escrow: readonly string[]
  readonly where?: string
  readonly unassigned?: true
  readonly json?: true
}

export function registerCargaCreate(carga: Command, context: CommandContext): void {
  const command = carga
    .command('create')
    .description('register a load and one delivery for each of its agents')
    .addOption(
      new Option(`${flagOf('tipo')} <type>`, 'a certificate, or a file that svc seals')
        .choices(['csr_cert', 'sealed'])
        .argParser(toWireValue)
        .makeOptionMandatory(),
    )
    .requiredOption(
      `${flagOf('nome')} <name>`,
      'the files on the host: out/<name>.crt and out/<name>.key, or out/<name> for a sealed load',
    )
    .option(
      `${flagOf('agente')} <agent>`,
      'an agent that gets it, by hostname or id; repeatable',
      collect,
      [],
    )
    .option('--role <role>', 'every agent of this role gets it; repeatable', collect, [])
    .option(WHERE_FLAG, 'every agent that matches gets it, also one that comes to match later')
    .option('--unassigned', 'for nobody yet: svc policy set --load gives it to new agents')
    .option('--san <name>', 'one more DNS name or IP address; repeatable', collect, [])
  addSealOptions(command, 'what a sealed load holds')
    .option(
      '--escrow <recipient>',
      'another recipient who can open a sealed load, age1pq1…; repeatable',
      collect,
      [],
    )
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action((options: CargaCreateOptions) => createCargo(context, options))
}

const HELP = `
svc seals the file of a sealed load before it sends it: the hub cannot open it. svc shows a recipient that is new or has changed, and asks you
to accept it once: compare it with what svc-agent identity shows on the host. svc keeps the fingerprints that you accepted
in ~/.config/svc/recipients.json (XDG_CONFIG_HOME), or in the file that SVC_RECIPIENTS_FILE names. With an admin token of
role operator, --san takes only the names that the policy of the role lists in its --san.

With --where the load belongs to the selector: an agent that comes to match later gets it at its next poll, and one that no longer
matches keeps it. svc load select shows and changes that. A sealed load is for the agents that match now; svc load reseal seals
it for those that came since.

Examples:
  svc load create --type csr_cert --name site --agent web-1.example.org
  svc load create --type csr_cert --name shop --role web --san shop.example.org --san '*.shop.example.org'
  svc load create --type csr_cert --name node --where 'role=web,env in (prod,stage)'
  svc load create --type csr_cert --name node --unassigned
  svc load create --type sealed --name db-password --file db-password --agent web-1.example.org
  openssl rand -base64 32 | svc load create --type sealed --name api-key --file - --role web
`

async function createCargo(context: CommandContext, options: CargaCreateOptions): Promise<void> {
  if (options.tipo === DeliveryKind.sealed) {
    if (options.unassigned)
      throw new UserError('usage', 'svc seals a file for agents: leave --unassigned out')
    const { createSealedCargo } = await import('./create-sealed-cargo.ts')
    return createSealedCargo(context, options)
  }
  refuseSealOptions(options)
  const where = options.where === undefined ? undefined : parseDecidingWhereOption(options.where)
  const request = {
    tipo: options.tipo,
    nome: options.nome,
    agentes: [...options.agente],
    roles: [...options.role],
    sans: [...options.san],
    ...(options.unassigned && { unassigned: true }),
  }
  const created = await context.withAdmin(async ({ operations }) => {
    const selected = await requireWhere(operations, where, OF_CARGO)
    return awaitChange(context, operations, operations.createCargo({ ...request, ...selected }))
  })
  if (options.json) return context.output.writeJson(created)
  const { carga_id: id, entregas } = created
  const news = `load ${id} created`
  if (options.unassigned) return context.output.write(`${news}\n`)
  const whom = where === undefined ? '' : `, for each agent that matches ${where}`
  const table = `\n${renderNewDeliveries(context.output.language, entregas)}`
  const isForNobodyYet = where !== undefined && entregas.length === 0
  await context.output.write(`${news}${whom}\n${isForNobodyYet ? '' : table}`)
}

function refuseSealOptions({ file, escrow, acceptRecipient, recipient }: CargaCreateOptions): void {
  const values = [...escrow, ...acceptRecipient, ...recipient]
  if (file === undefined && values.length === 0) return
  throw new UserError('usage', 'a file and its recipients need --type sealed')
}
