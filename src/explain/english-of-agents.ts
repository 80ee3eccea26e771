// What agents report, in English.

import type { EventType } from '../protocol/words.ts'
import type { EntryWords } from './entry-language.ts'
import { because, certificateOf, cargoOf, versionOf } from './english-phrases.ts'

export const ENGLISH_OF_AGENTS: Readonly<Record<EventType, EntryWords>> = {
  agent_started: {
    title: 'Agent started',
    sentence: ({ host }) => `The agent of ${host} started.`,
  },
  cert_renewed: {
    title: 'Certificate renewed',
    sentence: (facts) => `${facts.host} renewed ${certificateOf(facts)}.`,
  },
  entrega_instalada: {
    title: 'Certificate installed',
    sentence: (facts) => `${facts.host} installed ${cargoOf(facts)}.`,
  },
  entrega_entregue: {
    title: 'File in place',
    sentence: (facts) => `${facts.host} has ${cargoOf(facts)}${versionOf(facts)} in place.`,
  },
  entrega_falhou: {
    title: 'Delivery failed',
    sentence: (facts) => `${facts.host} could not install a delivery${because(facts)}.`,
  },
  manifest_pulled: {
    title: 'List of deliveries read',
    sentence: ({ host, number }) =>
      `${host} read its list of ${number('count') ?? 'its'} deliveries.`,
  },
  hook_falhou: {
    title: 'Hook failed',
    sentence: (facts) =>
      `On ${facts.host} the hook ${facts.say('without a name', 'hook')} failed after ${cargoOf(facts)} was installed${because(facts)}.`,
  },
  alvo_aplicado: {
    title: 'Target in place',
    sentence: (facts) =>
      `${facts.host} put ${cargoOf(facts)} into the target ${facts.say('without a name', 'alvo')}.`,
  },
  alvo_revertido: {
    title: 'Target put back',
    sentence: (facts) =>
      `${facts.host} went back to the earlier files of the target ${facts.say('without a name', 'alvo')}: ${facts.say('a step', 'step')} failed${because(facts, ', ')}.`,
  },
  alvo_removido: {
    title: 'Target removed',
    sentence: ({ host, say }) => `${host} no longer has the target ${say('that failed', 'alvo')}.`,
  },
  bundle_adopted: {
    title: 'Roots adopted',
    sentence: ({ host, say }) => `${host} trusts set ${say('of roots', 'numero')} of the roots.`,
  },
  bundle_refused: {
    title: 'Roots refused',
    sentence: (facts) =>
      `${facts.host} keeps its roots and does not adopt set ${facts.say('that is offered', 'numero')}${because(facts)}.`,
  },
  log_epoch_adopted: {
    title: 'Log followed into another epoch',
    sentence: ({ host }) =>
      `${host} follows the audit log into another epoch, which the log signed.`,
  },
  agent_updated: {
    title: 'Agent updated',
    sentence: ({ host, say }) =>
      `${host} runs version ${say('that was announced', 'versao')} of the agent now.`,
  },
  agent_update_failed: {
    title: 'Agent update failed',
    sentence: (facts) =>
      `${facts.host} could not go to version ${facts.say('that was announced', 'versao')} of the agent${because(facts)}.`,
  },
  agent_update_declined: {
    title: 'Agent update declined',
    sentence: (facts) =>
      `${facts.host} does not take version ${facts.say('that was announced', 'versao')} of the agent${because(facts)}.`,
  },
  log_alarm: {
    title: 'Audit log in doubt',
    sentence: ({ host, say }) =>
      `${host} says that the hub's audit log is not the log that it saw before: ${say('no reason given', 'motivo')}.`,
  },
}
