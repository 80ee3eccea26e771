// The hubs that share the vault, as an operator sees them. docs/protocol.md HUB-10.

import type { AdminHubRow } from '../../../protocol/admin/hubs.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { AdminRefusal, type Course, type Read } from '../admin-act.ts'
import type { AdminContext } from './admin-context.ts'

/** Of a running hub. */
export interface HubsControl {
  list(): Promise<readonly AdminHubRow[]>
  /** Whatever it does. */
  remove(id: string): Promise<void>
}

export const listHubs: Read<'listHubs', AdminContext> = async (_reader, _request, { hubs }) => ({
  hubs: [...(await requireHubs(hubs).list())],
})

export const removeHub: Course<'removeHub', AdminContext> = {
  run: async (turn, { hub: wanted, force }, { hubs }) => {
    const control = requireHubs(hubs)
    const found = (await control.list()).filter(({ id, host }) => id === wanted || host === wanted)
    const [hub, another] = found
    if (hub === undefined) {
      throw new AdminRefusal('hub_not_found', `no hub ${wanted} shares the vault`)
    }
    if (another !== undefined) {
      throw new AdminRefusal('hub_ambiguous', `several hubs are at ${wanted}: name one by its id`)
    }
    if (hub.is_this) {
      throw new AdminRefusal('hub_is_this', 'a hub does not remove itself: ask another one')
    }
    if (hub.state === 'running' && force !== true) {
      throw new AdminRefusal('hub_runs', `hub ${hub.id} at ${hub.host} runs: stop it first`)
    }
    const { id, host } = hub
    return turn.commit(async () => ({
      acts: [{ type: HubEventType.hubRemoved, payload: { hub: id, host } }],
      reply: async () => {
        await control.remove(id)
        return hub
      },
    }))
  },
}

function requireHubs(hubs: HubsControl | undefined): HubsControl {
  if (hubs !== undefined) return hubs
  throw new AdminRefusal(
    'vault_embedded',
    'the vault has one hub, and shares its journal with none',
  )
}
