// What the hub answered to an event, with what was sent: by it the sender can tell later whether the log still has the event, and as it
// was. One line of JSON each. docs/protocol.md CHN-34.

/** An entry as its sender knows it. */
export interface Receipt {
  readonly entryId: string
  /** `hash_atual`: it covers payload, time, and every entry before. */
  readonly hash: string
  readonly eventType: string
  readonly deliveryId: string | null
  readonly requestId: string | null
  /** When the answer came, by the sender’s clock. */
  readonly at: string
}

/** Without a line break. */
export function formatReceipt(receipt: Receipt): string {
  const { entryId, hash, eventType, deliveryId, requestId, at } = receipt
  return JSON.stringify({
    evento_id: entryId,
    hash_atual: hash,
    tipo_evento: eventType,
    entrega_id: deliveryId,
    request_id: requestId,
    at,
  })
}

/** Undefined when the line is none. */
export function parseReceipt(line: string): Receipt | undefined {
  const value = parseJson(line)
  if (typeof value !== 'object' || value === null) return undefined
  const {
    evento_id: entryId,
    hash_atual: hash,
    tipo_evento: eventType,
    entrega_id: deliveryId,
    request_id: requestId,
    at,
  } = value as Readonly<Record<string, unknown>>
  if (!isText(entryId) || !isText(hash) || !isText(eventType) || !isText(at)) return undefined
  if (!isTextOrNull(deliveryId) || !isTextOrNull(requestId)) return undefined
  return { entryId, hash, eventType, deliveryId, requestId, at }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value)
}
