// svc-server with the vault of a standby, wired to what this machine keeps outside of the vault.

import { systemClock } from '../platform/clock.ts'
import type { Logging } from '../platform/logger.ts'
import { checkpointFiles } from './checkpoint-files.ts'
import type { HubConfig } from './config.ts'
import { readKeptOutside } from './keep-outside.ts'
import { runStandby } from './standby/run-standby.ts'

/** Resolves with `promoted` when this machine is the hub from here on. */
export function serveAsStandby(
  config: HubConfig,
  logging: Logging,
  stop: AbortSignal,
): Promise<'promoted' | 'stopped'> {
  const { checkpointDirectory: directory } = config
  const outside =
    directory === undefined
      ? undefined
      : {
          readKept: (vaultId: string) => readKeptOutside(directory, vaultId),
          setAside: (vaultId: string, now: Date) =>
            checkpointFiles(directory, vaultId).setAside(now),
        }
  return runStandby(config, outside, { logging, clock: systemClock }, stop)
}
