// What still needs which root.

import type { AdminReplies } from '../../api/operations.ts'

type Bundle = AdminReplies['showBundle']
export type Root = Bundle['roots'][number]

export interface OldRoot {
  readonly root: Root
  /** Certificates in use that lead to it. */
  readonly certificates: number
}

/** Roots that the hub's own certificate no longer leads to; none while there is one root, or while no hub says. */
export function listOldRoots({ roots }: Pick<Bundle, 'roots'>): readonly OldRoot[] {
  if (!roots.some(({ is_hubs_own: isOwn }) => isOwn)) return []
  return roots
    .filter(({ is_hubs_own: isOwn }) => !isOwn)
    .map((root) => ({ root, certificates: root.certificados }))
}
