// A vault with a log, in a directory of its own, and what tests of backups do with it.

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { LogTree } from '../../src/hub/domain/log-tree.ts'
import { recordHubAct } from '../../src/hub/service/hub-acts.ts'
import { growLogTree, newLogTree } from '../../src/hub/service/log-tree.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import type { CopiedStore } from '../../src/hub/store/store-copy.ts'
import type { UnsealedVault } from '../../src/hub/vault/vault.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Secret } from '../../src/platform/secret.ts'
import { HubEventType } from '../../src/protocol/words.ts'
import { initCheapVault } from './cheap-vault.ts'
import { PASSPHRASE } from './hub.ts'

export interface BackedUpVault extends AsyncDisposable {
  readonly directory: string
  readonly vault: UnsealedVault
  readonly store: CopiedStore
  /** Appends that many entries, of a size that fills pages; the last number. */
  fill(entries: number): Promise<number>
  closeStore(): Promise<void>
  /** Signs a tree over all entries that there are, as the hub does every second. */
  sign(): Promise<LogTree>
}

export const VAULT_PASSPHRASE = new Secret(PASSPHRASE)

export async function openBackedUpVault(): Promise<BackedUpVault> {
  const directory = await mkdtemp(join(tmpdir(), 'backup-'))
  const vault = await initCheapVault(join(directory, 'vault'), VAULT_PASSPHRASE)
  const store = await openVaultStore(vault, { clock: systemClock })
  let closing: Promise<void> | undefined
  const closeStore = (): Promise<void> => (closing ??= store.close())
  return {
    closeStore,
    sign: async () => {
      const records = await store.reader.listRecords(0, 100_000)
      const { tree, filled } = growLogTree(newLogTree(vault.vaultId), records)
      await store.write((writer) => writer.putLogTree(tree, filled))
      return tree
    },
    directory,
    vault,
    store,
    fill: async (entries) => {
      const written = Array.from({ length: entries }, () =>
        store.write((writer) =>
          recordHubAct(writer, systemClock.now(), HubEventType.tokenCreated, {
            actor: 'admin',
            filling: randomUUID().repeat(20),
          }),
        ),
      )
      await Promise.all(written)
      const end = await store.write((writer) => writer.findChainEnd())
      return end?.seq ?? 0
    },
    [Symbol.asyncDispose]: async () => {
      await closeStore()
      await rm(directory, { recursive: true })
    },
  }
}

export async function collect(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
