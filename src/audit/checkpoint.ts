// What the hub says of its whole log at one moment, as c2sp.org/tlog-checkpoint has it: whose log, how many entries, the root of the tree.

import { HASH_BYTES } from './merkle-tree.ts'

export interface Checkpoint {
  /** The log’s name, without line breaks. */
  readonly origin: string
  /** Entries. */
  readonly size: number
  /** 32 bytes. */
  readonly root: Buffer
}

const SIZE = /^(?:0|[1-9][0-9]{0,15})$/

/** The text of a note, to be signed. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** Undefined when the text is not of this form. Lines after the third are for others, and left aside. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', base64 = '', ...rest] = text.split('\n')
  const root = Buffer.from(base64, 'base64')
  if (origin === '' || rest.length === 0 || !SIZE.test(size)) return undefined
  if (root.length !== HASH_BYTES || root.toString('base64') !== base64) return undefined
  const count = Number(size)
  return Number.isSafeInteger(count) ? { origin, size: count, root } : undefined
}
