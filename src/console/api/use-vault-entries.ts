// The newest entries that the vault still has, as a card beside other things shows them: nothing here walks the archive, and a doorbell
// for what such a card leaves out asks nothing.

import type { ReadonlySignal } from '@preact/signals'
import { isRoutine } from '../../protocol/routine-events.ts'
import type { AdminReplies, AdminRequest } from './operations.ts'
import { PRESENCE } from './presence.ts'
import { type Shown, useQuery } from './query.ts'

type Request = Pick<AdminRequest<'listEntries'>, 'about' | 'tipos' | 'last'>

const REMOVED = ['log_archived']

/** Without routine, or of the types that are asked for. */
export function useVaultEntries(
  request: Request,
): ReadonlySignal<Shown<AdminReplies['listEntries']>> {
  const { tipos } = request
  const { data, error } = useQuery('listSegments', { limit: 1 }, { tipos: REMOVED }).value
  // Where the hub cannot say what it has removed, nothing was.
  const after = data?.removed_until ?? (error === undefined ? undefined : 0)
  return useQuery(
    'listEntries',
    after === undefined
      ? undefined
      : {
          ...request,
          ...(tipos === undefined && { routine: false }),
          ...(after > 0 && { after }),
        },
    { concerns: (tipo) => tipos?.includes(tipo) ?? isNotable(tipo) },
  )
}

function isNotable(tipo: string): boolean {
  return tipo !== PRESENCE && !isRoutine(tipo)
}
