// A hub becomes one of those that share its vault. docs/protocol.md HUB.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../platform/clock.ts'
import type { Logging } from '../platform/logger.ts'
import { readVersion } from '../platform/version.ts'
import { HubEventType } from '../protocol/words.ts'
import type { MemberParts } from './compose-services.ts'
import type { HubConfig } from './config.ts'
import { createHubsControl } from './journal/hubs-control.ts'
import { Membership } from './journal/membership.ts'
import { RevocationLookout } from './journal/revocation-lookout.ts'
import type { Sharing } from './open-store.ts'
import { MIGRATIONS } from './store/sqlite/migrations.ts'
import type { TablesStep } from './store/sqlite/tables-version.ts'
import type { Store } from './store/store.ts'
import { recordHubAct } from './service/hub-acts.ts'
import type { HubsControl } from './service/admin/manage-hubs.ts'
import { openHubId } from './vault/hub-id.ts'

export interface EnteringHub {
  readonly config: Pick<HubConfig, 'vaultRoot'>
  readonly store: Store
  readonly clock: Clock
  readonly logging: Logging
  /** Milliseconds that never jump. */
  readonly monotonicMs?: (() => number) | undefined
}

export interface EnteredHub extends MemberParts {
  readonly membership: Membership
  readonly catchUp: () => Promise<void>
  readonly hubs: HubsControl
  /** Until the signal. */
  run(this: void, signal: AbortSignal): Promise<void>
}

/** Throws StoreError `hub_twice`. The signal ends the waiting. */
export async function enterHubs(
  { config, store, clock, logging, monotonicMs = () => performance.now() }: EnteringHub,
  sharing: Sharing,
  signal: AbortSignal,
): Promise<EnteredHub> {
  const hubId = await openHubId(config.vaultRoot)
  const { hubs, hubSeal, place, position, keepTogether } = sharing
  const sealed = hubSeal.seal(hubId, {
    host: hostname(),
    version: readVersion(),
    startedAt: clock.now().toISOString(),
    tables: MIGRATIONS.length,
  })
  const membership = new Membership({
    instance: { hubId, instanceId: randomUUID() },
    registry: hubs,
    sealed,
    describe: (other) => hubSeal.open(hubId, other)?.host ?? 'another machine',
    store,
    follow: sharing.follow,
    position,
    keepTogether,
    clock,
    log: logging.forModule('hub.journal'),
    monotonicMs,
  })
  const lookout = new RevocationLookout({
    journal: sharing.lookout,
    seal: sharing.seal,
    committed: sharing.committed,
    followedAtMs: () => membership.followedAtMs,
    onRevoked: (revoked) => place.onFollowed?.([{ revoked }]),
    clock,
    monotonicMs,
  })
  const isNew = !(await hubs.list()).hubs.some(({ id }) => id === hubId)
  await membership.enter(signal)
  place.member = membership
  if (isNew) {
    const payload = { actor: 'hub', hub: hubId, host: hostname() }
    await store.write((writer) =>
      recordHubAct(writer, clock.now(), HubEventType.hubJoined, payload),
    )
  }
  logging
    .forModule('hub.journal')
    .info({ hub: hubId }, 'This hub is one of those that share the vault')
  return {
    hubId,
    membership,
    leases: membership,
    catchUp: () => membership.catchUp(),
    run: async (ending) => {
      await Promise.all([membership.run(ending), lookout.run(ending)])
    },
    hubs: createHubsControl({ registry: hubs, seal: hubSeal, hubId }),
    onFollowed: (listener) => {
      place.onFollowed = listener
    },
  }
}

/** Of this hub, and of others that this one follows. */
export function logTables(logging: Logging): (step: TablesStep) => void {
  const log = logging.forModule('hub.journal')
  return ({ from, to }) => log.info({ from, to }, 'Tables of the shared vault brought forward')
}
