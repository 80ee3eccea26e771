import { SEGMENT_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import { nodesOf } from '../../../audit/merkle-tree.ts'
import type { Read } from '../admin-act.ts'
import { readLogNodes } from '../read-log-nodes.ts'
import type { AdminContext } from './admin-context.ts'
import { requireArchiver } from './archive-entries.ts'

/** docs/protocol.md API-91. */
export const listSegments: Read<'listSegments', Pick<AdminContext, 'archiver'>> = async (
  reader,
  { after = 0, limit = SEGMENT_PAGE_MAX },
  { archiver },
) => {
  const found = await reader.listSegments(after, limit)
  const last = (await reader.findLastSegment())?.last ?? 0
  const firstInVault = (await reader.findFirstSeq()) ?? 1
  const segments = []
  for (const segment of found) {
    const hashes = await readLogNodes(reader, nodesOf(segment.first - 1, segment.last))
    segments.push({
      file: segment.file,
      first: segment.first,
      last: segment.last,
      first_at: segment.firstTimestamp,
      last_at: segment.lastTimestamp,
      hash_atual: segment.hash,
      bytes: segment.bytes,
      state: await requireArchiver(archiver).findState(segment),
      tree: hashes.map((hash) => hash.toString('base64')),
    })
  }
  const isMore = found.length === limit && (found.at(-1)?.last ?? last) < last
  return {
    segments,
    removed_until: Math.min(last, firstInVault - 1),
    next: isMore ? (found.at(-1)?.last ?? null) : null,
  }
}
