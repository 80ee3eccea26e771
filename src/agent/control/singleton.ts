// One agent a data directory: the process that acts on it holds its lock; other processes ask that one.

import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import { type FileLock, tryLockFile } from '../../platform/file-lock.ts'
import type { Logger } from '../../platform/logger.ts'
import { askRunningAgent, type ControlOperation, isAgentListening } from './control-socket.ts'

/** Where to find the process that acts on a data directory. */
interface AgentPlace {
  readonly dataDir: string
  readonly lockFile: string
  readonly socketName: string
}

const WAIT_MS = 10_000
const RETRY_MS = 100
/** For a caller that may wait for long: each try is a process. */
const LONG_RETRY_MS = 500

/** Throws a UserError when another process holds the lock. */
export function lockAgent(paths: Omit<AgentPlace, 'socketName'>): FileLock {
  const lock = tryLockFile(paths.lockFile)
  if (lock === undefined) throw alreadyRunning(paths.dataDir)
  return lock
}

/**
 * Waits for as long as a command that ends by itself holds the lock, or hooks of an agent that was killed do (HOK-8).
 * Throws a UserError when it is an agent that runs: that one is known by its socket.
 */
export async function lockAgentWhenFree(
  paths: AgentPlace,
  clock: Clock,
  log: Logger,
): Promise<FileLock> {
  for (let attempt = 1; ; attempt += 1) {
    const lock = tryLockFile(paths.lockFile)
    if (lock !== undefined) return lock
    if (await isAgentListening(paths.dataDir, paths.socketName)) throw alreadyRunning(paths.dataDir)
    if (attempt === 1) {
      const { dataDir } = paths
      log.warn({ data_dir: dataDir }, 'Another svc-agent command is at work, waiting for its end')
    }
    await clock.sleep(LONG_RETRY_MS)
  }
}

/** Lets the running agent do it, or does it here, under the lock, when none runs. */
export async function viaRunningAgentOr(
  paths: AgentPlace,
  clock: Clock,
  operation: ControlOperation,
  alone: (lock: FileLock) => Promise<unknown>,
): Promise<unknown> {
  const deadlineMs = clock.now().getTime() + WAIT_MS
  for (;;) {
    const answer = await askRunningAgent(paths.dataDir, paths.socketName, operation)
    if (answer !== undefined) return answer.result
    const lock = tryLockFile(paths.lockFile)
    if (lock !== undefined) {
      try {
        return await alone(lock)
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
