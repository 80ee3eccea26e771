import { SvcError } from '../../platform/errors.ts'

const DEFAULT_MS = 1000
const MAX_MS = 60_000

/** The hub did nothing, and asks to be asked again: 429 or 503. */
export class HubBusy extends SvcError {
  override name = 'HubBusy'
  readonly retryAfterMs: number
  /** `retryAfter` as its header says it: seconds. */
  constructor(
    code: string,
    message: string,
    { retryAfter = '', ...options }: { retryAfter?: string | undefined; hint?: string } = {},
  ) {
    super(code, message, options)
    const seconds = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : 0
    this.retryAfterMs = Math.min(MAX_MS, Math.max(DEFAULT_MS, seconds * 1000))
  }
}
