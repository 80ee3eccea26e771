// Whether the hubs that run can go on when this one brings the tables forward. docs/protocol.md JRN-15.

import type { HubRegistry } from './store/hub-registry.ts'
import type { HubSeal } from './store/hub-seal.ts'
import type { RequireReadable } from './store/sqlite/bring-tables-forward.ts'
import { StoreError } from './store/store-error.ts'

export interface OtherHubs {
  readonly hubs: Pick<HubRegistry, 'list'>
  readonly hubSeal: HubSeal
}

/**
 * A hub that said that it stopped counts no more: when it starts again it is refused by its own program. `ownId` is the place of this hub, where
 * its last process ran.
 */
export function requireReadableFor(
  { hubs: registry, hubSeal }: OtherHubs,
  ownId: string | undefined,
): RequireReadable {
  return async ({ to, readableFrom }) => {
    const { hubs } = await registry.list()
    for (const { id, state, sealed } of hubs) {
      if (id === ownId || state === 'stopped') continue
      const {
        host = 'another machine',
        version = 'unknown',
        tables = 0,
      } = hubSeal.open(id, sealed) ?? {}
      if (tables >= readableFrom) continue
      throw new StoreError(
        'hubs_older',
        `this version needs tables of format ${to}, which hub ${id} at ${host} (version ${version}, ${state}) cannot use: it knows formats up to ${tables}`,
        {
          hint: 'upgrade that hub to a version in between, or stop it and upgrade it after this one; svc hubs remove takes out one that is gone',
        },
      )
    }
  }
}
