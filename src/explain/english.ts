// What the entries of the log say in English: a title for each type, and one sentence with its why.

import { ENGLISH_OF_AGENTS } from './english-of-agents.ts'
import { ENGLISH_OF_HUB } from './english-of-hub.ts'
import type { EntryLanguage } from './entry-language.ts'

export const ENGLISH: EntryLanguage = {
  aHost: 'a host',
  known: { ...ENGLISH_OF_AGENTS, ...ENGLISH_OF_HUB },
  unknown: (type, isFromAgent) => ({
    title: 'Other event',
    sentence: ({ host }) =>
      isFromAgent
        ? `The agent of ${host} sent an event that it calls ${type}.`
        : `The hub recorded ${type}, which this program does not know.`,
  }),
  digest: {
    more: (count) => `and ${count} more of the same`,
    others: (count) => `and ${count} of other kinds`,
    count: (count) => (count === 1 ? '1 entry' : `${count} entries`),
    entry: (seq) => `entry ${seq}`,
    open: 'Open in the console',
    source: (hub, firstSeq, lastSeq) =>
      firstSeq === lastSeq
        ? `${hub}, entry ${firstSeq} of its log`
        : `${hub}, entries ${firstSeq} to ${lastSeq} of its log`,
    test: {
      severity: 'routine',
      title: 'Test',
      sentence: 'Somebody asked the hub to try this webhook. It works.',
      subject: null,
      path: '/webhooks',
    },
  },
}
