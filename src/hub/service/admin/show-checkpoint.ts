import { formatVerifierKey } from '../../../audit/signed-note.ts'
import { logVerifier } from '../log-tree.ts'
import type { Read } from '../admin-act.ts'

/** docs/protocol.md CHN-15, CHN-16. */
export const showCheckpoint: Read<'showCheckpoint'> = async (reader) => {
  const tree = await reader.findLogTree()
  if (tree === undefined) return { checkpoint: null, key: null, entries: 0, cosigned: null }
  const { checkpoint, frontier, cosigned = null } = tree
  const key = formatVerifierKey(logVerifier(tree))
  return { checkpoint, key, entries: frontier.size, cosigned }
}
