// The wiring of `svc doctor`: a hub somewhere else, or the machine of the hub, with what its own user may see.

import { composeScene } from '../../doctor/compose-scene.ts'
import { Unchecked } from '../../doctor/finding.ts'
import { askReadiness, openLocalLooks, touchVault } from '../../doctor/local/local-looks.ts'
import { readSettings } from '../../doctor/local/look-at-settings.ts'
import type { Scene } from '../../doctor/scene.ts'
import { vaultRootOf } from '../../hub/config.ts'
import { vaultFiles } from '../../hub/vault/vault-files.ts'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import { describeError } from '../../platform/errors.ts'
import { readVersion } from '../../platform/version.ts'
import type { StandbyStatus } from '../../protocol/standby.ts'
import { lookAtHub } from './look-at-hub.ts'
import type { Surroundings } from './open-vault.ts'
import { findStandbyStatus } from './standby.ts'
import { connectToHub } from './socket-client.ts'

/** A hub that is held up must not hold svc up. */
const HUB_MS_MAX = 4000

export interface SceneOptions extends Pick<Surroundings, 'env' | 'clock' | 'userId'> {
  readonly settingsPath: string
  /** Why the file of the settings was not read. */
  readonly settingsFailure: Error | undefined
}

/** Started by root, svc reads what is root's first, and is the vault's owner from then on, as everywhere. */
export function openLocalScene(options: SceneOptions): Scene {
  const { env, clock, userId, settingsPath, settingsFailure } = options
  const read = readSettings(env, settingsPath, settingsFailure)
  const vaultRoot = vaultRootOf(env)
  const now = (): Date => clock.now()
  const vaultAnswers = touchVault(vaultRoot)
  const becomeOwnerOfIt = async (): Promise<void> => {
    await vaultAnswers
    if (userId === 0) becomeOwner(vaultRoot)
  }
  const vaultIsThere = becomeOwnerOfIt()
  vaultIsThere.catch(() => undefined)
  const standbyStatus = (): Promise<StandbyStatus | undefined> => findStandbyStatus(vaultRoot)
  const looks = {
    env,
    settingsPath,
    read,
    vaultRoot,
    vaultAnswers,
    vaultIsThere,
    standbyStatus,
    now,
  }
  return composeScene({
    now,
    version: readVersion(),
    local: openLocalLooks(looks),
    hub: async () => {
      await vaultIsThere
      const { adminSocket } = vaultFiles(vaultRoot)
      const seen = await lookAtHub(() => connectToHub(adminSocket, HUB_MS_MAX), adminSocket)
      const isAbsent = seen.status === undefined && seen.failure === undefined
      return { ...seen, waitsFor: isAbsent ? await askReadiness(read.settings) : [] }
    },
  })
}

function becomeOwner(root: string): void {
  try {
    becomeOwnerOf(root)
  } catch (error) {
    throw new Unchecked(describeError(error))
  }
}
