// The list of deliveries, and what failed by its reason.

import type { Words } from '../words.ts'
import { plural } from './plural.ts'

export const deliveries: Words['deliveries'] = {
  title: 'Entregas',
  host: 'Agente',
  cargo: 'Carga',
  status: 'Estado',
  anyStatus: 'Qualquer estado',
  reason: 'Motivo',
  since: 'Desde',
  filter: 'Hostname…',
  where: 'Seletor, como env=prod',
  byCargo: 'Carga, pelo nome',
  byAgent: 'Agente, pelo nome',
  byRole: 'Papel',
  late: 'Só as atrasadas',
  order: 'Ordem',
  sorts: {
    host: 'Por hostname',
    created: 'Mais antigas primeiro',
    updated: 'Paradas há mais tempo primeiro',
  },
  empty: 'Uma entrega aparece aqui quando uma carga tem um agente. Um certificado para um agente:',
  groups: 'Por que falham',
  groupsHint: 'uma linha para cada motivo, das mil mais novas',
  failedLike: (count, nome) =>
    count === 1
      ? `Uma entrega de ${nome} falhou`
      : `${plural(count, 'entrega', 'entregas')}, como ${nome}, falharam`,
  waitLike: (count, nome) =>
    count === 1
      ? `Uma entrega de ${nome} espera`
      : `${plural(count, 'entrega', 'entregas')}, como ${nome}, esperam`,
  such: (host) => `em ${host}`,
  asksAgain: 'O agente pede de novo sozinho.',
  noReason: 'O agente não deu motivo.',
  seeWhy: 'Ver por quê',
  retryGroup: 'Tentar de novo…',
  retryTitle: 'Tentar este grupo de novo',
  retryShown: (count) => `Tentar ${count === 1 ? 'esta' : `estas ${count}`} de novo…`,
  retryShownTitle: (count) => `Tentar ${plural(count, 'entrega', 'entregas')} de novo`,
  retryOne: 'Tentar de novo…',
  retryOneTitle: (name) => `Tentar ${name} de novo`,
  retryButton: 'Tentar de novo',
  retryText: 'Cada uma é substituída por uma entrega nova, e o agente é avisado.',
  again: {
    host: 'Vai falhar de novo do mesmo jeito até a causa sair do agente: um disco, um arquivo, um hook. O próprio agente disse isso, e tenta sozinho o que passa.',
    seal: 'Vai falhar de novo do mesmo jeito: o arquivo não está selado para o que o agente tem agora. Só um selo novo ajuda:',
    rule: 'Vai falhar de novo do mesmo jeito até a política ou os nomes da carga mudarem: o hub recusou.',
    passing: 'A causa pode ter passado: a CA ou o banco não respondeu a tempo.',
    unknown: 'Vai falhar de novo do mesmo jeito, a não ser que a causa tenha sumido.',
  },
  names: 'Nomes',
  version: 'Versão',
  id: 'ID',
  reverted: 'Alvos que foram revertidos',
  waiting: 'O que o hub respondeu por último',
  printed: 'O que o agente disse',
  replacedBy: 'Substituída por',
  cancel: 'Cancelar entrega…',
  cancelTitle: (name) => `Cancelar ${name}`,
  cancelText: (host) =>
    `Os arquivos ficam em ${host}, mas não são mais renovados. Uma entrega cancelada não volta: a carga é entregue de novo.`,
  cancelButton: 'Cancelar entrega',
  close: 'Fechar',
}
