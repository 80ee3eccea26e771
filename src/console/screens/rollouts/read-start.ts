// What somebody typed to renew identities or to announce a newer agent in waves, as a request of the hub.

import type { AdminRequest } from '../../api/operations.ts'
import { readWaves, type WavesDraft } from '../cargo/read-form.ts'

export const STARTS = ['rotation', 'update'] as const
export type Start = (typeof STARTS)[number]

export interface StartDraft {
  readonly whom: 'all' | 'where'
  readonly where: string
  /** Of an update: the version. */
  readonly programa: string
  readonly waves: WavesDraft
}

export type StartRequest = AdminRequest<'startRotation'> & { readonly programa?: string }

/** Undefined while something that the hub needs is not there yet. */
export function readStart(start: Start, draft: StartDraft): StartRequest | undefined {
  const { whom, where, programa, waves } = draft
  const rules = readWaves(waves)
  const isWhomKnown = whom === 'all' || where.trim() !== ''
  const isWhatKnown = start === 'rotation' || programa.trim() !== ''
  if (rules === undefined || !isWhomKnown || !isWhatKnown) return undefined
  return {
    ...rules,
    ...(start === 'update' && { programa: programa.trim() }),
    ...(whom === 'where' && { where: where.trim() }),
  }
}
