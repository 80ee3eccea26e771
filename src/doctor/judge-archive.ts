// The segments that the log was archived into. docs/protocol.md DOC-27.

import type { SegmentFacts } from '../protocol/admin/examination.ts'
import { fault, type Finding, ok, skipped } from './finding.ts'

const SHOWN_MAX = 5

/** `said` is the hub's; undefined where none answers that knows. */
export function judgeArchive(said: SegmentFacts | undefined): Finding[] {
  if (said === undefined) return [skipped('only a hub knows which segments there are')]
  const { directory, segments, missing, damaged, faulty } = said
  if (missing + damaged > 0) {
    const shown = faulty.slice(0, SHOWN_MAX)
    const names = shown.map(
      ({ file, first, last, state }) => `${file} (events ${first} to ${last}, ${state})`,
    )
    const more = missing + damaged - shown.length
    const count = `of ${segments} segments of the log ${missing} missing and ${damaged} damaged`
    return [
      fault(`${count}: ${names.join(', ')}${more > 0 ? `, and ${more} more` : ''}`, {
        why: 'nobody can list, verify or export the events in them; the vault has only their proofs',
        remedy:
          directory === null
            ? 'set SVC_LOG_ARCHIVE_DIR to the directory that has them'
            : `mount ${directory}, let the owner of the vault read it, or copy the files back into it`,
        commands: ['svc event segments'],
      }),
    ]
  }
  if (segments === 0) return [ok('no event is archived')]
  return [ok(`all ${segments} segments of the log are there`)]
}
