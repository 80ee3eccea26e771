// What is there now of a carga that somebody else has changed, and who did, as far as the log says.

import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'

export interface CargoConflict {
  readonly present: AdminReplies['showCargo']
  readonly by: { readonly actor: string; readonly at: string } | undefined
}

/** No index knows the carga of an entry `carga_selected`: the newest ones are looked at. */
const SELECTED_LAST = 50

export async function readConflict(id: string): Promise<CargoConflict> {
  const [present, updates, selections] = await Promise.all([
    ask('showCargo', { carga: id }),
    ask('listEntries', { about: id, tipos: ['carga_updated'], last: 1 }),
    ask('listEntries', { tipos: ['carga_selected'], last: SELECTED_LAST }),
  ])
  const selected = selections.eventos.findLast(({ payload }) => payload['carga_id'] === id)
  const [entry] = [...updates.eventos, ...(selected === undefined ? [] : [selected])].toSorted(
    (one, other) => other.seq - one.seq,
  )
  const actor = entry?.payload['actor']
  const isKnown = entry !== undefined && typeof actor === 'string'
  return { present, by: isKnown ? { actor, at: entry.timestamp } : undefined }
}
