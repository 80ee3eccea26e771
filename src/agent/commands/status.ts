import { openProcessedStore } from '../delivery/processed-store.ts'
import { prepareDirectories } from '../paths.ts'
import { openOutbox } from '../reporting/outbox.ts'
import { requireIdentity } from '../identity/identity.ts'
import { type AgentStatus, formatStatus, readStatus } from '../reporting/status.ts'
import { viaRunningAgentOr } from '../singleton.ts'
import { type Environment, print, startCommand } from './context.ts'

export async function runStatus(env: Environment, options: { json: boolean }): Promise<void> {
  const { paths, clock, logging } = startCommand('status', env)
  await requireIdentity(paths.identityDir)
  const status = await viaRunningAgentOr(paths, clock, 'status', async () => {
    await prepareDirectories(paths)
    return readStatus(paths, {
      processed: await openProcessedStore(paths.processedFile),
      outbox: await openOutbox(paths.outboxDir, logging.forModule('agent.outbox')),
      now: clock.now(),
      running: undefined,
    })
  })
  // Ours, or that of an agent of the same version.
  print(status, options, formatStatus(status as AgentStatus))
}
