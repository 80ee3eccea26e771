import type { HubBudget } from './budget.ts'
import type { HubClient } from './client.ts'
import type { Outbox } from './outbox.ts'

/** Sends what waits, as far as the round's hub lets it. */
export async function flushOutbox(
  context: { readonly outbox: Outbox; readonly hub: Pick<HubClient, 'sendEvent'> },
  budget: HubBudget,
): Promise<void> {
  if (!budget.isOpen) return
  const result = await context.outbox.flush(context.hub)
  if (result === 'empty') return
  if (result instanceof Error) budget.noteError(result)
  else budget.noteRefusal(result)
}
