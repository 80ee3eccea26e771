// What an operator has to find out whether a log was changed: the commands, in this process, on a vault without a hub.

import { parseCheckpoint } from '../../../src/audit/checkpoint.ts'
import { openNote, parseVerifierKey } from '../../../src/audit/signed-note.ts'
import { exportLines } from '../../../src/admin/commands/evento/export-log.ts'
import { verifyExport } from '../../../src/admin/commands/evento/verify-export.ts'
import { verifyLog } from '../../../src/admin/commands/evento/verify-log.ts'
import { checkRequests } from '../../../src/admin/doors/checked-operations.ts'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import { createPerformOperation } from '../../../src/hub/service/admin/perform-operation.ts'
import type { CopiedStore } from '../../../src/hub/store/store-copy.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { invariant, SvcError } from '../../../src/platform/errors.ts'
import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import { readFileSync } from 'node:fs'
import type { SampleLog } from './sample-log.ts'

/** `start` is the start of the hub and of every command; `start, outside` has SVC_CHECKPOINT_PATH; `unseal` reads all of the vault. */
export type Finder = 'start' | 'start, outside' | 'list --verify' | 'export, verify' | 'unseal'

/** Those that find a fault. What a start finds, every command finds: each of them opens the vault. */
export async function findFinders(vault: UnsealedVault, log: SampleLog): Promise<Set<Finder>> {
  const found = new Set<Finder>()
  const note = async (finder: Finder, work: () => Promise<boolean>): Promise<boolean> => {
    const isGood = await tells(work)
    if (!isGood) found.add(finder)
    return isGood
  }
  const isOpened = await note('start', () =>
    opened(vault, {}, async (store) => {
      await note('list --verify', () => verifiesInPlace(store, log))
      await note('export, verify', () => verifiesElsewhere(store, log))
      return true
    }),
  )
  if (!isOpened) return found
  const { outside } = log
  await note('start, outside', () =>
    opened(vault, { checkpointDirectory: outside }, async () => true),
  )
  if (found.has('list --verify')) return found
  await note('unseal', () => opened(vault, { checkPages: true }, async () => true))
  return found
}

/** A fault that is told in words: anything else is a bug of ours. */
async function tells(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SvcError) return false
    throw error
  }
}

async function opened<Value>(
  vault: UnsealedVault,
  options: { readonly checkpointDirectory?: string; readonly checkPages?: boolean },
  work: (store: CopiedStore) => Promise<Value>,
): Promise<Value> {
  const store = await openVaultStore(vault, { clock: systemClock, ...options })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

async function verifiesInPlace(store: CopiedStore, { keptPath, key }: SampleLog): Promise<boolean> {
  const { ok } = await verifyLog(operationsOf(store), QUIET, { path: keptPath, key })
  return ok
}

async function verifiesElsewhere(
  store: CopiedStore,
  { keptPath, key }: SampleLog,
): Promise<boolean> {
  const operations = operationsOf(store)
  const proof = await operations.showRangeProof({})
  const signer = parseVerifierKey(key)
  const kept =
    signer && parseCheckpoint(openNote(readFileSync(keptPath, 'utf8'), [signer])?.text ?? '')
  invariant(signer !== undefined && kept !== undefined, 'the sample was made so')
  const chunks = bytesOf(exportLines(operations, proof, QUIET))
  const { ok } = await verifyExport(chunks, { key, signer, kept }, 'the export', QUIET)
  return ok
}

async function* bytesOf(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece)
}

const QUIET = { show: () => undefined, clear: () => undefined }

function operationsOf(store: CopiedStore): AdminOperations {
  const perform = createPerformOperation({
    store,
    clock: systemClock,
    addresses: undefined,
    hubNames: [],
    contentBytesMax: 0,
    renewalThresholdMs: 0,
  } as never)
  return checkRequests((name, request) => perform(name, request, { actor: 'admin', role: 'admin' }))
}
