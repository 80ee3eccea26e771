// In peace the log is what the hub has signed of it, what every witness has seen of it, and what every receipt says.

import { ArchiveError } from '../../../src/archive/archive-error.ts'
import { type Checkpoint, parseCheckpoint } from '../../../src/audit/checkpoint.ts'
import { LogVerifier } from '../../../src/audit/log-verifier.ts'
import { parseReceipt } from '../../../src/audit/receipt.ts'
import { ReceiptCheck } from '../../../src/audit/receipt-check.ts'
import { parseRecord } from '../../../src/audit/record.ts'
import { openCheckpoint } from '../../../src/hub/service/log-tree.ts'
import { invariant } from '../../../src/platform/errors.ts'
import type { ContractModel } from './contract-model.ts'
import { demand } from './demand.ts'
import { DATA_DIR } from './crashing-host.ts'
import type { CrashingHub } from './crashing-hub.ts'
import type { WatchedHost, World } from './world.ts'

const STATE_DIR = `${DATA_DIR}/state`
/** The file, one in the making, and the directory. */
const OF_RECEIPTS = /\/state(?:\/\.?receipts\.jsonl[^/]*)?$/

export async function checkLog({ hosts, model, oldLog }: World, hub: CrashingHub): Promise<void> {
  const reader = hub.place?.hub.store.reader
  const tree = await reader?.findLogTree()
  const records = (await reader?.listRecords(0, model.entryCount).catch(judgeLoss)) ?? []
  demand(records.length === model.entryCount, '[ARC-8] entries are missing from', model.entryCount)
  const signed = tree && openCheckpoint(tree, tree.checkpoint)
  demand(signed !== undefined, '[CHN-16] in peace the hub has signed its log')
  invariant(signed !== undefined, 'it was demanded')
  const seen = hosts.flatMap(({ watch }) => readSeen(watch) ?? [])
  const verifier = new LogVerifier([signed, ...seen])
  // What a restore has lost is not there, and whoever holds its receipt can say so.
  const receipts = hosts.map(
    ({ host: { hostname }, watch }) =>
      new ReceiptCheck(
        readReceipts(watch).filter(({ requestId }) => !model.wasLost(hostname, requestId ?? '')),
      ),
  )
  for (const [index, record] of records.entries()) {
    const old = oldLog?.records[index]
    demand(old === undefined || old === record, '[ARC-6] an old entry is another one:', index + 1)
    const entry = parseRecord(record)
    invariant(entry !== undefined, 'the store answers records')
    verifier.add(entry, record)
    for (const check of receipts) check.add(entry)
  }
  const fault = verifier.findTreeFault()
  demand(fault === undefined, '[CHN-16] signed, or seen by a witness:', fault ?? '')
  for (const check of receipts) {
    const [wrong] = check.finish()
    demand(wrong === undefined, '[CHN-35]', `${wrong?.receipt.eventType}: ${wrong?.reason}`)
  }
  for (const watched of hosts) checkReceipts(watched, model)
}

/** [CHN-34] Each event that has left the outbox has its receipt, unless the disk did not take it. */
function checkReceipts({ host, watch }: WatchedHost, model: ContractModel): void {
  if ([...host.disk.failedPaths].some((path) => OF_RECEIPTS.test(path))) return
  const kept = new Set(readReceipts(watch).map(({ requestId }) => requestId))
  for (const { requestId } of watch.promisedSinceBuilt()) {
    if (!model.hasEvent(host.hostname, requestId)) continue
    demand(kept.has(requestId), '[CHN-34] no receipt of', `${host.hostname} ${requestId}`)
  }
}

function judgeLoss(error: unknown): undefined {
  if (!(error instanceof ArchiveError)) throw error
  demand(false, '[ARC-6] entries are lost:', error.message)
}

type Watch = WatchedHost['watch']

function readReceipts(watch: Watch) {
  const lines = watch.readText(`${STATE_DIR}/receipts.jsonl`)?.split('\n') ?? []
  return lines.flatMap((line) => parseReceipt(line) ?? [])
}

/** What the witness on that host has checked last; undefined where there is none yet. */
export function readSeen(watch: Watch): Checkpoint | undefined {
  const text = watch.readText(`${STATE_DIR}/log-witness.json`)
  if (text === undefined) return undefined
  const { newest } = JSON.parse(text) as { newest: { note: string } }
  return parseCheckpoint(`${newest.note.split('\n\n')[0]}\n`)
}
