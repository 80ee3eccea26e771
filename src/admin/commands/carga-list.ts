import { listCommand } from './list-command.ts'

export const registerCargaList = listCommand({
  description: 'list the cargas, oldest first',
  plural: 'cargas',
  ask: (operations, page) => operations.listCargoes(page),
  columns: {
    NOME: (cargo) => cargo.nome,
    TIPO: (cargo) => cargo.tipo,
    VERSAO: (cargo) => cargo.versao,
    SANS: (cargo) => cargo.sans.join(','),
    CREATED_AT: (cargo) => cargo.created_at,
    ID: (cargo) => cargo.id,
  },
})
