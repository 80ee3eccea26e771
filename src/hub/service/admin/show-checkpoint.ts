import { formatVerifierKey } from '../../../audit/signed-note.ts'
import { logVerifier } from '../log-tree.ts'
import type { Read } from '../admin-act.ts'

/** docs/protocol.md CHN-15, CHN-16, API-30. */
export const showCheckpoint: Read<'showCheckpoint'> = async (reader) => {
  const [tree, end] = [await reader.findLogTree(), await reader.findChainEnd()]
  const head =
    end === undefined ? null : { seq: end.seq, hash_atual: end.hash, timestamp: end.timestamp }
  if (tree === undefined) return { checkpoint: null, key: null, entries: 0, cosigned: null, head }
  const { checkpoint, frontier, cosigned = null } = tree
  const key = formatVerifierKey(logVerifier(tree))
  return { checkpoint, key, entries: frontier.size, cosigned, head }
}
