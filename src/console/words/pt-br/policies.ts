// As politicas.

import type { Words } from '../words.ts'

export const policies: Words['policies'] = {
  title: 'Políticas',
  about:
    'O que um papel pode ter. Uma política com seletor só restringe, para os agentes que correspondem.',
  ofRoles: 'De papéis',
  ofSelectors: 'Com seletor',
  noneOfRoles:
    'Sem nenhuma, o hub e a CA decidem quanto tempo vivem as coisas, e qualquer nome é permitido.',
  noneOfSelectors:
    'Uma destas restringe o que um papel pode ter, para os agentes que correspondem.',
  role: 'Papel',
  everyOther: '* (todo papel sem a sua)',
  newOfRole: 'Abrir ou criar',
  newOfSelector: 'Abrir ou criar com seletor',
  fields: {
    nome: 'Nome',
    where: 'Seletor',
    token_ttl_max: 'Vida máxima de um token',
    cert_ttl: 'Vida de um certificado',
    sans_permitidos: 'Nomes permitidos',
    cargas_automaticas: 'Cargas na inscrição',
    reenroll: 'Nova inscrição',
  },
  hints: {
    nome: 'Em listas e logs.',
    where: 'Como env=prod; por rótulos, papel e nome.',
    token_ttl_max: 'Como 8h ou 2d; vazio: 7 dias.',
    cert_ttl: 'Como 8h ou 1d, no mínimo 15m; vazio: a CA decide.',
    sans_permitidos:
      'Um por linha: um nome, *.sufixo, ou * para qualquer um. Vazio: só o nome do próprio agente.',
    cargas_automaticas:
      'Ids de cargas do tipo csr_cert, uma por linha, que cada agente recebe na inscrição.',
    reenroll: 'Se operadores podem inscrever agentes de novo.',
  },
  unset: {
    nome: '–',
    where: '–',
    token_ttl_max: '7 dias, ou outra política',
    cert_ttl: 'a CA decide',
    sans_permitidos: 'nenhum',
    cargas_automaticas: 'nenhuma',
    reenroll: '–',
  },
  reenroll: {
    yes: 'operadores podem',
    no: 'só administradores',
    unsaid: 'não diz nada',
  },
  anyName: 'qualquer nome',
  noNames: 'só o nome do próprio agente',
  untested: 'Gravar a vida sem um teste na CA',
  needed: 'Campo obrigatório.',
  settings: 'Configuração',
  setting: 'Campo',
  differences: 'O que mudaria',
  before: 'Antes',
  after: 'Depois',
  review: 'Ver o que significa',
  setTitle: (name) => `Gravar a política de ${name}`,
  reviewTitle: 'O que significa',
  discard: 'Descartar',
  apply: 'Aplicar',
  remove: 'Remover',
  removeTitle: (name) => `Remover a política ${name}`,
  removeText: {
    role: 'A partir daí vale a política * para o papel, se houver. Nada do que existe é revogado.',
    where: 'O que ela tirou, as políticas dos papéis dão de novo. Nada do que existe é revogado.',
  },
  holds: {
    role: 'Vale para os agentes deste papel.',
    where: 'Restringe a política do papel, para os agentes que correspondem.',
  },
  notThere: {
    role: 'Este papel ainda não tem política própria.',
    where: 'Ainda não há essa política.',
  },
  hosts: (count) => (count === '1' ? '1 agente' : `${count} agentes`),
  wouldHold: (count) =>
    count === '1' ? 'Valeria para 1 agente.' : `Valeria para ${count} agentes.`,
  noneAffected: 'Nenhuma carga entregue tem um nome que ela proíbe.',
  affected: (count) =>
    `${count} das cargas entregues teriam nomes proibidos, e não seriam renovadas:`,
  conflict: 'Outra pessoa mudou esta política',
  history: 'Quem a mudou',
  noHistory: 'Nenhum dos eventos mais novos sobre políticas é sobre esta.',
  by: (actor) => `por ${actor}`,
}
