import type { Logger } from '../../platform/logger.ts'
import { createTokenBuckets } from '../../platform/token-bucket.ts'
import { callerOf } from './connections/caller-key.ts'

export interface FloodLogOptions {
  readonly log: Logger
  /** Milliseconds from wherever. */
  readonly now?: () => number
  /** Calls back when a while is over, unless the process ends before. */
  readonly later?: (work: () => void, delayMs: number) => void
}

export interface FloodFields extends Readonly<Record<string, unknown>> {
  readonly error: string
  readonly remote: string | undefined
}

/**
 * Logs refusals, which cost a client nothing and the hub a line each: the first of a caller and a code, then no other for ten
 * seconds. The next line says how many were left out. However many addresses there are, there is a line in two seconds, once
 * thirty have been written at once; one line then counts the refusals that found no room. At `debug` each refusal has its line.
 * docs/protocol.md LOG-4.
 */
export type FloodLog = (fields: FloodFields, message: string) => void

const SILENCE_MS = 10_000
/** Beyond this number the log forgets the oldest, with the count of their left out lines. */
const TOLD_APART_MAX = 1000
const LINES_PER_SECOND = 0.5
const LINES_AT_ONCE = 30
const ALL = ''

export function createFloodLog(options: FloodLogOptions): FloodLog {
  const { log, now = () => performance.now(), later = laterUnlessEnded } = options
  const silences = new Map<string, { readonly untilMs: number; leftOut: number }>()
  const lines = createTokenBuckets({
    perSecond: LINES_PER_SECOND,
    burst: LINES_AT_ONCE,
    now: () => new Date(now()),
  })
  const withoutRoom = new Map<string, number>()
  const tellTogether = (): void => {
    const counts = Object.fromEntries(withoutRoom)
    withoutRoom.clear()
    log.info({ left_out: counts }, 'Refusals left out')
  }
  const countWithoutRoom = (error: string): void => {
    if (withoutRoom.size === 0) later(tellTogether, SILENCE_MS)
    withoutRoom.set(error, (withoutRoom.get(error) ?? 0) + 1)
  }
  return (fields, message) => {
    const key = `${fields.error} ${callerOf(fields.remote).key}`
    const nowMs = now()
    const silence = silences.get(key)
    if (silence !== undefined && nowMs < silence.untilMs) {
      silence.leftOut += 1
      log.debug(fields, message)
      return
    }
    if (lines.take(ALL) > 0) {
      countWithoutRoom(fields.error)
      log.debug(fields, message)
      return
    }
    const leftOut = silence?.leftOut ?? 0
    // Deleted first, so that the oldest is the first.
    silences.delete(key)
    silences.set(key, { untilMs: nowMs + SILENCE_MS, leftOut: 0 })
    if (silences.size > TOLD_APART_MAX) silences.delete(silences.keys().next().value ?? '')
    log.info(leftOut === 0 ? fields : { ...fields, left_out: leftOut }, message)
  }
}

function laterUnlessEnded(work: () => void, delayMs: number): void {
  // tidy: a log line is about real time, and keeps no process alive.
  setTimeout(work, delayMs).unref()
}
