import type { Logger } from '../../src/platform/logger.ts'

export interface LoggedLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface CollectedLog {
  readonly log: Logger
  readonly lines: LoggedLine[]
}

/** A log that is looked at: its lines with their fields as they were given. */
export function collectLog(): CollectedLog {
  const lines: LoggedLine[] = []
  const at = (level: keyof Logger) => (fields: LoggedLine['fields'], message: string) =>
    void lines.push({ level, message, fields })
  const log = {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  }
  return { log: log as unknown as Logger, lines }
}
