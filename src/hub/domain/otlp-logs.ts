// Messages as a collector of OpenTelemetry takes them: an ExportLogsServiceRequest in the JSON of OTLP/HTTP, and what its answer says.
// docs/protocol.md WHK-24.

import type { Severity } from './entry-severity.ts'
import type { MessageSource, WebhookMessage } from './webhook-message.ts'

interface AnyValue {
  readonly stringValue?: string
  readonly intValue?: string
}

interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}

const SERVICE_NAME = 'cartorio'
const SCOPE_NAME = 'cartorio.audit'
/** Of the data model: INFO, INFO2, WARN, which it has for these three of syslog. */
const SEVERITY_NUMBERS: Readonly<Record<Severity, number>> = {
  informational: 9,
  notice: 10,
  warning: 13,
}

export function otlpLogs(messages: readonly WebhookMessage[], source: MessageSource): string {
  const { hostname, version } = source
  const resource = {
    'service.name': SERVICE_NAME,
    'service.version': version,
    'host.name': hostname,
  }
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeLogs: [{ scope: { name: SCOPE_NAME, version }, logRecords: messages.map(recordOf) }],
      },
    ],
  })
}

/**
 * Why an answer of 200 does not say that everything was taken; undefined when it does. A page that is not of OTLP is no answer of a
 * collector, whatever its status.
 */
export function findRejection(body: string | undefined): Rejection | undefined {
  if (body === undefined) return { kind: 'strange', error: 'answered with more than OTLP says' }
  if (body.trim() === '') return undefined
  const answer = parseObject(body)
  if (answer === undefined)
    return { kind: 'strange', error: 'answered with something else than OTLP' }
  const partial = answer['partialSuccess']
  if (typeof partial !== 'object' || partial === null) return undefined
  const { rejectedLogRecords } = partial as Readonly<Record<string, unknown>>
  // A 64-bit number is text in this JSON, but not all write it so.
  const rejected = Number(rejectedLogRecords ?? 0)
  if (rejected === 0) return undefined
  // Its reason is not repeated: a receiver may put into it what the hub shows it alone.
  return { kind: 'rejected', error: `answered that it rejected ${rejected || 'some'}` }
}

export interface Rejection {
  readonly kind: 'rejected' | 'strange'
  readonly error: string
}

function recordOf(message: WebhookMessage): object {
  const { payload: _, ...fields } = message.data
  const attributes = { 'event.name': message.type, ...named({ message_id: message.id, ...fields }) }
  const nanoseconds = nanosecondsOf(message.timestamp)
  return {
    timeUnixNano: nanoseconds,
    observedTimeUnixNano: nanoseconds,
    severityNumber: SEVERITY_NUMBERS[message.severity],
    severityText: message.severity,
    eventName: message.type,
    body: { stringValue: message.body },
    attributes: attributesOf(attributes),
  }
}

function named(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [`cartorio.${key}`, value]),
  )
}

/** Without those that are null. */
function attributesOf(fields: Readonly<Record<string, unknown>>): KeyValue[] {
  return Object.entries(fields).flatMap(([key, value]): KeyValue[] => {
    if (typeof value === 'number') return [{ key, value: { intValue: String(value) } }]
    return typeof value === 'string' ? [{ key, value: { stringValue: value } }] : []
  })
}

/** Of a timestamp of the log, which has microseconds. */
function nanosecondsOf(timestamp: string): string {
  const seconds = Date.parse(`${timestamp.slice(0, 19)}Z`) / 1000
  const fraction = /\.(\d{1,9})/.exec(timestamp)?.[1] ?? ''
  return `${seconds}${fraction.padEnd(9, '0')}`
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text) as unknown
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
