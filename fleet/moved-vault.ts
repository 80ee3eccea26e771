// A filled vault with a tree over its log, and whether all of that is there after it was moved, or was not.

import { readSecret } from '../src/hub/read-secret.ts'
import { openVaultStore } from '../src/hub/open-store.ts'
import { LogVerifier } from '../src/audit/log-verifier.ts'
import { rootOf } from '../src/audit/merkle-tree.ts'
import { parseRecord } from '../src/audit/record.ts'
import { growLogTree, newLogTree } from '../src/hub/service/log-tree.ts'
import { isShared } from '../src/hub/shared-journal.ts'
import type { DatabaseServers } from '../src/hub/store/postgres/writable-connection.ts'
import type { Store, StoreReader } from '../src/hub/store/store.ts'
import { initVault, type UnsealedVault } from '../src/hub/vault/vault.ts'
import { systemClock } from '../src/platform/clock.ts'
import { invariant } from '../src/platform/errors.ts'
import type { Variables } from '../test/support/processes.ts'
import type { FilledSizes } from './planned-fleet.ts'
import { fillVault } from './vault-filler.ts'

/** What the log and its tree were before the first move. */
export interface MovedLog {
  readonly entries: number
  /** Of the last of these entries, over all before it. */
  readonly hash: string
  /** Of the tree over all of these entries, and what the vault signed of it. */
  readonly root: Buffer
  readonly tree: string
}

export interface MovedVault {
  readonly before: MovedLog
  readonly isShared: () => boolean
  /** Opens the vault as a hub does, and reads what moves may not change. Throws where it does not open. */
  findFaults(): Promise<readonly string[]>
  /** Of every entry, from the first on. */
  findChainFaults(): Promise<readonly string[]>
}

const PAGE_RECORDS = 5000

export async function makeMovedVault(
  environment: Variables,
  sizes: FilledSizes,
  servers: DatabaseServers,
  progress: (text: string) => void,
): Promise<MovedVault> {
  const passphrase = readSecret(environment, 'SVC_MASTER_PASSPHRASE')
  const vault = await initVault(environment['SVC_VAULT_ROOT'] ?? '', passphrase)
  fillVault(vault, sizes, new Date(), progress)
  progress('the tree over the log')
  const before = await withStore(vault, undefined, (store) => growTree(vault, store))
  const open = <T>(work: (store: Store) => Promise<T>): Promise<T> =>
    withStore(vault, isShared(vault) ? servers : undefined, work)
  return {
    before,
    isShared: () => isShared(vault),
    findFaults: () => open(({ reader }) => findFaults(reader, before)),
    findChainFaults: () => open(({ reader }) => findChainFaults(reader, before)),
  }
}

async function withStore<T>(
  vault: UnsealedVault,
  database: DatabaseServers | undefined,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openVaultStore(vault, { clock: systemClock, database })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

async function growTree({ vaultId }: UnsealedVault, store: Store): Promise<MovedLog> {
  let tree = newLogTree(vaultId)
  for await (const records of readRecords(store.reader)) {
    const grown = growLogTree(tree, records)
    tree = grown.tree
    await store.write((writer) => writer.putLogTree(grown.tree, grown.filled))
  }
  const end = await store.reader.findChainEnd()
  invariant(end !== undefined, 'a filled vault has a log')
  return { entries: end.seq, hash: end.hash, root: rootOf(tree.frontier), tree: tree.checkpoint }
}

async function findFaults(reader: StoreReader, before: MovedLog): Promise<readonly string[]> {
  const faults: string[] = []
  const [last] = await reader.listEntries({ afterSeq: before.entries - 1, limit: 1 })
  if (last?.hash !== before.hash) faults.push(`entry ${before.entries} has another hash`)
  const tree = await reader.findLogTree()
  if (tree?.checkpoint !== before.tree) faults.push('the tree has another checkpoint')
  return faults
}

/** From the first entry on: each hash, and the tree that was signed over all of them. */
async function findChainFaults(
  reader: StoreReader,
  { entries, root }: MovedLog,
): Promise<readonly string[]> {
  const verifier = new LogVerifier([{ size: entries, root }])
  for await (const records of readRecords(reader)) {
    for (const record of records) {
      const entry = parseRecord(record)
      invariant(entry !== undefined, 'the vault has records')
      verifier.add(entry, record)
    }
  }
  const { chainFault } = verifier
  const chain =
    chainFault === undefined ? undefined : `entry ${chainFault.seq}: ${chainFault.reason}`
  return [chain, verifier.findTreeFault()].filter((fault) => fault !== undefined)
}

async function* readRecords(reader: StoreReader): AsyncGenerator<readonly string[], void> {
  for (let after = 0; ;) {
    const records = await reader.listRecords(after, PAGE_RECORDS)
    if (records.length === 0) return
    yield records
    after += records.length
  }
}
