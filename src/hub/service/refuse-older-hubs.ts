import type { AdminHubRow } from '../../protocol/admin/hubs.ts'
import { AdminRefusal } from './admin-act.ts'

export interface SharedVault {
  /** The hubs that share the vault; of one of them that runs. */
  readonly hubs?: { list(): Promise<readonly AdminHubRow[]> }
}

/** Of what a hub of an earlier version that runs, or may run, would pass over. Also a silent one counts: it may only be cut off. */
export async function refuseOlderHubs({ hubs }: SharedVault, what: string): Promise<void> {
  if (hubs === undefined) return
  const all = await hubs.list()
  const known = all.find((hub) => hub.is_this)?.tables ?? 0
  const older = all.find(
    ({ state, tables }) => state !== 'stopped' && tables !== null && tables < known,
  )
  if (older === undefined) return
  throw new AdminRefusal(
    'hubs_older',
    `hub ${older.id} at ${older.host} has version ${older.version}, and ${what}`,
  )
}
