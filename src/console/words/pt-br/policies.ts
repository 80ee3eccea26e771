// As politicas.

import type { Words } from '../words.ts'

export const policies: Words['policies'] = {
  title: 'Politicas',
  about:
    'O que uma role pode ter. Uma politica com seletor só restringe, para os agentes que combinam.',
  ofRoles: 'De roles',
  ofSelectors: 'Com seletor',
  noneOfRoles:
    'Sem nenhuma, o hub e a CA decidem quanto tempo vivem as coisas, e qualquer nome é permitido.',
  noneOfSelectors: 'Uma destas restringe o que uma role pode ter, para os agentes que combinam.',
  role: 'Role',
  everyOther: '* (toda role sem a sua)',
  newOfRole: 'Abrir ou criar',
  newOfSelector: 'Abrir ou criar com seletor',
  fields: {
    nome: 'Nome',
    where: 'Seletor',
    token_ttl_max: 'Vida máxima de um token',
    cert_ttl: 'Vida de um certificado',
    sans_permitidos: 'Nomes permitidos',
    cargas_automaticas: 'Cargas no registro',
    reenroll: 'Novo registro',
  },
  hints: {
    nome: 'Em listas e logs.',
    where: 'Como env=prod; por labels, role e nome.',
    token_ttl_max: 'Como 8h ou 2d; vazio: 7 dias.',
    cert_ttl: 'Como 8h ou 1d, no mínimo 15m; vazio: a CA decide.',
    sans_permitidos:
      'Um por linha: um nome, *.sufixo, ou * para qualquer um. Vazio: só o nome do próprio agente.',
    cargas_automaticas:
      'Ids de cargas do tipo csr_cert, uma por linha, que cada agente recebe no registro.',
    reenroll: 'Se operadores podem registrar agentes de novo.',
  },
  unset: {
    nome: '–',
    where: '–',
    token_ttl_max: '7 dias, ou outra politica',
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
  needed: 'Isto é necessário.',
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
  removeTitle: (name) => `Remover a politica ${name}`,
  removeText: {
    role: 'A partir daí vale a politica * para a role, se houver. Nada do que existe é revogado.',
    where: 'O que ela tirou, as politicas das roles dão de novo. Nada do que existe é revogado.',
  },
  holds: {
    role: 'Vale para os agentes desta role.',
    where: 'Restringe a politica da role, para os agentes que combinam.',
  },
  notThere: {
    role: 'Esta role ainda não tem politica própria.',
    where: 'Ainda não há tal politica.',
  },
  hosts: (count) => (count === '1' ? '1 agente' : `${count} agentes`),
  wouldHold: (count) =>
    count === '1' ? 'Valeria para 1 agente.' : `Valeria para ${count} agentes.`,
  noneAffected: 'Nenhuma carga entregue tem um nome que ela proíbe.',
  affected: (count) =>
    `${count} das cargas entregues teriam nomes proibidos, e não seriam renovadas:`,
  conflict: 'Outra pessoa mudou esta politica',
  history: 'Quem a mudou',
  noHistory: 'Nenhum dos eventos mais novos sobre politicas é sobre esta.',
  by: (actor) => `por ${actor}`,
}
