// Which way a command goes: through the hub that answers, else straight into the vault when no process holds it.

import type { Clock } from '../../platform/clock.ts'
import { SvcError } from '../../platform/errors.ts'
import type { Progress } from '../terminal/progress.ts'

export interface Doors<Session> {
  /** Undefined when no hub answers. */
  connectToHub(): Promise<Session | undefined>
  /** Undefined when another process holds the vault. */
  openVault(): Promise<Session | undefined>
}

const WAIT_MS = 10_000
const RETRY_INTERVAL_MS = 100

/** A hub that starts or stops, or another command, holds the vault without answering; that passes. */
export async function connect<Session>(
  doors: Doors<Session>,
  vaultRoot: string,
  clock: Clock,
  progress: Progress,
): Promise<Session> {
  const deadline = clock.now().getTime() + WAIT_MS
  for (;;) {
    const session = await openOneOf(doors)
    if (session !== undefined) {
      progress.clear()
      return session
    }
    progress.show(`waiting for the program that holds the vault at ${vaultRoot}`)
    if (clock.now().getTime() >= deadline) throw busy(vaultRoot)
    await clock.sleep(RETRY_INTERVAL_MS)
  }
}

/** The hub first: to lock the vault costs a process. Why a hub cannot be asked matters only when the vault is held. */
async function openOneOf<Session>(doors: Doors<Session>): Promise<Session | undefined> {
  try {
    const throughHub = await doors.connectToHub()
    if (throughHub !== undefined) return throughHub
  } catch (error) {
    const direct = await doors.openVault()
    if (direct === undefined) throw error
    return direct
  }
  return doors.openVault()
}

function busy(vaultRoot: string): SvcError {
  return new SvcError(
    'vault_busy',
    `the vault at ${vaultRoot} is locked, and no hub answers on its admin socket`,
    { hint: `another program holds ${vaultRoot}/vault.lock; try again when it is done` },
  )
}
