// Logs go to stderr: text on a terminal and in the journal, else one JSON object a line. Messages are constant, data is in fields.

import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino'
import { isJournal, journalLine } from './journal-line.ts'
import { type LogFilter, parseLogFilter } from './log-filter.ts'
import { redactTokens } from './redact-tokens.ts'

export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error'>

export interface Logging {
  /** The logger of one module, named as RUST_LOG names it: `hub.enroll`. */
  forModule(module: string): Logger
}

/** What makes text of lines, and writes it. A program loads pino-pretty only when somebody reads along. */
type TextFormat = (stderr: DestinationStream) => DestinationStream

const STDERR = 2

export interface LoggingOptions {
  readonly filter: LogFilter
  /** `json`, or what makes text of it. */
  readonly format: 'json' | TextFormat
  readonly destination?: DestinationStream
}

/**
 * What may hold a secret, should one ever be logged by mistake, by itself or in what has fields of its own. These are named:
 * a path with a wildcard has pino copy the fields of every line, a third of what a hub allocates for a refusal.
 */
const REDACTED_PATHS = [
  'token',
  'ott',
  'csr_pem',
  'passphrase',
  'key_pem',
  ...['err', 'report'].flatMap((field) =>
    ['token', 'ott', 'key_pem'].map((name) => `${field}.${name}`),
  ),
]

export function createLogging(options: LoggingOptions): Logging {
  const stderr = pino.destination({ dest: STDERR, sync: true })
  const stream =
    options.destination ?? (options.format === 'json' ? stderr : options.format(stderr))
  const root = pino(
    {
      base: null,
      level: 'trace',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    },
    // The whole line, since a token may be anywhere in what others had a hand in: a path, a reason, the stack of an error.
    { write: (line: string) => stream.write(redactTokens(line)) },
  )
  return {
    forModule: (module) => {
      const level = options.filter.levelOf(module)
      return root.child({ module }, { level: level === 'off' ? 'silent' : level })
    },
  }
}

/** For a person at a terminal. */
async function loadTextFormat(): Promise<TextFormat> {
  const { default: pretty } = await import('pino-pretty')
  return (stderr) =>
    pretty({
      destination: stderr,
      sync: true,
      colorize: process.stderr.isTTY,
      ignore: 'pid,hostname',
    })
}

const journalFormat: TextFormat = (stderr) => ({
  write: (line) => stderr.write(journalLine(line)),
})

/** The logging that RUST_LOG and SVC_LOG_FORMAT ask for; a bad one is reported and its default taken. */
export async function createLoggingFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Logging> {
  const text = env['RUST_LOG'] ?? 'info'
  const filter = parseLogFilter(text)
  const wanted = env['SVC_LOG_FORMAT']
  const isInJournal = isJournal(STDERR, env['JOURNAL_STREAM'])
  const format =
    wanted === 'text' || wanted === 'json'
      ? wanted
      : isInJournal || process.stderr.isTTY
        ? 'text'
        : 'json'
  const logging = createLogging({
    filter: filter ?? { levelOf: () => 'info' },
    format: format === 'json' ? 'json' : isInJournal ? journalFormat : await loadTextFormat(),
  })
  if (filter === undefined) {
    logging.forModule('log').warn({ rust_log: text }, 'RUST_LOG is not a filter, using info')
  }
  if (wanted !== undefined && wanted !== '' && wanted !== format) {
    const fields = { svc_log_format: wanted }
    logging
      .forModule('log')
      .warn(fields, `SVC_LOG_FORMAT is neither text nor json, using ${format}`)
  }
  return logging
}
