import type { Webhook } from '../../domain/webhook.ts'

export interface WebhookTestResult {
  readonly messageId: string
  readonly ok: boolean
  /** Null when there was no answer. */
  readonly status: number | null
  readonly error: string | null
  readonly durationMs: number
}

/** What sends, in a running hub; without one nothing leaves the machine. */
export interface WebhookControl {
  /** Endpoints were made, removed or moved: resolves once what is sent follows that. */
  changed(): Promise<void>
  test(webhook: Webhook): Promise<WebhookTestResult>
}
