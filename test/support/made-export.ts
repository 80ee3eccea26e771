// Logs, and exports of them as a hub with a running tree would make them, without a hub.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { chainEntries } from '../../src/audit/chain-entries.ts'
import { type Checkpoint, formatCheckpoint, parseCheckpoint } from '../../src/audit/checkpoint.ts'
import { formatExportHead, formatExportRecord } from '../../src/audit/log-export.ts'
import { planBlock } from '../../src/audit/block-proofs.ts'
import { carryOutPlan } from '../../src/audit/merkle-proofs.ts'
import {
  EMPTY_FRONTIER,
  growTree,
  type NodeId,
  nodesOf,
  rootOf,
} from '../../src/audit/merkle-tree.ts'
import { formatRecord, hashRecord, type RecordedEntry } from '../../src/audit/record.ts'
import {
  formatVerifierKey,
  noteSigner,
  type NoteSigner,
  signNote,
} from '../../src/audit/signed-note.ts'

import type { AdminReplies, AdminRequest } from '../../src/protocol/admin/operations.ts'

export type Content = Omit<RecordedEntry, 'seq' | 'timestamp' | 'previousHash' | 'hash'>

export interface MadeLog {
  readonly records: readonly string[]
  readonly signer: NoteSigner
  readonly key: string
  /** As signed when the log had so many entries. */
  noteAt(size: number): string
  checkpointAt(size: number): Checkpoint
  /** Of the entries after the one and up to the other, with the checkpoint of all. */
  exportOf(after?: number, until?: number): string
  /** What a hub answers. */
  prove(range: AdminRequest<'showRangeProof'>): AdminReplies['showRangeProof']
  showBlockProofs(blocks: readonly number[]): AdminReplies['showBlockProofs']
}

export const SIGNER: NoteSigner = noteSigner(
  'cartorio/a-vault',
  generateKeyPairSync('ed25519').privateKey,
)

export function makeContents(count: number): Content[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    agentId: index % 3 === 0 ? null : `agent-${index % 5}`,
    eventType: 'noted',
    deliveryId: index % 2 === 0 ? null : 'delivery',
    requestId: index % 7 === 0 ? null : `request-${index}`,
    payloadText: `{"n":${index},"words":"ç \\"quoted\\" 𝄞"}`,
  }))
}

/** All hashes are right, whoever signs it. */
export function makeLog(contents: readonly Content[], signer = SIGNER): MadeLog {
  const entries = chainEntries(
    undefined,
    contents.map((content, index) => ({ ...content, at: new Date(index * 1000) })),
  )
  return logOf(entries.map(formatRecord), signer)
}

/** Of any records, signed as they are. */
export function logOf(records: readonly string[], signer = SIGNER): MadeLog {
  const leaves = records.map(hashRecord)
  const { filled } = growTree(EMPTY_FRONTIER, leaves)
  const nodes = new Map(filled.map(({ level, index, hash }) => [`${level}/${index}`, hash]))
  const hashesOf = (start: number, end: number): Buffer[] =>
    nodesOf(start, end).map(({ level, index }) => nodes.get(`${level}/${index}`) ?? assert.fail())
  const key = formatVerifierKey(signer)
  const noteAt = (size: number): string => {
    const root = rootOf({ peaks: hashesOf(0, size) })
    return signNote(formatCheckpoint({ origin: signer.name, size, root }), signer)
  }
  const size = records.length
  const toBase64 = (hashes: readonly Buffer[]): string[] =>
    hashes.map((hash) => hash.toString('base64'))
  return {
    records,
    signer,
    key,
    noteAt,
    checkpointAt: (of) => parseCheckpoint(`${noteAt(of).split('\n\n')[0]}\n`) ?? assert.fail(),
    exportOf: (after = 0, until = size) => {
      const hashes = { left: hashesOf(0, after), right: hashesOf(until, size) }
      const head = formatExportHead({ after, until, checkpoint: noteAt(size), key, ...hashes })
      const lines = [head, ...records.slice(after, until).map(formatExportRecord)]
      return lines.map((line) => `${line}\n`).join('')
    },
    prove: ({ after = 0, before = size + 1 }) => ({
      checkpoint: noteAt(size),
      key,
      entries: size,
      after,
      until: before - 1,
      left: toBase64(hashesOf(0, after)),
      right: toBase64(hashesOf(before - 1, size)),
    }),
    showBlockProofs: (blocks) => ({
      blocks: blocks.map((block) => {
        const plan = planBlock(block, size)
        const find = (of: readonly NodeId[]): Buffer[] =>
          of.map(({ level, index }) => nodes.get(`${level}/${index}`) ?? assert.fail())
        const proof = carryOutPlan(plan.proof, find(plan.proof.flat()))
        return { leaves: toBase64(find(plan.leaves)), proof: toBase64(proof) }
      }),
    }),
  }
}
