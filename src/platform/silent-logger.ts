import type { Logger } from './logger.ts'

/** For who says what it found in its answer. */
export const SILENT_LOGGER: Logger = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
