// What is there now of a carga that somebody else has changed, and who did, as far as the log says.

import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'

export interface CargoConflict {
  readonly present: AdminReplies['showCargo']
  readonly by: { readonly actor: string; readonly at: string } | undefined
}

export async function readConflict(id: string): Promise<CargoConflict> {
  const tipos = ['carga_updated', 'carga_selected']
  const [present, changes] = await Promise.all([
    ask('showCargo', { carga: id }),
    ask('listEntries', { about: id, tipos, last: 1 }),
  ])
  const [entry] = changes.eventos
  const actor = entry?.payload['actor']
  const isKnown = entry !== undefined && typeof actor === 'string'
  return { present, by: isKnown ? { actor, at: entry.timestamp } : undefined }
}
