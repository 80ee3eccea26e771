import { listCommand } from './list-command.ts'
import { shortTime } from './short-time.ts'

export const registerCargaList = listCommand({
  description: 'list the cargas, oldest first',
  plural: 'cargas',
  ask: (operations, page) => operations.listCargoes(page),
  columns: {
    NOME: (cargo) => cargo.nome,
    TIPO: (cargo) => cargo.tipo,
    VERSAO: (cargo) => cargo.versao,
    CREATED_AT: (cargo) => shortTime(cargo.created_at),
    SANS: (cargo) => cargo.sans.join(','),
  },
  isLastProse: true,
  wide: { ID: (cargo) => cargo.id },
  nameOf: ({ nome }) => nome,
})
