// How the tree over the log begins, grows and is signed. docs/protocol.md CHN-15, CHN-16.

import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { type Checkpoint, formatCheckpoint, parseCheckpoint } from '../../audit/checkpoint.ts'
import { type EpochStatement, openEpoch, signEpoch } from '../../audit/epoch-statement.ts'
import { epochOf, originOf } from '../../audit/log-origin.ts'
import { EMPTY_FRONTIER, growTree, rootOf, type TreeNode } from '../../audit/merkle-tree.ts'
import { hashRecord } from '../../audit/record.ts'
import {
  type NoteSigner,
  type NoteVerifier,
  noteSigner,
  noteVerifier,
  openNote,
  signNote,
} from '../../audit/signed-note.ts'
import { Secret } from '../../platform/secret.ts'
import { KEPT_LEVEL_MIN, type LogTree } from '../domain/log-tree.ts'
import type { EndedLog } from './ended-logs.ts'

export function newLogTree(vaultId: string): LogTree {
  const { privateKey } = generateKeyPairSync('ed25519')
  const privateKeyDer = new Secret(privateKey.export({ format: 'der', type: 'pkcs8' }))
  const origin = originOf(vaultId, 1)
  return signed({ privateKeyDer, epoch: 1, origin, frontier: EMPTY_FRONTIER, epochs: [] })
}

/** With the records of these entries after the others, and each subtree to keep that they have filled. */
export function growLogTree(
  tree: LogTree,
  records: readonly string[],
): { readonly tree: LogTree; readonly filled: readonly TreeNode[] } {
  const { frontier, filled } = growTree(tree.frontier, records.map(hashRecord))
  return {
    tree: signed({ ...tree, frontier }),
    filled: filled.filter(({ level }) => level >= KEPT_LEVEL_MIN),
  }
}

/** What an epoch is begun with, besides the tree. */
export interface EpochFacts {
  /** What is known of the logs that end, one for each. Without any, the tree is all that there was. */
  readonly ended?: readonly EndedLog[] | undefined
  /** The least number that the epoch may have. */
  readonly atLeast?: number | undefined
}

/** The same tree under another name, so that nothing is signed twice with two contents. docs/protocol.md CHN-21. */
export function beginEpoch(
  tree: LogTree,
  vaultId: string,
  { ended = [], atLeast = 0 }: EpochFacts = {},
): LogTree {
  const { frontier } = tree
  const whole = { size: frontier.size, root: rootOf(frontier) }
  const own = ended.find(({ last }) => last.origin === tree.origin)?.last
  const longest = own !== undefined && own.size > whole.size ? own : whole
  const others = ended.filter(({ last }) => epochOf(last.origin) > tree.epoch)
  const previousEpochs = [tree.epoch, ...others.map(({ last }) => epochOf(last.origin))]
  const epoch = Math.max(atLeast, ...previousEpochs.map((previous) => previous + 1))
  const origin = originOf(vaultId, epoch)
  const ends: readonly Pick<EpochStatement, 'previous' | 'last' | 'base'>[] = [
    { previous: tree.origin, last: longest, base: whole },
    ...others.map(({ last, base }) => ({ previous: last.origin, last, base })),
  ]
  const statements = ends.map((end, at) =>
    signEpoch(
      { origin, ...end, place: { number: at + 1, of: ends.length } },
      signerOfEpoch(tree, end.previous),
    ),
  )
  const epochs = [...tree.epochs, ...statements]
  // What others have signed, they signed of the log that ends.
  return signed({ ...tree, cosigned: undefined, epoch, origin, epochs })
}

/** Who has signed the checkpoints of this tree. */
export function logVerifier(tree: LogTree): NoteVerifier {
  return logSigner(tree)
}

/** Other texts that it signs begin with a line of their own, which no checkpoint has. */
export function logSigner(tree: LogTree): NoteSigner {
  return signerOfEpoch(tree, tree.origin)
}

function signerOfEpoch(
  { privateKeyDer }: Pick<LogTree, 'privateKeyDer'>,
  origin: string,
): NoteSigner {
  const der = privateKeyDer.reveal()
  if (newest?.signer.name !== origin || Buffer.compare(newest.der, der) !== 0) {
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    newest = { der, signer: noteSigner(origin, privateKey) }
  }
  return newest.signer
}

/** To read a key takes longer than to sign with it, and a hub signs with one each second. */
let newest: { readonly der: Buffer; readonly signer: NoteSigner } | undefined

/** Undefined when the note is no checkpoint, or not signed with the key of this tree. */
export function openCheckpoint(tree: LogTree, note: string): Checkpoint | undefined {
  const opened = openNote(note, [logVerifier(tree)])
  const checkpoint = opened && parseCheckpoint(opened.text)
  return checkpoint?.origin === tree.origin ? checkpoint : undefined
}

/** Undefined when the note is no checkpoint that this log has signed, in whatever epoch. */
export function openOfAnyEpoch(tree: LogTree, note: string): Checkpoint | undefined {
  const [origin = ''] = note.split('\n', 1)
  const text = openNote(note, [verifierOfEpoch(tree, origin)])?.text
  return text === undefined ? undefined : parseCheckpoint(text)
}

/** Undefined when the note does not say how an epoch of this log began, or this log has not signed it. */
export function openStatement(tree: LogTree, note: string): EpochStatement | undefined {
  const [, , previous = ''] = note.split('\n', 3)
  return openEpoch(note, verifierOfEpoch(tree, previous))
}

/** Of the notes that this log has signed, in whatever epoch: the one of the latest epoch, and there of the most entries. */
export function findNewestSigned(
  tree: LogTree,
  notes: readonly string[],
): { readonly note: string; readonly checkpoint: Checkpoint } | undefined {
  const opened = notes.flatMap((note) => {
    const checkpoint = openOfAnyEpoch(tree, note)
    return checkpoint === undefined ? [] : [{ note, checkpoint, epoch: epochOf(checkpoint.origin) }]
  })
  return opened
    .toSorted((a, b) => a.epoch - b.epoch || a.checkpoint.size - b.checkpoint.size)
    .at(-1)
}

/** Who signs as this log in the epoch in which it has that name. */
export function verifierOfEpoch(tree: LogTree, origin: string): NoteVerifier {
  return noteVerifier(origin, logVerifier(tree).publicKey)
}

function signed(tree: Omit<LogTree, 'checkpoint'>): LogTree {
  const { origin, frontier } = tree
  const text = formatCheckpoint({ origin, size: frontier.size, root: rootOf(frontier) })
  return { ...tree, checkpoint: signNote(text, signerOfEpoch(tree, origin)) }
}
