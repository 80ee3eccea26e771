// Whether the tree that a vault keeps over its log is the one that the vault signed: a person who can write to the vault, and does not
// have its keys, changes no part of it unnoticed. docs/protocol.md CHN-37.

import { hashChildren, nodesOf, rootOf } from '../../audit/merkle-tree.ts'
import type { NoteVerifier } from '../../audit/signed-note.ts'
import { KEPT_LEVEL_MIN, type LogTree } from '../domain/log-tree.ts'
import { originOf } from '../../audit/log-origin.ts'
import { logVerifier, openCheckpoint, openStatement } from './log-tree.ts'
import type { StoreReader } from '../store/store.ts'

/** Of the tree alone, in the time of a few signatures. */
export function findTreeFault(tree: LogTree, vaultId: string): string | undefined {
  if (tree.origin !== originOf(vaultId, tree.epoch)) {
    return `the log’s name, ${tree.origin}, is not that of epoch ${tree.epoch} of this vault`
  }
  const verifier = verifierOf(tree)
  if (verifier === undefined) return 'the key that signs checkpoints is damaged'
  const signed = openCheckpoint(tree, tree.checkpoint)
  if (signed === undefined) return 'the newest checkpoint is not signed with the key of the vault'
  const { frontier } = tree
  const isWhole = nodesOf(0, frontier.size).length === frontier.peaks.length
  if (!isWhole || signed.size !== frontier.size || !signed.root.equals(rootOf(frontier))) {
    return `the tree is not the one that the newest checkpoint, of ${signed.size} entries, was signed for`
  }
  const { cosigned } = tree
  if (cosigned !== undefined && openCheckpoint(tree, cosigned) === undefined) {
    return 'the checkpoint that witnesses have signed is not signed with the key of the vault'
  }
  return findStatementFault(tree, originOf(vaultId, 1))
}

/** Several logs end in one that begins when a backup is restored again; the first statement is that of the backup. */
function findStatementFault(tree: LogTree, first: string): string | undefined {
  let name = first
  let [number, of] = [0, 0]
  for (const note of tree.epochs) {
    const statement = openStatement(tree, note)
    const isNext =
      number === of
        ? statement?.previous === name && statement.place.number === 1
        : statement?.origin === name &&
          statement.place.number === number + 1 &&
          statement.place.of === of
    if (statement === undefined || !isNext) {
      return `the statement of the epoch after ${name} is damaged`
    }
    name = statement.origin
    ;({ number, of } = statement.place)
  }
  if (number < of) {
    return `of the ${of} logs that ended when ${name} began, the statements of ${of - number} are missing`
  }
  return name === tree.origin ? undefined : `no statement leads from ${name} to ${tree.origin}`
}

/** Of the subtrees that the vault keeps: each leads to the root that was signed. Reads all of them, and no entry. */
export async function findSubtreeFault(
  reader: Pick<StoreReader, 'listLogNodes'>,
  { frontier: { size, peaks } }: LogTree,
): Promise<string | undefined> {
  const peakOf = new Map(nodesOf(0, size).map(({ level }, at) => [level, peaks[at]]))
  let below: readonly Buffer[] = []
  for (let level = KEPT_LEVEL_MIN; 2 ** level <= size; level += 1) {
    const count = Math.floor(size / 2 ** level)
    const ids = Array.from({ length: count }, (_, index) => ({ level, index }))
    const hashes = await reader.listLogNodes(ids)
    for (const [index, hash] of hashes.entries()) {
      const [left, right] = below.slice(2 * index, 2 * index + 2)
      const made = left && right && hashChildren(left, right)
      const peak = index === count - 1 ? peakOf.get(level) : undefined
      if (made?.equals(hash) === false || peak?.equals(hash) === false) {
        return `subtree ${index} of ${2 ** level} entries of the log’s tree is not the one that was signed`
      }
    }
    below = hashes
  }
  return undefined
}

function verifierOf(tree: LogTree): NoteVerifier | undefined {
  try {
    return logVerifier(tree)
  } catch {
    // Whatever OpenSSL says of bytes that are no key.
    return undefined
  }
}
