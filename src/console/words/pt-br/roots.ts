// As raízes confiadas.

import type { Words } from '../words.ts'
import { plural } from './plural.ts'

export const roots: Words['roots'] = {
  title: 'Raízes de confiança',
  set: (numero, epoca) => `Conjunto ${numero} da época ${epoca}`,
  since: 'em vigor desde',
  root: 'Raiz',
  ends: 'Vence',
  invalid: 'Inválida',
  certificates: 'Certificados que levam a ela',
  hubsOwn: 'A do hub',
  update: 'Ler o arquivo de raízes de novo',
  updateAbout: 'Pôr o arquivo de raízes em vigor',
  forceAbout:
    'Pôr o arquivo de raízes em vigor e perder os agentes que precisam de uma raiz que sai',
  updateButton: 'Pôr em vigor',
  updateText:
    'As raízes do arquivo no hub viram o próximo conjunto. Os agentes o recebem na próxima consulta.',
  force: 'Também quando agentes ainda precisam de uma raiz que sai: o hub os perde',
  fileDiffers: 'O arquivo de raízes no hub tem outras raízes.',
  signed:
    'Uma chave de confiança assina os conjuntos: o svc põe o próximo em vigor, com a assinatura.',
  needs: 'O que ainda precisa da raiz antiga?',
  noOldRoot:
    'Não há raiz antiga: o certificado do hub leva à única que há, ou nenhum hub está rodando.',
  notNeeded: 'Nenhum certificado em uso leva a ela.',
  needed: (count) =>
    count === '1'
      ? '1 certificado em uso leva a ela.'
      : `${count} certificados em uso levam a ela.`,
  unknown: (count) =>
    `Não há registro da raiz de ${plural(count, 'certificado', 'certificados')} em uso.`,
  noHosts: 'Nenhum agente se inscreveu ainda: o primeiro recebe este conjunto com a identidade.',
  allAdopted: (count) =>
    count === '1'
      ? 'O único agente disse que confia exatamente neste conjunto.'
      : `Todos os ${count} agentes disseram que confiam exatamente neste conjunto.`,
  pending: (count, all) =>
    `${count} de ${plural(all, 'agente', 'agentes')} ${count === '1' ? 'não disse que confia' : 'não disseram que confiam'} exatamente neste conjunto:`,
  host: 'Agente',
  trusts: 'Confia em',
  why: 'Por quê',
  neverSaid: 'nunca disse',
  number: (numero) => `conjunto ${numero}`,
  pinned: 'Um arquivo na máquina diz em que raízes confiar',
}

export const revocations: Words['revocations'] = {
  title: 'Revogações na CA',
  about:
    'O próprio hub já recusa todos estes, e cada um sai da lista quando expira. Uma CA sem banco de dados não consegue revogar: dê um a ela, ou espere.',
  list: 'Revogados aqui, e não na CA',
  none: 'A CA revogou tudo o que o hub revogou.',
  host: 'Agente',
  state: 'Estado',
  states: { waiting: 'Em espera', refused: 'Recusada' },
  serial: 'Número de série',
  ends: 'Expira',
  reason: 'Por quê',
}

export const certificates: Words['certificates'] = {
  title: 'Certificados',
  none: 'O que um agente usa está aqui depois da inscrição.',
  host: 'Agente',
  what: 'O quê',
  identity: 'Identidade',
  state: 'Estado',
  anyState: 'Qualquer estado',
  states: { fresh: 'Novo', renewing: 'Renovando', late: 'Atrasado', expired: 'Expirado' },
  ends: 'Vence',
  serial: 'Número de série',
  byHost: 'Hostname ou id',
  endsBefore: (at) => `vence antes de ${at}`,
  asked: 'Pedido',
}
