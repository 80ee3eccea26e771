import { listCommand } from '../list-command.ts'
import { shortTime } from '../short-time.ts'
import { stateWord } from '../../terminal/table.ts'

export const registerCargaList = listCommand({
  description: 'list the loads, oldest first',
  plural: 'cargas',
  ask: (operations, page) => operations.listCargoes(page),
  columns: {
    nome: (cargo) => cargo.nome,
    tipo: (cargo) => stateWord(cargo.tipo),
    versao: (cargo) => cargo.versao,
    created_at: (cargo) => shortTime(cargo.created_at),
    sans: (cargo) => cargo.sans.join(','),
  },
  isLastProse: true,
  wide: { where: (cargo) => cargo.where ?? '', id: (cargo) => cargo.id },
  nameOf: ({ nome }) => nome,
})
