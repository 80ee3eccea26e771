// Checks an export of the log with nothing but Web Crypto: for a browser, which has neither this project's other code nor Node's. It is
// a second writing of docs/protocol.md CHN-12, CHN-13, CHN-15 and CHN-30 to CHN-32, and this folder imports nothing from outside. It
// needs Ed25519 in crypto.subtle: Chrome 137, Firefox 129, Safari 17 or newer.

import { toBase64 } from './bytes.ts'
import { ExportFault } from './export-fault.ts'
import { nextTurn } from './next-turn.ts'
import { openCheckpoint, readKey } from './open-checkpoint.ts'
import { readBatches } from './read-batches.ts'
import { type Chain, followChain, GENESIS_HASH } from './follow-chain.ts'
import { readEntry, readHead } from './read-export-lines.ts'
import { WebTree } from './web-tree.ts'

export interface ExportExpectation {
  /** Of the log, from somewhere else than the export: `<name>+<hash>+<key>`. */
  readonly key: string
  /** A signed checkpoint that somebody kept. */
  readonly kept?: string
  /** Called now and then with the number of the last entry. */
  readonly onProgress?: (entry: number) => void
}

/** Good, or the first thing that is wrong, with the number of the entry where one is known. */
export type VerifiedExport =
  | {
      readonly ok: true
      readonly after: number
      readonly until: number
      readonly size: number
      readonly root: string
      readonly head: string
    }
  | { readonly ok: false; readonly reason: string; readonly entry?: number }

/** `chunks` are the bytes of the export, as `Blob.stream()` and the body of a `Response` give them. */
export async function verifyExport(
  chunks: AsyncIterable<Uint8Array>,
  expectation: ExportExpectation,
): Promise<VerifiedExport> {
  const batches = readBatches(chunks)
  try {
    return await verify(batches, expectation)
  } catch (error) {
    if (!(error instanceof ExportFault)) throw error
    const { message: reason, entry } = error
    return entry === undefined ? { ok: false, reason } : { ok: false, reason, entry }
  } finally {
    await batches.return(undefined)
  }
}

async function verify(
  batches: AsyncGenerator<string[]>,
  { key, kept, onProgress }: ExportExpectation,
): Promise<VerifiedExport> {
  const signer = await readKey(key)
  const head = readHead((await batches.next()).value?.[0] ?? '')
  if (head.key !== key) throw new ExportFault('the export names another key')
  const { after, until } = head
  const { size, root } = await openCheckpoint(head.checkpoint, signer)
  if (until > size) throw new ExportFault('the export says that it has more than was signed')
  const expected = kept === undefined ? undefined : await openCheckpoint(kept, signer)
  if (expected !== undefined && (expected.size < after || expected.size > until)) {
    throw new ExportFault(`the export says nothing about a checkpoint of ${expected.size} entries`)
  }
  const tree = new WebTree()
  await tree.complete(after, head.left)
  const chain: Chain = {
    count: after,
    hash: after === 0 ? GENESIS_HASH : undefined,
    timestamp: '',
  }
  const compare = async (): Promise<void> => {
    if (expected === undefined || toBase64(await tree.root()) === expected.root) return
    throw new ExportFault(`the first ${expected.size} entries are not those of the kept checkpoint`)
  }
  if (expected?.size === tree.size) await compare()
  for await (const lines of batches) {
    if (chain.count + lines.length > until)
      throw new ExportFault('there is more after the last entry')
    const hashed = await Promise.all(lines.map((line, at) => readEntry(line, chain.count + at + 1)))
    for (const { leaf, ...entry } of hashed) {
      followChain(chain, entry)
      await tree.add(leaf)
      if (expected?.size === tree.size) await compare()
    }
    onProgress?.(chain.count)
    await nextTurn()
  }
  if (chain.count < until)
    throw new ExportFault(`the export ends with entry ${chain.count} of ${until}`)
  await tree.complete(size, head.right)
  if (toBase64(await tree.root()) !== root) {
    throw new ExportFault('the entries are not those that the checkpoint was signed for')
  }
  return { ok: true, after, until, size, root, head: chain.hash ?? '' }
}
