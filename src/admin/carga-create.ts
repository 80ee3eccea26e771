import type { Command } from 'commander'
import { collect } from './collect.ts'
import type { CommandContext } from './command-context.ts'
import { renderNewDeliveries } from './new-deliveries.ts'

interface CargaCreateOptions {
  readonly tipo: string
  readonly nome: string
  readonly agente: readonly string[]
  readonly role: readonly string[]
  readonly san: readonly string[]
  readonly json?: true
}

export function registerCargaCreate(carga: Command, context: CommandContext): void {
  carga
    .command('create')
    .description('register a carga and one entrega for each of its agents')
    .requiredOption('--tipo <tipo>', 'csr_cert')
    .requiredOption('--nome <nome>', 'the files on the host are out/<nome>.crt and out/<nome>.key')
    .option(
      '--agente <agente>',
      'an agent that gets it, by hostname or id; repeatable',
      collect,
      [],
    )
    .option('--role <role>', 'every agent of this role gets it; repeatable', collect, [])
    .option('--san <name>', 'one more DNS name or IP address; repeatable', collect, [])
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc carga create --tipo csr_cert --nome site --agente web-1.example.org
  svc carga create --tipo csr_cert --nome shop --role web --san shop.example.org --san '*.shop.example.org'
`,
    )
    .action((options: CargaCreateOptions) => createCargo(context, options))
}

async function createCargo(context: CommandContext, options: CargaCreateOptions): Promise<void> {
  const request = {
    tipo: options.tipo,
    nome: options.nome,
    agentes: [...options.agente],
    roles: [...options.role],
    sans: [...options.san],
  }
  const created = await context.withAdmin(({ operations }) => operations.createCargo(request))
  if (options.json) return context.output.writeJson(created)
  const table = renderNewDeliveries(created.entregas)
  await context.output.write(`carga ${created.carga_id} created\n\n${table}`)
}
