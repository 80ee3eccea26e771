// One agent a data directory: whoever acts on it holds its lock; the others ask the one that runs.

import type { Clock } from '../platform/clock.ts'
import { UserError } from '../platform/errors.ts'
import { type FileLock, tryLockFile } from '../platform/file-lock.ts'
import { askRunningAgent, type ControlOperation } from './control-socket.ts'
import type { AgentPaths } from './paths.ts'

const WAIT_MS = 10_000
const RETRY_MS = 100

/** Throws a UserError when another process holds the lock. */
export function lockAgent(paths: Pick<AgentPaths, 'lockFile' | 'dataDir'>): FileLock {
  const lock = tryLockFile(paths.lockFile)
  if (lock === undefined) throw alreadyRunning(paths.dataDir)
  return lock
}

/** Lets the running agent do it, or does it here, under the lock, when none runs. */
export async function viaRunningAgentOr(
  paths: AgentPaths,
  clock: Clock,
  operation: ControlOperation,
  alone: () => Promise<unknown>,
): Promise<unknown> {
  const deadlineMs = clock.now().getTime() + WAIT_MS
  for (;;) {
    const answer = await askRunningAgent(paths.dataDir, paths.socketName, operation)
    if (answer !== undefined) return answer.result
    const lock = tryLockFile(paths.lockFile)
    if (lock !== undefined) {
      try {
        return await alone()
      } finally {
        lock.release()
      }
    }
    // It has the lock but not the socket yet, or is another command that is soon done.
    if (clock.now().getTime() >= deadlineMs) throw alreadyRunning(paths.dataDir)
    await clock.sleep(RETRY_MS)
  }
}

function alreadyRunning(dataDir: string): UserError {
  return new UserError('already_running', `another svc-agent is at work in ${dataDir}`)
}
