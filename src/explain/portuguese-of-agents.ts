// What the events of agents say in Brazilian Portuguese.

import type { EventType } from '../protocol/words.ts'
import type { EntryWords } from './entry-language.ts'
import { because, certificateOf, cargoOf, versionOf } from './portuguese-phrases.ts'

export const PORTUGUESE_OF_AGENTS: Readonly<Record<EventType, EntryWords>> = {
  agent_started: {
    title: 'Agente iniciado',
    sentence: ({ host }) => `O agente de ${host} iniciou.`,
  },
  cert_renewed: {
    title: 'Certificado renovado',
    sentence: (facts) => `${facts.host} renovou ${certificateOf(facts)}.`,
  },
  entrega_instalada: {
    title: 'Certificado instalado',
    sentence: (facts) => `${facts.host} instalou ${cargoOf(facts)}.`,
  },
  entrega_entregue: {
    title: 'Arquivo no lugar',
    sentence: (facts) => `${facts.host} tem ${cargoOf(facts)}${versionOf(facts)} no lugar.`,
  },
  entrega_falhou: {
    title: 'Entrega falhou',
    sentence: (facts) => `${facts.host} não conseguiu instalar uma entrega${because(facts)}.`,
  },
  manifest_pulled: {
    title: 'Lista de entregas lida',
    sentence: ({ host, number }) =>
      `${host} leu a lista de entregas (${number('count') ?? 'quantas, não diz'}).`,
  },
  hook_falhou: {
    title: 'Hook falhou',
    sentence: (facts) =>
      `Em ${facts.host} o hook ${facts.say('sem nome', 'hook')} falhou depois de instalar ${cargoOf(facts)}${because(facts)}.`,
  },
  alvo_aplicado: {
    title: 'Alvo no lugar',
    sentence: (facts) =>
      `${facts.host} pôs ${cargoOf(facts)} no alvo ${facts.say('sem nome', 'alvo')}.`,
  },
  alvo_revertido: {
    title: 'Alvo revertido',
    sentence: (facts) =>
      `${facts.host} voltou aos arquivos anteriores do alvo ${facts.say('sem nome', 'alvo')}: ${facts.say('um passo', 'step')} falhou${because(facts, ', ')}.`,
  },
  alvo_removido: {
    title: 'Alvo removido',
    sentence: ({ host, say }) => `${host} não tem mais o alvo ${say('que falhou', 'alvo')}.`,
  },
  bundle_adopted: {
    title: 'Raízes adotadas',
    sentence: ({ host, say }) => `${host} confia no conjunto ${say('novo', 'numero')} de raízes.`,
  },
  bundle_refused: {
    title: 'Raízes recusadas',
    sentence: (facts) =>
      `${facts.host} mantém suas raízes e não adota o conjunto ${facts.say('oferecido', 'numero')}${because(facts)}.`,
  },
  log_epoch_adopted: {
    title: 'Log seguido para outra época',
    sentence: ({ host }) => `${host} segue o log de auditoria para outra época, que o log assinou.`,
  },
  agent_updated: {
    title: 'Agente atualizado',
    sentence: ({ host, say }) =>
      `${host} agora roda a versão ${say('que foi anunciada', 'versao')} do agente.`,
  },
  agent_update_failed: {
    title: 'Falha na atualização do agente',
    sentence: (facts) =>
      `${facts.host} não conseguiu ir para a versão ${facts.say('que foi anunciada', 'versao')} do agente${because(facts)}.`,
  },
  agent_update_declined: {
    title: 'Atualização do agente não aceita',
    sentence: (facts) =>
      `${facts.host} não aceita a versão ${facts.say('que foi anunciada', 'versao')} do agente${because(facts)}.`,
  },
  log_alarm: {
    title: 'Log de auditoria em dúvida',
    sentence: ({ host, say }) =>
      `${host} diz que o log do hub não é o que viu antes: ${say('sem motivo dado', 'motivo')}.`,
  },
}
