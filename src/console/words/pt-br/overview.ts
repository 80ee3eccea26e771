// The first screen.

import { atTime } from './at-time.ts'
import type { Words } from '../words.ts'
import { plural } from './plural.ts'

export const overview: Words['overview'] = {
  title: 'Visão geral',
  late: (count) => `${plural(count, 'agente está atrasado', 'agentes estão atrasados')}.`,
  expired: (count) => `${plural(count, 'agente expirou', 'agentes expiraram')}.`,
  firstEnds: (duration) => `O primeiro certificado vence em ${duration}.`,
  well: (count) =>
    `${count === 1 ? 'O único agente renova' : `Todos os ${plural(count, 'agente renova', 'agentes renovam')}`} em dia.`,
  empty: 'Nenhum agente se inscreveu ainda.',
  emptyHint: 'Três comandos trazem o primeiro:',
  emptyToken: 'No hub: um token para o hostname dele.',
  emptyEnrol: 'No agente: o comando que veio com o token o inscreve, e o agente começa.',
  emptyCargo: 'No hub: um certificado para ele.',
  orHere: 'Ou por um formulário aqui',
  hubNotReady: (names) => `O hub não está pronto: ${names}.`,
  caNotReady: 'A CA não assina nada.',
  caEnds: (duration) => `O primeiro agente perde um certificado em ${duration}, se ela não voltar.`,
  others: (count) =>
    count === '1' ? 'O outro renova em dia.' : `Os outros ${count} renovam em dia.`,
  ready: 'O hub, o armazenamento e a CA estão prontos.',
  withoutHub: 'Nenhum hub está rodando: o estado ao vivo é desconhecido.',
  silentFor: (duration) => `sem contato há ${duration}`,
  neverSeen: 'nunca apareceu',
  refusedBy: 'o hub recusa',
  polls: 'não renova',
  since: (time) => `desde ${time}`,
  mayStayDown: 'O hub pode ficar fora do ar por',
  nothingEnds: 'O tempo que quiser: nenhum certificado em uso pode vencer.',
  noneOnTime: 'Nenhum agente está em dia: cada minuto conta.',
  thenLoses: (purpose) => ` perde ${purpose}.`,
  thenHost: 'Depois disso, ',
  identity: 'a identidade',
  lateNotCounted: (count) =>
    ` ${plural(count, 'agente atrasado ou expirado, que não renova de qualquer modo, não conta', 'agentes atrasados ou expirados, que não renovam de qualquer modo, não contam')}.`,
  after: (hours) => `após ${hours} h`,
  hosts: (count) => plural(count, 'agente', 'agentes'),
  endsHeading: 'Certificados por vencimento',
  noEnds:
    'Quando um agente tiver um certificado, aqui se vê quando cada um vence e quando se espera a renovação.',
  endsTitle: (most) =>
    `Certificados em uso por vencimento e, abaixo, as renovações esperadas. A barra mais alta tem ${most}.`,
  bucket: (time, count) => `${time}: ${count === '1' ? 'vence' : 'vencem'} ${count}`,
  wave: (count, span) => `Onda: ${plural(count, 'vence', 'vencem')} ${span}`,
  renewalsExpected: (perMinute) => `Renovações esperadas, no máximo ${perMinute} por minuto`,
  later: (count) => `${plural(count, 'vence', 'vencem')} depois`,
  states: { expired: 'Expirado', atrasado: 'Atrasado', renewing: 'Renovando', fresh: 'Novo' },
  renewals: 'Renovações esperadas',
  from: 'A partir de',
  asTable: 'Como tabela',
  asPicture: 'Como imagem',
  span: 'Período',
  spans: { '6h': '6 h', '48h': '48 h', '7d': '7 d' },
  attention: 'Precisa de atenção',
  urgentFirst: 'o mais urgente primeiro',
  nothingWaits: 'Nada exige atenção agora.',
  ends: (time) => `vence ${atTime(time)}`,
  ended: (time) => `venceu ${atTime(time)}`,
  openHost: 'Abrir agente',
  seeWhy: 'Ver por quê',
  silentTitle: (host) => `${host} não renova`,
  silentText: (isConnected, silence) =>
    isConnected
      ? `Conectado, mas não pede nada: veja o log do agente. ${silence}.`
      : `Desconectado, nada recusado, ${silence}: a máquina ou a rede dela está fora do ar.`,
  pollsText: (duration) =>
    `Fez contato há ${duration}, mas não pede certificado novo: veja o log do agente.`,
  refusedTitle: (hosts, count) => `${hosts} ${count === 1 ? 'pede' : 'pedem'} em vão`,
  and: (all, more) => (more === 0 ? all : `${all} e mais ${more}`),
  expiredTitle: (host) => `${host} expirou`,
  expiredText: (silence) =>
    `${silence}. Ele se recupera sozinho enquanto dura o prazo de recuperação; depois precisa de um token.`,
  failedTitle: (count, nome) =>
    count === 1
      ? `Uma entrega de ${nome} falhou`
      : `${plural(count, 'entrega', 'entregas')}, como ${nome}, falharam pelo mesmo motivo`,
  waitingTitle: (count, nome) =>
    count === 1
      ? `Uma entrega de ${nome} espera`
      : `${plural(count, 'entrega', 'entregas')}, como ${nome}, esperam pelo mesmo motivo`,
  onHost: (host, reason) => `${host}: ${reason}`,
  frozenTitle: (name) => `A distribuição de ${name} está congelada`,
  openRollout: 'Abrir distribuição',
  notRevokedTitle: (count) =>
    `${plural(count, 'certificado não foi revogado', 'certificados não foram revogados')} na CA`,
  notRevokedText: (reason) =>
    `${reason.replace(/[.\s]*$/, '.')} O hub recusa os agentes assim mesmo.`,
  whatToDo: 'O que fazer',
  webhookDisabled: (origin) => `O webhook ${origin} está desativado`,
  webhookTitle: (origin, waiting) =>
    `O webhook ${origin} está com ${waiting === '1' ? '1 mensagem' : `${waiting} mensagens`} de atraso`,
  webhookDead: (origin, dead) =>
    `O hub desistiu de ${dead === '1' ? '1 mensagem' : `${dead} mensagens`} para o webhook ${origin}`,
  webhookText: (error, attempts) =>
    `${error}, após ${plural(attempts, 'tentativa', 'tentativas')}.`,
  nextAttempt: 'próxima tentativa',
  openWebhook: 'Abrir webhook',
  refusalsTitle: (count) =>
    `${plural(count, 'pedido recusado', 'pedidos recusados')} na última hora`,
  refusalsText: 'Tokens de administração errados ou vencidos, ou papéis sem permissão.',
  openLog: 'Abrir o log',
  rollouts: 'Distribuições',
  all: 'Todas',
  noRollout: 'Nenhuma distribuição em andamento.',
  wavesOf: (wave, waves) => `onda ${wave} de ${waves}`,
  done: 'Pronto',
  underWay: 'Em andamento',
  failed: 'Com falha',
  frozenUntil: (time, why) => `Distribuições paradas até ${time}: ${why}`,
  kinds: {
    load: 'Carga',
    rotation: 'Renovação de identidades',
    roots: 'Raízes de confiança',
    update: 'Atualização de agentes',
  },
  roots: 'Raízes de confiança',
  rootsSet: (numero) => `conjunto ${numero}`,
  outOf: (total) => `de ${total}`,
  ofHosts: (done, total) => `${done} de ${total}`,
  now: 'Agora',
  routineHidden: 'sem rotina',
  log: 'Log',
  hubHour: 'Hub, última hora',
  hubMore: 'Hubs e guarda do log',
  subsystems: {
    store: 'Armazenamento',
    ca: 'CA',
    certificate: 'Certificado próprio',
    audit: 'Log de auditoria',
  },
  requests: 'Requisições',
  aSecond: 'por segundo',
  within: '99 de 100 em até',
  caWithin: 'A CA responde em até',
  connected: 'Agentes conectados',
  busy: 'Event loop ocupado',
  firstMinute: 'Os primeiros números vêm um minuto depois de o hub iniciar.',
}
