// What an operator may do to a rollout as it is. docs/protocol.md RLO-16 to RLO-19, RLO-31.

import type { AdminReplies } from '../../api/operations.ts'

type Rollout = Pick<AdminReplies['showRollout'], 'kind' | 'state'>
export type RolloutAct = 'pauseRollout' | 'resumeRollout' | 'undoRollout'

const OVER: ReadonlySet<string> = new Set(['done', 'undone', 'undoing'])

/** No agent goes back to an earlier set of roots. */
export function listRolloutActs({ kind, state }: Rollout): RolloutAct[] {
  if (OVER.has(state)) return []
  const acts: RolloutAct[] = state === 'running' ? ['pauseRollout'] : ['resumeRollout']
  if (state === 'frozen') acts.push('pauseRollout')
  if (kind !== 'roots') acts.push('undoRollout')
  return acts
}

export interface WaveShown {
  /** From 1. */
  readonly wave: number
  /** `10%`, as it was asked for. */
  readonly size: string
  readonly state: 'over' | 'open' | 'to come'
  readonly done: number
  readonly underWay: number
  readonly failed: number
}

/** Each wave that was asked for, with its own hosts: none of them for one that is to come. */
export function listWaves(
  rollout: Pick<AdminReplies['showRollout'], 'waves' | 'wave' | 'by_wave' | 'state'>,
): WaveShown[] {
  const isOver = OVER.has(rollout.state)
  return rollout.waves.map((size, at) => {
    const wave = at + 1
    const counts = rollout.by_wave.find((one) => one.wave === wave)
    return {
      wave,
      size,
      state: wave > rollout.wave ? 'to come' : wave === rollout.wave && !isOver ? 'open' : 'over',
      done: counts?.done ?? 0,
      // A target that was not reported yet is under way too.
      underWay: (counts?.pending ?? 0) + (counts?.unprobed ?? 0),
      failed: counts?.failed ?? 0,
    }
  })
}

/** For a field `datetime-local`: seconds only where there are some. */
export function writeUntil(until: string, zone: 'local' | 'utc'): string {
  const date = new Date(until)
  const minutes = zone === 'utc' ? 0 : date.getTimezoneOffset()
  const shown = new Date(date.getTime() - minutes * 60_000).toISOString().slice(0, -1)
  return shown.replace(/\.000$/u, '').replace(/^(.*T\d\d:\d\d):00$/u, '$1')
}

/** Of a field `datetime-local`, in the zone that times are shown in; undefined for none. */
export function readUntil(text: string, zone: 'local' | 'utc'): string | undefined {
  const date = new Date(zone === 'utc' ? `${text}Z` : text)
  return text === '' || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
