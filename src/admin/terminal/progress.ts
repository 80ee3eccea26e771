import { fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { Clock } from '../../platform/clock.ts'

/** What is going on, for the person who waits. */
export interface Progress {
  /** To be called often; most calls show nothing. */
  show(text: string): void
  /** Takes it off the screen again, before anything else is printed. */
  clear(): void
}

const SILENT: Progress = { show: () => undefined, clear: () => undefined }

/** Only on a terminal, and not when stdout is a pipe: a pager at its end has the screen to itself. */
export function openProgress(clock: Clock): Progress {
  if (!isatty(process.stderr.fd)) return SILENT
  const stdout = fstatSync(process.stdout.fd)
  if (stdout.isFIFO() || stdout.isSocket()) return SILENT
  return new ProgressLine((text) => process.stderr.write(text), clock)
}

const QUIET_MS = 1000
const INTERVAL_MS = 200
const EMPTY_LINE = '\r\u001b[2K'

/** One line that is written over and over, from the second second on. */
export class ProgressLine implements Progress {
  readonly #write: (text: string) => unknown
  readonly #clock: Clock
  #nextAtMs: number | undefined
  #isShown = false

  constructor(write: (text: string) => unknown, clock: Clock) {
    this.#write = write
    this.#clock = clock
  }

  show(text: string): void {
    const nowMs = this.#clock.now().getTime()
    this.#nextAtMs ??= nowMs + QUIET_MS
    if (nowMs < this.#nextAtMs) return
    this.#nextAtMs = nowMs + INTERVAL_MS
    this.#isShown = true
    this.#write(`${EMPTY_LINE}${text}`)
  }

  clear(): void {
    if (this.#isShown) this.#write(EMPTY_LINE)
    this.#isShown = false
    this.#nextAtMs = undefined
  }
}
