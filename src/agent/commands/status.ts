import { askRunningAgent } from '../control/control-socket.ts'
import { readDeliveries } from '../delivery/processed-store.ts'
import { requireIdentity } from '../identity/identity.ts'
import type { AgentPaths } from '../settings/paths.ts'
import { readHubVerdict } from '../hub/hub-verdict.ts'
import { listEventFiles } from '../hub/outbox.ts'
import { formatStatus } from '../reporting/format-status.ts'
import { type AgentStatus, readStatus } from '../reporting/status.ts'
import { type Environment, print, startCommand } from './context.ts'

export async function runStatus(env: Environment, options: { json: boolean }): Promise<void> {
  const { config, paths, clock } = await startCommand('status', env)
  await requireIdentity(paths.identityDir)
  const answer = await askRunningAgent(paths.dataDir, paths.socketName, 'status')
  const status = answer === undefined ? await readAlone(paths, clock.now()) : answer.result
  // The command's own status, or the status of a running agent of the same version.
  await print(status, options, formatStatus(config.language, status as AgentStatus))
}

/** Without the lock: it changes nothing, and the holder of the lock changes each file as a whole. */
async function readAlone(paths: AgentPaths, now: Date): Promise<AgentStatus> {
  const deliveries = await readDeliveries(paths)
  const events = await listEventFiles(paths.outboxDir)
  return readStatus(paths, {
    processed: { list: () => deliveries },
    outbox: { listWaiting: () => events },
    now,
    verdict: await readHubVerdict(paths.stateDir),
    running: undefined,
  })
}
