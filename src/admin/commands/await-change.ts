import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { AdminStatus } from '../../protocol/admin/views.ts'
import type { CommandContext } from './command-context.ts'

const ASKED_EVERY_MS = 1000

/** What an act on many entregas answers; until then its progress, where there is somebody to see it. docs/protocol.md FLT-9. */
export async function awaitChange<T>(
  context: Pick<CommandContext, 'clock' | 'progress'>,
  operations: Pick<AdminOperations, 'showStatus'>,
  change: Promise<T>,
): Promise<T> {
  const done = new AbortController()
  const watching = watch(context, operations, done.signal)
  try {
    return await change
  } finally {
    done.abort()
    await watching
    context.progress.clear()
  }
}

async function watch(
  { clock, progress }: Pick<CommandContext, 'clock' | 'progress'>,
  operations: Pick<AdminOperations, 'showStatus'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(ASKED_EVERY_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    // Whether the act succeeds is for its own answer to say.
    const status = await operations.showStatus({}).catch(() => undefined)
    if (!signal.aborted && status?.mudanca) progress.show(describe(status.mudanca))
  }
}

function describe({ nome, total, prepared, settled }: NonNullable<AdminStatus['mudanca']>): string {
  const what = nome === null ? 'deliveries' : `deliveries of load ${nome}`
  return settled === 0
    ? `${prepared} of ${total} ${what} prepared`
    : `${settled} of ${total} ${what} written down`
}
