import { HubEventType } from '../../../protocol/words.ts'
import type { LogArchiver } from '../../domain/log-archive.ts'
import { AdminRefusal, type Course } from '../admin-act.ts'
import { parseTime } from '../read-page.ts'
import type { AdminContext } from './admin-context.ts'

/** One step, so that no request takes long: a caller asks until it is done, and may stop at any time. docs/protocol.md ARC-6. */
export const archiveEntries: Course<'archiveEntries', AdminContext> = {
  run: async (turn, request, { store, archiver, actor }) => {
    const before = parseTime(request.before)
    const known = requireArchiver(archiver)
    if (turn.rehearse !== undefined) {
      const archived = (await store.reader.findLastSegment())?.last ?? 0
      const target = await known.findTarget(before)
      const act = { type: HubEventType.logArchived, payload: { desde: archived + 1, ate: target } }
      return turn.rehearse(target > archived ? [act] : [], [])
    }
    const { archivedUntil, removedUntil, target, isDone } = await known.step(before, actor)
    return { archived_until: archivedUntil, removed_until: removedUntil, target, done: isDone }
  },
}

export function requireArchiver(archiver: LogArchiver | undefined): LogArchiver {
  if (archiver !== undefined) return archiver
  throw new AdminRefusal('archive_unset', 'SVC_LOG_ARCHIVE_DIR is not set')
}
