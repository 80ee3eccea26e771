// A message as syslog over TLS has it: RFC 5424 within the frames of RFC 5425. docs/protocol.md WHK-23.

import type { Severity } from './entry-severity.ts'
import { type MessageSource, renderBody, type WebhookMessage } from './webhook-message.ts'

/** "log audit". */
const FACILITY = 13
const SEVERITIES: Readonly<Record<Severity, number>> = { warning: 4, notice: 5, informational: 6 }
const APP_NAME = 'svc-server'
/** What receivers over TLS should take (RFC 5425, 4.3.1); they cut or drop what is longer. */
const MESSAGE_BYTES_MAX = 8192
const MSGID_CHARACTERS_MAX = 32
const HOSTNAME_CHARACTERS_MAX = 255

/** ASCII throughout: the length in characters is the length in bytes. */
export function syslogFrame(message: WebhookMessage, source: MessageSource): string {
  const whole = render(message, source)
  const text = whole.length <= MESSAGE_BYTES_MAX ? whole : render(withoutPayload(message), source)
  return `${text.length} ${text}`
}

function render(message: WebhookMessage, { hostname, version }: MessageSource): string {
  const { type, timestamp, severity } = message
  const priority = FACILITY * 8 + SEVERITIES[severity]
  const header = [
    `<${priority}>1`,
    timestamp,
    printable(hostname, HOSTNAME_CHARACTERS_MAX),
    APP_NAME,
    // Which of several hubs sends, and as which process, changes; doubles stay doubles.
    '-',
    printable(type, MSGID_CHARACTERS_MAX),
    // Registered with IANA. Elements of one's own need an enterprise number, which nobody else may have.
    `[origin software="${APP_NAME}" swVersion="${printable(version, 32)}"]`,
  ].join(' ')
  return `${header} ${toAscii(message.body)}`
}

/** As for a payload that no message has room for. */
function withoutPayload(message: WebhookMessage): WebhookMessage {
  const data = { ...message.data, payload: null }
  return { ...message, data, body: renderBody(message.type, message.timestamp, data) }
}

/** Header fields are printable ASCII without blanks, and none is empty. */
function printable(text: string, charactersMax: number): string {
  return text.replaceAll(/[^\x21-\x7e]|["\]\\]/g, '_').slice(0, charactersMax) || '-'
}

/** The same JSON. A message in UTF-8 would have to begin with a byte order mark (RFC 5424, 6.4), and then is JSON to few. */
function toAscii(json: string): string {
  return json.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
