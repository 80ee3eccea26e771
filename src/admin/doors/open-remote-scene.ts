// What `svc doctor` sees of a hub on another machine: what that says of itself.

import { composeScene } from '../../doctor/compose-scene.ts'
import type { Scene } from '../../doctor/scene.ts'
import type { Clock } from '../../platform/clock.ts'
import { readVersion } from '../../platform/version.ts'
import type { RemoteHub } from './hub-options.ts'
import { lookAtHub } from './look-at-hub.ts'
import { openRemoteHub } from './remote-hub.ts'

const HUB_MS_MAX = 4000

export function openRemoteScene(remote: RemoteHub, clock: Clock): Scene {
  const address = remote.url.origin
  return composeScene({
    now: () => clock.now(),
    version: readVersion(),
    local: undefined,
    hub: async () => ({
      ...(await lookAtHub(async () => openRemoteHub(remote, HUB_MS_MAX), address)),
      waitsFor: [],
    }),
  })
}
