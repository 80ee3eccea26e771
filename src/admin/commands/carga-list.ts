import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { registerList } from './register-list.ts'

export function registerCargaList(carga: Command, context: CommandContext): void {
  registerList(carga, context, {
    description: 'list the cargas, oldest first',
    plural: 'cargas',
    ask: (operations, page) => operations.listCargoes(page),
    rowsOf: ({ cargas }) => cargas,
    columns: {
      NOME: (cargo) => cargo.nome,
      TIPO: (cargo) => cargo.tipo,
      VERSAO: (cargo) => cargo.versao,
      SANS: (cargo) => cargo.sans.join(','),
      CREATED_AT: (cargo) => cargo.created_at,
      ID: (cargo) => cargo.id,
    },
  })
}
