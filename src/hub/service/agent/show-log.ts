// The log as its witnesses see it: what was signed last, and proofs that it has only grown. docs/protocol.md CHN-19, CHN-20.

import { carryOutPlan, planConsistency } from '../../../audit/merkle-proofs.ts'
import { formatVerifierKey } from '../../../audit/signed-note.ts'
import { LIMITS } from '../../../protocol/limits.ts'
import type { ConsistencyReplyBody, LogReplyBody } from '../../../protocol/schemas.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import type { StoreReader } from '../../store/store.ts'
import { LogBlocks } from '../log-blocks.ts'
import { logVerifier } from '../log-tree.ts'
import { readLogNodes } from '../read-log-nodes.ts'

export interface ShownLog {
  /** The newest checkpoint as a header; undefined before the first one. */
  header(): string | undefined
  describe(): Promise<LogReplyBody | undefined>
  /** Undefined when the log never had so many entries, or shrinks between the two. */
  prove(from: number, to: number): Promise<ConsistencyReplyBody | undefined>
}

/** `catchUp`, of one of several hubs, resolves when `newest` is what any of them has shown: agents go from one to another. */
export function showLog(
  reader: StoreReader,
  newest: () => LogTree | undefined,
  catchUp?: () => Promise<void>,
): ShownLog {
  const blocks = new LogBlocks()
  let rendered: { readonly tree: LogTree; readonly header: string } | undefined
  let described: { readonly tree: LogTree; readonly reply: LogReplyBody } | undefined
  return {
    header: () => {
      const tree = newest()
      if (tree === undefined) return undefined
      // The same one for a thousand answers.
      if (rendered?.tree !== tree) {
        rendered = { tree, header: Buffer.from(tree.checkpoint).toString('base64') }
      }
      return rendered.header
    },
    describe: async () => {
      await catchUp?.()
      const tree = newest()
      if (tree === undefined) return undefined
      // Every agent asks when an epoch begins, and to open the key takes longer than all else.
      if (described?.tree !== tree) described = { tree, reply: describeTree(tree) }
      return described.reply
    },
    prove: async (from, to) => {
      if (to > (newest()?.frontier.size ?? 0)) await catchUp?.()
      const tree = newest()
      if (tree === undefined || from > to || to > tree.frontier.size) return undefined
      const plan = planConsistency(from, to)
      const proof = carryOutPlan(plan, await readLogNodes(reader, plan.flat(), blocks))
      return { proof: proof.map((node) => node.toString('base64')) }
    },
  }
}

function describeTree(tree: LogTree): LogReplyBody {
  const { checkpoint, epochs } = tree
  const key = formatVerifierKey(logVerifier(tree))
  return { key, checkpoint, epochs: epochs.slice(-LIMITS.logEpochsMax) }
}
