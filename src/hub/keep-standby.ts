// What a hub does for its standby, and for a hub that was in its place, besides sending its records. docs/protocol.md STB-13, STB-16.

import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { runWhileOpen } from '../platform/run-while-open.ts'
import type { HubConfig } from './config.ts'
import type { VaultStore } from './open-store.ts'
import { tellOldHub } from './standby/run-standby.ts'
import { openStandbyDoor } from './standby/standby-door.ts'
import { vaultFiles } from './vault/vault-files.ts'
import type { UnsealedVault } from './vault/vault.ts'

/** From here on the standby is asked each second, also while the hub waits for its CA. Closing it ends all of it. */
export async function keepStandby(
  { standbyOf }: Pick<HubConfig, 'standbyOf'>,
  vault: UnsealedVault,
  { standby, reader }: VaultStore,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<AsyncDisposable> {
  await using opened = new AsyncDisposableStack()
  const epoch = async (): Promise<number> => (await reader.findLogTree())?.epoch ?? 0
  if (standby !== undefined) opened.use(runWhileOpen(standby.run))
  if (standbyOf !== undefined) {
    opened.use(tellOldHub(vault, { hub: standbyOf, epoch, clock }, log))
  }
  const door = await openStandbyDoor({
    socketPath: vaultFiles(vault.root).standbySocket,
    status: () => ({
      role: 'hub',
      mode: standby?.mode ?? null,
      state: standby?.state() ?? 'none',
      other: standby?.address() ?? null,
      reason: standby?.reason() ?? null,
      record: standby?.position() ?? null,
      hub_heard_at: null,
    }),
  })
  opened.use(door)
  return opened.move()
}
