// What a request can fail with, as screens show it.

/** The hub's answer, in its words. docs/protocol.md API-14. */
export class HubError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly details: Readonly<Record<string, unknown>>
  /** Of `request_invalid`: what is wrong, by field. */
  readonly fields: Readonly<Record<string, string>>

  constructor(status: number, body: HubErrorBody, requestId: string | undefined) {
    super(body.message ?? body.error ?? `HTTP ${status}`)
    this.name = 'HubError'
    this.status = status
    this.code = body.error ?? `http_${status}`
    this.requestId = requestId
    this.details = body.details ?? {}
    this.fields = body.fields ?? {}
  }
}

export interface HubErrorBody {
  readonly error?: string
  readonly message?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly fields?: Readonly<Record<string, string>>
}

/** No answer: the hub, the network, or the browser gave up. */
export class HubUnreachable extends Error {
  constructor(cause: unknown) {
    super('the hub does not answer', { cause })
    this.name = 'HubUnreachable'
  }
}

/** Asked again, it would be refused again. */
export function isForbidden(error: unknown): boolean {
  return error instanceof HubError && error.status === 403
}

/** Asked again, it may be answered: nobody did, or the hub had too much to do. */
export function mayPass(error: unknown): boolean {
  if (error instanceof HubUnreachable) return true
  return error instanceof HubError && (error.status === 429 || error.status >= 500)
}
