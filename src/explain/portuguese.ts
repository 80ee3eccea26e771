// What the entries of the log say in Brazilian Portuguese, where the nouns are those of the wire.

import type { EntryLanguage } from './entry-language.ts'
import { PORTUGUESE_OF_AGENTS } from './portuguese-of-agents.ts'
import { PORTUGUESE_OF_HUB } from './portuguese-of-hub.ts'

export const PORTUGUESE: EntryLanguage = {
  aHost: 'um agente',
  known: { ...PORTUGUESE_OF_AGENTS, ...PORTUGUESE_OF_HUB },
  unknown: (type, isFromAgent) => ({
    title: 'Outro evento',
    sentence: ({ host }) =>
      isFromAgent
        ? `O agente de ${host} enviou um evento que chama de ${type}.`
        : `O hub registrou ${type}, que este programa não conhece.`,
  }),
  digest: {
    more: (count) => `e mais ${count} iguais`,
    others: (count) => `e ${count} de outros tipos`,
    count: (count) => (count === 1 ? '1 evento' : `${count} eventos`),
    entry: (seq) => `evento ${seq}`,
    open: 'Abrir no console',
    source: (hub, firstSeq, lastSeq) =>
      firstSeq === lastSeq
        ? `${hub}, evento ${firstSeq} do log`
        : `${hub}, eventos ${firstSeq} a ${lastSeq} do log`,
    test: {
      severity: 'routine',
      title: 'Teste',
      sentence: 'Alguém pediu ao hub que testasse este webhook. Funciona.',
      subject: null,
      path: '/webhooks',
    },
  },
}
