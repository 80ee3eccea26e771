// What goes wrong, how often, and until when. Each history has some kinds of trouble and not others: a kind that is
// always there hides what another one alone would show.

import type { Random } from '../seeded-random.ts'

/** How likely each is, every time that it could happen, in a history that has it. */
const LIKELIHOODS = {
  'request lost': 0.04,
  'request delayed': 0.05,
  'request duplicated': 0.05,
  'connection refused': 0.03,
  'connection cut after the request': 0.04,
  'reply lost': 0.04,
  'reply delayed': 0.05,
  'CA refuses': 0.06,
  'CA unreachable': 0.08,
  'CA silent': 0.06,
  'CA slow': 0.1,
  'CA overloaded': 0.04,
  'CA reply lost': 0.06,
  'CA wrong certificate': 0.04,
  'CA refuses to revoke': 0.02,
  'hub crash': 0.7,
  'hub power cut': 0.4,
  'hub audit head behind': 0.5,
  'agent crash': 0.85,
  'agent power cut': 0.5,
  'hook fails': 0.15,
  'clock step': 0.12,
  'agent disk full': 0.12,
  'agent disk error': 0.06,
  'hub disk full': 0.06,
  'hub outage': 0.04,
  'restore killed': 0.4,
  'token raced': 0.2,
  'receiver unreachable': 0.08,
  'receiver fails': 0.06,
  'receiver silent': 0.02,
  'receiver reply lost': 0.06,
  'receiver gone': 0.01,
} as const

/** Where several hubs share a database. */
const LIKELIHOODS_OF_SHARING = {
  'database away': 0.05,
  'database fails over': 0.1,
  'database connection refused': 0.02,
  'database connection cut': 0.002,
  'database connection cut in COMMIT': 0.02,
  'database reply to COMMIT lost': 0.02,
  'database silent': 0.002,
  'hub frozen': 0.1,
  'hub frozen in a job': 0.03,
  'hub removed': 0.03,
  'stream lost': 0.02,
} as const

const ALL_LIKELIHOODS = { ...LIKELIHOODS, ...LIKELIHOODS_OF_SHARING }

export type FaultKind = keyof typeof ALL_LIKELIHOODS

const KIND_LIKELIHOOD = 0.65

export class Faults {
  isOver = false
  readonly counts = new Map<FaultKind, number>()
  readonly #random: Random
  readonly #kinds: ReadonlySet<FaultKind>

  constructor(random: Random, { isShared }: { readonly isShared: boolean }) {
    this.#random = random
    const kinds = Object.keys(isShared ? ALL_LIKELIHOODS : LIKELIHOODS) as FaultKind[]
    this.#kinds = new Set(kinds.filter(() => random() < KIND_LIKELIHOOD))
  }

  happens(kind: FaultKind): boolean {
    if (this.isOver || !this.#kinds.has(kind) || this.#random() >= ALL_LIKELIHOODS[kind])
      return false
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
    return true
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }
}
