// What the acts of the hub say in Brazilian Portuguese.

import type { HubEventType } from '../protocol/words.ts'
import type { EntryFacts, EntryWords } from './entry-language.ts'
import {
  because,
  by,
  capital,
  certificateOf,
  ends,
  hostsOf,
  inMoment,
  cargoOf,
  rolloutOf,
  times,
  versionOf,
} from './portuguese-phrases.ts'

type Sentence = (facts: EntryFacts) => string

function words(title: string, sentence: Sentence): EntryWords {
  return { title, sentence }
}

const ofReceiver = (facts: EntryFacts): string => facts.say('um receptor', 'origin')
const ofRule = (facts: EntryFacts): string => facts.say('sem nome', 'join_rule', 'name')
const ofPolicy = (facts: EntryFacts): string => facts.say('um papel', 'nome', 'role')

export const PORTUGUESE_OF_HUB: Readonly<Record<HubEventType, EntryWords>> = {
  token_created: words(
    'Token de inscrição criado',
    (facts) => `${by(facts, 'criou')} um token de inscrição para ${facts.host}.`,
  ),
  token_revoked: words(
    'Token de inscrição encerrado',
    (facts) => `${by(facts, 'encerrou')} o token de inscrição de ${facts.host}${because(facts)}.`,
  ),
  agent_enrolled: words(
    'Agente inscrito',
    ({ host, say }) => `${host} se inscreveu como ${say('um agente', 'role')}.`,
  ),
  agent_revoked: words('Agente revogado', (facts) =>
    facts.text('reason') === 'silent'
      ? `O hub revogou ${facts.host}: sua regra revoga quem fica sem contato por tempo demais.`
      : `${by(facts, 'revogou')} ${facts.host}: seus certificados não valem mais.`,
  ),
  agent_removed: words(
    'Agente removido',
    (facts) => `${by(facts, 'removeu')} ${facts.host} da frota.`,
  ),
  certificate_issued: words(
    'Certificado emitido',
    ({ host, moment }) => `A CA emitiu um certificado para ${host}${ends(moment('not_after'))}.`,
  ),
  server_certificate_issued: words(
    'Certificado do hub emitido',
    ({ moment }) => `A CA emitiu um certificado para o próprio hub${ends(moment('not_after'))}.`,
  ),
  certificate_discarded: words(
    'Certificado descartado',
    (facts) =>
      `A CA assinou um certificado para ${facts.host} que o hub não deu a ninguém${because(facts)}.`,
  ),
  certificate_answer_lost: words(
    'Resposta da CA perdida',
    (facts) =>
      `A CA pode ter assinado um certificado para ${facts.host} que o hub nunca viu${because(facts)}.`,
  ),
  certificate_superseded_used: words(
    'Identidade antiga usada',
    ({ host }) =>
      `Alguém usou uma identidade de ${host} já substituída: pode haver uma cópia ou imagem antiga em uso.`,
  ),
  identity_used_twice: words('Identidade usada de dois lugares', ({ host, list }) => {
    const places = list('addresses')
    const from = places.length === 0 ? '' : ` (${places.join(', ')})`
    return `A identidade de ${host} é usada de dois lugares ao mesmo tempo${from}: um deles pode ser uma cópia.`
  }),
  carga_created: words('Carga criada', (facts) => `${by(facts, 'criou')} ${cargoOf(facts)}.`),
  carga_updated: words(
    'Carga alterada',
    (facts) => `${by(facts, 'alterou')} ${cargoOf(facts)}${versionOf(facts)}.`,
  ),
  carga_removed: words('Carga removida', (facts) => `${by(facts, 'removeu')} ${cargoOf(facts)}.`),
  carga_selected: words(
    'Agentes de uma carga alterados',
    (facts) =>
      `${by(facts, 'deu')} ${cargoOf(facts)} aos agentes com ${facts.say('qualquer rótulo', 'where')}.`,
  ),
  carga_assigned: words(
    'Carga dada a um agente',
    (facts) => `${facts.host} recebe ${cargoOf(facts)}, porque seus rótulos correspondem.`,
  ),
  entrega_cancelled: words(
    'Entrega cancelada',
    (facts) => `${by(facts, 'cancelou')} uma entrega para ${facts.host}${because(facts)}.`,
  ),
  entrega_retried: words(
    'Entrega tentada de novo',
    (facts) => `${by(facts, 'pediu')} que ${facts.host} tente uma entrega de novo.`,
  ),
  labels_changed: words(
    'Rótulos alterados',
    (facts) => `${by(facts, 'alterou')} rótulos de ${hostsOf(facts)}.`,
  ),
  agent_sync_requested: words(
    'Agente chamado a olhar',
    (facts) => `${by(facts, 'pediu')} que ${facts.host} procure entregas agora.`,
  ),
  agent_rotate_requested: words(
    'Agente chamado a renovar',
    (facts) => `${by(facts, 'pediu')} que ${facts.host} renove a identidade agora.`,
  ),
  identity_recovered: words(
    'Identidade recuperada',
    ({ host, moment }) =>
      `${host} recuperou a identidade depois que a antiga venceu${inMoment(moment('not_after'))}.`,
  ),
  identity_taken_back: words(
    'Identidade readmitida',
    ({ host }) => `O hub readmitiu a identidade de ${host}, pelo recibo que o agente guardou.`,
  ),
  recipient_changed: words('Chave de selo', ({ host, text }) => {
    if (text('to') === undefined) return `${host} não tem mais chave para arquivos selados.`
    const key = text('from') === undefined ? 'uma chave' : 'outra chave'
    return `${host} tem agora ${key} para arquivos selados.`
  }),
  politica_set: words(
    'Política definida',
    (facts) => `${by(facts, 'definiu')} a política de ${ofPolicy(facts)}.`,
  ),
  politica_removed: words(
    'Política removida',
    (facts) => `${by(facts, 'removeu')} a política de ${ofPolicy(facts)}.`,
  ),
  bundle_changed: words(
    'Raízes de confiança alteradas',
    (facts) =>
      `${by(facts, 'alterou')} as raízes de confiança: vale o conjunto ${facts.say('sem número', 'numero')}.`,
  ),
  audit_loss_accepted: words(
    'Perda no log aceita',
    (facts) => `${by(facts, 'aceitou')} que parte do log de auditoria se perdeu${because(facts)}.`,
  ),
  passphrase_changed: words(
    'Frase do cofre alterada',
    (facts) => `${by(facts, 'alterou')} a frase secreta do cofre.`,
  ),
  recovery_key_added: words(
    'Chave de recuperação adicionada',
    (facts) =>
      `${by(facts, 'adicionou')} ao cofre a chave de recuperação ${facts.say('sem nome', 'recovery_key')}.`,
  ),
  recovery_key_removed: words(
    'Chave de recuperação removida',
    (facts) =>
      `${by(facts, 'removeu')} do cofre a chave de recuperação ${facts.say('sem nome', 'recovery_key')}.`,
  ),
  vault_rekeyed: words(
    'Cofre com chave nova',
    (facts) => `${by(facts, 'deu')} ao cofre uma nova chave de dados.`,
  ),
  vault_moved: words(
    'Cofre movido',
    (facts) => `${by(facts, 'moveu')} o cofre para ${facts.say('outro lugar', 'to')}.`,
  ),
  hub_joined: words(
    'Hub entrou',
    ({ say }) => `Um hub em ${say('outra máquina', 'host', 'hub')} partilha agora o cofre.`,
  ),
  hub_removed: words(
    'Hub removido',
    (facts) => `${by(facts, 'removeu')} o hub em ${facts.say('uma máquina', 'host', 'hub')}.`,
  ),
  standby_promoted: words('Reserva promovida', () => 'A reserva é agora o hub: alguém a promoveu.'),
  certificate_late: words(
    'Certificado atrasado',
    (facts) =>
      `${facts.host} não renova ${certificateOf(facts)} desde ${facts.moment('late_since') ?? 'que a renovação venceu'}${ends(facts.moment('not_after'))}.`,
  ),
  webhook_created: words(
    'Webhook criado',
    (facts) => `${by(facts, 'criou')} um webhook para ${ofReceiver(facts)}.`,
  ),
  webhook_removed: words(
    'Webhook removido',
    (facts) => `${by(facts, 'removeu')} o webhook para ${ofReceiver(facts)}.`,
  ),
  webhook_tested: words(
    'Webhook testado',
    (facts) => `${by(facts, 'testou')} o webhook para ${ofReceiver(facts)}.`,
  ),
  webhook_replayed: words(
    'Webhook repetido',
    (facts) => `${by(facts, 'pediu')} mais uma vez as mensagens para ${ofReceiver(facts)}.`,
  ),
  webhook_disabled: words(
    'Webhook desligado',
    (facts) => `O hub não envia mais nada para ${ofReceiver(facts)}${because(facts)}.`,
  ),
  webhook_dead: words(
    'Mensagem abandonada',
    (facts) => `O hub abandonou uma mensagem para ${ofReceiver(facts)}${because(facts)}.`,
  ),
  certificate_revoked_at_ca: words(
    'Revogado na CA',
    ({ host }) => `A CA revogou um certificado de ${host}.`,
  ),
  certificate_not_revoked_at_ca: words(
    'Não revogado na CA',
    (facts) =>
      `A CA não revogou um certificado de ${facts.host}, que o hub revogou${because(facts)}${ends(facts.moment('not_after'))}.`,
  ),
  join_rule_created: words(
    'Regra de entrada criada',
    (facts) => `${by(facts, 'criou')} a regra de entrada ${ofRule(facts)}.`,
  ),
  join_rule_ended: words(
    'Regra de entrada encerrada',
    (facts) => `${by(facts, 'encerrou')} a regra de entrada ${ofRule(facts)}${because(facts)}.`,
  ),
  join_refused: words(
    'Agente recusado',
    (facts) =>
      `A regra de entrada ${ofRule(facts)} não deixou ${facts.host} entrar${because(facts)}${times(facts)}.`,
  ),
  admin_token_created: words('Token de admin criado', (facts) =>
    facts.text('by') === 'oidc'
      ? `Um provedor OpenID identificou ${facts.say('alguém', 'name')}, com o papel ${facts.say('de um grupo', 'role')}.`
      : `${by(facts, 'criou')} o token de admin ${facts.say('sem nome', 'name')}.`,
  ),
  admin_token_revoked: words(
    'Token de admin encerrado',
    (facts) =>
      `${by(facts, 'encerrou')} o token de admin ${facts.say('sem nome', 'name')}${because(facts)}.`,
  ),
  admin_refused: words(
    'Pedido de admin recusado',
    (facts) =>
      `A porta de admin recusou ${facts.say('alguém', 'name', 'actor')} em ${facts.say('um endereço desconhecido', 'address')}${because(facts)}${times(facts)}.`,
  ),
  session_started: words(
    'Sessão iniciada',
    (facts) =>
      `${facts.say('Alguém', 'name')} entrou no console de ${facts.say('um endereço desconhecido', 'address')}, com o papel ${facts.say('do token', 'role')}.`,
  ),
  session_ended: words(
    'Sessão encerrada',
    (facts) => `Uma sessão de ${facts.say('alguém', 'name')} no console terminou${because(facts)}.`,
  ),
  sign_in_link_created: words(
    'Link de entrada criado',
    (facts) =>
      `${by(facts, 'criou')} um link que entra uma vez como ${facts.say('alguém', 'name')}.`,
  ),
  passkey_registered: words(
    'Passkey registrada',
    (facts) =>
      `${by(facts, 'registrou')} a passkey ${facts.say('sem nome', 'label')} de ${facts.say('alguém', 'name')}.`,
  ),
  passkey_removed: words(
    'Passkey removida',
    (facts) =>
      `${by(facts, 'removeu')} a passkey ${facts.say('sem nome', 'label')} de ${facts.say('alguém', 'name')}.`,
  ),
  backup_started: words(
    'Backup iniciado',
    (facts) => `${by(facts, 'iniciou')} um backup do cofre.`,
  ),
  vault_restored: words('Cofre restaurado', ({ moment }) => {
    const at = moment('backup_created_at')
    return `O hub roda de um backup${at === undefined ? '' : ` de ${at}`}: o que veio depois se perdeu, se ninguém o refez.`
  }),
  log_archived: words(
    'Log arquivado',
    ({ say }) =>
      `Os eventos ${say('do primeiro', 'desde')} a ${say('o último', 'ate')} do log estão no arquivo.`,
  ),
  checkpoint_cosigned: words(
    'Log testemunhado',
    ({ say }) => `Testemunhas assinaram o log até o evento ${say('do checkpoint', 'entries')}.`,
  ),
  fleet_applied: words(
    'Arquivos declarados aplicados',
    (facts) =>
      `${by(facts, 'aplicou')} arquivos declarados: ${facts.number('created') ?? 0} criados, ${facts.number('updated') ?? 0} alterados, ${facts.number('removed') ?? 0} removidos.`,
  ),
  rollout_started: words(
    'Distribuição iniciada',
    (facts) => `${by(facts, 'iniciou')} ${rolloutOf(facts)}.`,
  ),
  rollout_wave_opened: words(
    'Onda aberta',
    (facts) =>
      `${capital(rolloutOf(facts))} chegou à onda ${facts.say('seguinte', 'wave')}, ${facts.say('alguns', 'hosts')} agentes.`,
  ),
  rollout_frozen: words(
    'Distribuição congelada',
    (facts) =>
      `${capital(rolloutOf(facts))} parou na onda ${facts.say('um', 'wave')}${because(facts)}.`,
  ),
  rollout_paused: words(
    'Distribuição pausada',
    (facts) => `${by(facts, 'pausou')} ${rolloutOf(facts)}.`,
  ),
  rollout_resumed: words(
    'Distribuição continua',
    (facts) => `${by(facts, 'retomou')} ${rolloutOf(facts)}.`,
  ),
  rollout_undone: words(
    'Distribuição desfeita',
    (facts) => `${by(facts, 'desfez')} ${rolloutOf(facts)}.`,
  ),
  rollout_done: words(
    'Distribuição concluída',
    (facts) => `${capital(rolloutOf(facts))} chegou a todos os agentes.`,
  ),
  freeze_set: words(
    'Mudanças congeladas',
    (facts) =>
      `${by(facts, 'congelou')} todas as distribuições até ${facts.moment('until') ?? 'novo aviso'}${because(facts)}.`,
  ),
  freeze_ended: words(
    'Congelamento encerrado',
    (facts) => `${by(facts, 'encerrou')} o congelamento: as distribuições continuam.`,
  ),
}
