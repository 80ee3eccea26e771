// The audit log: its check, its list, one entry, and its print view.

import type { Words } from '../words.ts'
import { plural } from './plural.ts'

export const audit: Words['audit'] = {
  title: 'Log de auditoria',
  evidenceTitle: 'Evidência',

  verdict: {
    asking: 'Pedindo o log ao hub',
    empty: 'O log ainda não tem eventos',
    waiting: (left) =>
      `${plural(left, 'evento não foi conferido', 'eventos não foram conferidos')} aqui`,
    waitingWhy:
      'É mais do que se confere sem pedir: custa tempo a este navegador, e ao hub a leitura do log.',
    running: (left) => `Conferindo, faltam ${left}`,
    stopped: (left) =>
      `Parado, ${plural(left, 'evento não foi conferido', 'eventos não foram conferidos')} aqui`,
    failed: 'Não foi possível continuar a conferência',
    good: (entries) => `Nenhuma quebra em ${plural(entries, 'evento', 'eventos')}`,
    badEntry: (seq) => `O evento ${seq} foi alterado`,
    badEntryWhy:
      'O que o hub mostra deste evento não é aquilo de que o hash foi calculado. Daqui em diante nada no log merece confiança: compare com um backup.',
    showEntry: 'Mostrar o evento',
    reason: 'O que está errado',
    rewritten: (at) => `O log foi reescrito: a âncora de ${at} não está nele`,
    rewrittenWhy: (seq, has) =>
      `O evento ${seq} tinha outro hash quando este navegador o guardou, ou sumiu; o log tem ${plural(has, 'evento', 'eventos')} agora. Um log que continua do que era nunca muda isso.`,
    tree: 'O log não é aquele para o qual o checkpoint foi assinado',
    treeWhy: (size) =>
      `Cada evento de ${size} encaixa no anterior, e juntos não são o que o hub assinou: algo foi alterado depois, ou antes da âncora.`,
    key: 'A chave do hub mudou',
    keyWhy:
      'O log é assinado com outra chave que não a da âncora deste navegador. Um cofre feito de novo tem outra, e também um log que alguém pôs no lugar: pergunte quem fez isso.',
    keyWas: 'Antes',
    keyIs: 'Agora',
    signature: 'O checkpoint não está assinado com a chave que o hub diz ter',
    signatureWhy: 'Um hub que é o que diz ser assina o próprio log.',
  },

  computedNow: (count, speed) =>
    `${count === '1' ? '1 evento foi calculado' : `${count} eventos foram calculados`} agora neste navegador${speed}, e cada novo assim que chega.`,
  computedIn: (time, rate) => `, em ${time} (${rate} por segundo)`,
  computedBefore: (count, at) =>
    count === '1'
      ? `O anterior foi calculado pela última vez: ${at}.`
      : `Os ${count} anteriores foram calculados pela última vez: ${at}.`,
  progress: (count, total, rate) =>
    `${count} de ${total}, ${plural(rate, 'evento', 'eventos')} por segundo`,
  noneNew: (at) => `Nenhum evento é mais novo que a âncora de ${at}.`,
  anchorLimit:
    'Uma âncora mostra que o log continua dela. Não mostra que payloads antigos ainda são os mesmos: só conferir tudo de novo mostra.',

  same: 'O mesmo log da última vez.',
  sameWhy: (seq, at) => `O evento ${seq} ainda tem o hash que este navegador guardou (${at}).`,
  kept: 'Âncora guardada.',
  keptWhy: (seq) =>
    `Este navegador tem agora o evento ${seq} e o hash dele: da próxima vez o log tem de continuar dali.`,
  noAnchor: 'Ainda sem âncora.',
  noAnchorWhy: 'A primeira conferência completa guarda uma neste navegador.',
  signed: 'Assinado.',
  signedWhy: (size) =>
    `A árvore ${size === '1' ? 'do primeiro evento' : `dos primeiros ${size} eventos`} é a que o hub assinou.`,
  notSigned: 'Nenhum checkpoint assinado foi comparado ainda.',
  cannotVerify:
    'Este navegador não confere assinaturas Ed25519: árvore e checkpoint não são comparados.',
  head: 'Fim',
  copyHead: 'Copiar o hash do fim',
  trust: 'O código que confere veio deste hub, então não pode condenar o hub.',
  trustLink: 'Conferir sem confiar nele',
  trustTitle: 'Conferir sem confiar no hub',
  trustWhy:
    'Um hub em mãos erradas poderia enviar uma página que diz o que quiser. Programas que vieram de outro lugar conferem o mesmo log:',
  trustVerify: 'O log inteiro, pelo svc do próprio pacote, contra um checkpoint que você guarda:',
  trustExport: 'Um arquivo para quem não tem cofre nem hub:',
  trustEvidence:
    'O que o log prova de cada certificado, para um auditor; tools/verify-evidence.py confere:',
  trustConsole:
    'A chave e um checkpoint, para guardar em outro lugar que não este hub. Webhooks também levam hash_atual: quem os recebe tem uma cópia da cadeia.',
  checkAll: 'Conferir tudo de novo',
  check: 'Conferir',
  goOn: 'Continuar',
  stop: 'Parar',
  keepAnchor: 'Guardar como âncora',
  anchorKept: 'Guardado como âncora',
  dropAnchor: 'Descartar a âncora, conferir tudo',

  days: {
    title: 'Eventos por dia em UTC, e se este navegador os calculou',
    day: 'Dia',
    entries: 'Eventos',
    state: 'Calculado',
    states: { now: 'calculado agora', earlier: 'calculado antes', not: 'não calculado aqui' },
    anchor: 'âncora',
    unknown: 'não contado',
  },

  chain: (seq) => `Como o evento ${seq} se encaixa na cadeia`,
  chainFormula: 'hash = SHA-256(hash anterior · payload · hora)',
  chainTable: 'Os eventos em volta, com seus hashes',
  before: 'anterior',
  hash: 'hash',
  hashTitle: 'Hash',
  joined: 'o hash do evento anterior',
  notJoined: 'não é o hash do evento anterior',

  allButRoutine: 'Tudo menos rotina',
  everything: 'Tudo',
  people: 'Pessoas',
  hubActs: 'Hub',
  hosts: 'Agentes',
  group: 'Eventos de quem',
  about: 'Sobre um agente ou uma carga',
  aboutHint: 'Agente ou carga…',
  who: 'Por quem',
  whoHint: 'admin, hub, agent ou token:nome',
  types: 'Tipos, como no protocolo, com vírgulas',
  from: 'De',
  until: 'Até, e antes disso',
  filter: 'Filtro',
  apply: 'Aplicar',
  removeFilter: (filter) => `Remover o filtro ${filter}`,
  chips: {
    about: (value) => `sobre ${value}`,
    who: (value) => `por ${value}`,
    type: (value) => value,
    from: (value) => `desde ${value}`,
    until: (value) => `até ${value}`,
  },
  evidence: 'Evidência',

  entry: 'Evento',
  time: 'Hora',
  what: 'O quê',
  details: 'Detalhes',
  empty:
    'Tudo o que o hub faz, e o que os agentes relatam, é um evento aqui. O primeiro vem com o primeiro token:',
  range: (first, last) => `Eventos ${first}–${last}`,
  hidden: (count) => `rotina: ${plural(count, 'oculto', 'ocultos')} aqui`,
  missing: (count) =>
    `${plural(count, 'evento está', 'eventos estão')} em segmentos que o hub não consegue ler`,
  arrivedMany: (count) => `${count} ou mais novos`,
  keysHint: 'mover',
  openHint: 'abrir',

  panel: (seq) => `Evento ${seq}`,
  noSuch: (seq) => `Não existe o evento ${seq}`,
  noSuchHint: 'O log pode ser mais curto, ou o endereço pode ter um erro de digitação.',
  close: 'Fechar o evento',
  byWhom: 'Quem',
  aboutWhat: 'Sobre',
  delivery: 'Entrega',
  request: 'Requisição',
  changedSince: 'Mudou desde o evento',
  unchanged: 'Nada difere, a não ser quem fez e quando.',
  nothingBefore: 'Não há evento anterior sobre isto entre os últimos 50 do mesmo tipo.',
  payload: 'Payload, como está guardado e entra no hash',
  copyPayload: 'Copiar o payload',
  equal: 'calculado aqui, igual',
  other: 'calculado aqui, outro',
  computing: 'calculando',
  copyHash: 'Copiar o hash',

  print: {
    print: 'Imprimir',
    back: 'Voltar ao log',
    who: 'Consultado por',
    whoAs: (name, role) => `${name}, como ${role}`,
    at: 'Respondido em',
    hub: 'Hub',
    version: (version) => `versão ${version}`,
    key: 'Chave do log',
    head: 'Fim do log',
    headOf: (seq, at) => `evento ${seq}, ${at}`,
    checkpoint: 'Checkpoint mais novo, como foi assinado',
    anchor: 'Âncora deste navegador',
    anchorOf: (seq, at) => `evento ${seq}, guardada em ${at}`,
    none: 'nenhum',
    check: 'Conferência neste navegador',
    entries: (count) => (count === '1' ? '1 evento' : `${count} eventos, os mais novos primeiro`),
    cut: (count) =>
      `Estes são os ${count} mais novos que correspondem; há mais. Restrinja a pergunta, ou use svc evidence.`,
    nothing: 'Nenhum evento corresponde.',
    trust:
      'O hub serviu o código que fez esta página. Para provar o mesmo a quem não confia no hub:',
    questionAll: 'Todos os eventos',
    questionRoutine: 'sem o que os agentes fazem sozinhos enquanto tudo vai bem',
    questionWithRoutine: 'com rotina',
    questionAbout: (value) => `sobre ${value}`,
    questionBy: (value) => `por ${value}`,
    questionPeople: 'de pessoas',
    questionHosts: 'que agentes enviaram',
    questionTypes: (value) => `dos tipos ${value}`,
    questionFrom: (value) => `em ou depois de ${value}`,
    questionUntil: (value) => `antes de ${value}`,
  },
}
