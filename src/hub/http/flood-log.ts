import type { Logger } from '../../platform/logger.ts'

export interface FloodLogOptions {
  readonly log: Logger
  /** Milliseconds from wherever. */
  readonly now?: () => number
}

export interface FloodFields extends Readonly<Record<string, unknown>> {
  readonly error: string
  readonly remote: string | undefined
}

/**
 * Logs refusals that cost a client nothing and the hub a line each: the first of an address and a code, then none for ten
 * seconds. The next line says how many were left out, which are there at `debug`. docs/protocol.md LOG-4.
 */
export type FloodLog = (fields: FloodFields, message: string) => void

const SILENCE_MS = 10_000
/** Beyond it the oldest are forgotten, and are as good as new. */
const TOLD_APART_MAX = 10_000

export function createFloodLog({ log, now = () => performance.now() }: FloodLogOptions): FloodLog {
  const silences = new Map<string, { readonly untilMs: number; leftOut: number }>()
  return (fields, message) => {
    const key = `${fields.error} ${fields.remote}`
    const nowMs = now()
    const silence = silences.get(key)
    if (silence !== undefined && nowMs < silence.untilMs) {
      silence.leftOut += 1
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
