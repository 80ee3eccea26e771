// A vault with a log that has everything: entries of agents and of the hub, a tree with subtrees that the vault keeps, a checkpoint that
// somebody kept, and the vault as it was before that.

import { randomUUID } from 'node:crypto'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkpointFiles } from '../../../src/hub/checkpoint-files.ts'
import type { LogTree } from '../../../src/hub/domain/log-tree.ts'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import { appendEntry } from '../../../src/hub/service/append-entries.ts'
import { growLogTree, logVerifier, newLogTree } from '../../../src/hub/service/log-tree.ts'
import type { Store } from '../../../src/hub/store/store.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { formatVerifierKey } from '../../../src/audit/signed-note.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { Secret } from '../../../src/platform/secret.ts'
import type { AgentId, DeliveryId, EntryId } from '../../../src/protocol/identifiers.ts'
import { initCheapVault } from '../../../test/support/cheap-vault.ts'
import { PASSPHRASE } from '../../../test/support/hub.ts'

export interface SampleLog {
  readonly vault: UnsealedVault
  /** The vault’s directory before the checkpoint was kept. */
  readonly yesterday: string
  readonly entries: number
  /** That the kept checkpoint was signed for. */
  readonly keptEntries: number
  /** A file with it. */
  readonly keptPath: string
  readonly key: string
  /** What the hub keeps as SVC_CHECKPOINT_PATH. */
  readonly outside: string
}

export interface SampleSizes {
  readonly yesterday: number
  readonly kept: number
  readonly all: number
}

export async function makeSampleLog(directory: string, sizes: SampleSizes): Promise<SampleLog> {
  const vault = await initCheapVault(join(directory, 'vault'), new Secret(PASSPHRASE))
  const outside = join(directory, 'outside')
  await mkdir(outside)
  const yesterday = join(directory, 'yesterday')
  const extend = async (to: number): Promise<LogTree> => {
    const store = await openVaultStore(vault, { clock: systemClock })
    try {
      return await fill(store, vault.vaultId, to)
    } finally {
      await store.close()
    }
  }
  await extend(sizes.yesterday)
  await cp(vault.root, yesterday, { recursive: true })
  const kept = await extend(sizes.kept)
  const keptPath = join(directory, 'kept.checkpoint')
  await writeFile(keptPath, kept.checkpoint)
  const newest = await extend(sizes.all)
  await checkpointFiles(outside, vault.vaultId).write(newest)
  const key = formatVerifierKey(logVerifier(newest))
  return { vault, yesterday, entries: sizes.all, keptEntries: sizes.kept, keptPath, key, outside }
}

/** As the hub does it: entries by commits, then one checkpoint over all of them. */
async function fill(store: Store, vaultId: string, to: number): Promise<LogTree> {
  const from = (await store.reader.findChainEnd())?.seq ?? 0
  await store.write(async (writer) => {
    for (let seq = from + 1; seq <= to; seq += 1) {
      await appendEntry(writer, {
        id: randomUUID() as EntryId,
        agentId: seq % 3 === 0 ? null : (randomUUID() as AgentId),
        eventType: seq % 2 === 0 ? 'agent_started' : 'cert_renewed',
        payloadText: JSON.stringify({ seq, text: 'ç "quoted"' }),
        deliveryId: seq % 4 === 0 ? (randomUUID() as DeliveryId) : null,
        requestId: seq % 5 === 0 ? null : `request-${seq}`,
        at: systemClock.now(),
      })
    }
  })
  return store.write(async (writer) => {
    const before = (await writer.findLogTree()) ?? newLogTree(vaultId)
    const records = await writer.listRecords(before.frontier.size, to)
    const { tree, filled } = growLogTree(before, records)
    await writer.putLogTree(tree, filled)
    return tree
  })
}
