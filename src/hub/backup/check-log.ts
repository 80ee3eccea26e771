import { LogVerifier } from '../../audit/log-verifier.ts'
import type { SizedRoot } from '../../audit/merkle-proofs.ts'
import { nodesOf } from '../../audit/merkle-tree.ts'
import { parseRecord } from '../../audit/record.ts'
import { BackupError } from '../../backup/backup-error.ts'
import type { BackedUpLog } from '../../backup/backup-head.ts'
import { openCheckpoint } from '../service/log-tree.ts'
import type { StoreReader } from '../store/store.ts'

const PAGE_ENTRIES = 5000

export interface CheckLogOptions {
  readonly reader: Pick<
    StoreReader,
    'listRecords' | 'findLogTree' | 'findLastSegment' | 'listLogNodes'
  >
  /** Where the log ended when the backup was made. */
  readonly log: BackedUpLog
  /** For messages. */
  readonly name: string
  readonly onProgress?: ((entries: number, all: number) => void) | undefined
}

/**
 * Reads the whole log of what was backed up, from its first entry to exactly the last: its chain, and its tree against the
 * checkpoint that it has. What was archived before is in segments, and not read. docs/protocol.md BKP-7, ARC-9.
 */
export async function checkLog(options: CheckLogOptions): Promise<void> {
  const { reader, log, name, onProgress } = options
  const verifier = await openVerifier(options)
  for (;;) {
    const records = await reader.listRecords(verifier.count, PAGE_ENTRIES)
    if (records.length === 0) break
    for (const record of records) {
      const entry = parseRecord(record)
      if (entry === undefined) throw broken(`the audit log in ${name} has an entry without a form`)
      verifier.add(entry, record)
    }
    onProgress?.(verifier.count, log.entries)
  }
  const { chainFault, count, head } = verifier
  if (chainFault !== undefined) {
    const { seq, reason } = chainFault
    throw broken(`the audit log in ${name} is broken at entry ${seq}: ${reason}`)
  }
  const treeFault = verifier.findTreeFault()
  if (treeFault !== undefined) {
    throw broken(`the audit log in ${name} is not as it was signed: ${treeFault}`)
  }
  if (count !== log.entries || head !== log.hash) {
    throw broken(
      `the audit log in ${name} has ${count} entries and the head ${head}, not ${log.entries} and ${log.hash}`,
    )
  }
}

/** What is in segments is not in a backup: the tree has their hashes, and the chain goes on from the last one. */
async function openVerifier(options: CheckLogOptions): Promise<LogVerifier> {
  const { reader } = options
  const expected = await readCheckpoint(options)
  const archived = await reader.findLastSegment()
  if (archived === undefined) return new LogVerifier(expected)
  const { last, hash } = archived
  const peaks = await reader.listLogNodes(nodesOf(0, last))
  return new LogVerifier(expected, { size: last, peaks }, hash)
}

/** None of a vault that had signed none yet. */
async function readCheckpoint({ reader, log, name }: CheckLogOptions): Promise<SizedRoot[]> {
  const tree = await reader.findLogTree()
  if (tree === undefined && log.checkpoint === null) return []
  const signed = tree && openCheckpoint(tree, tree.checkpoint)
  if (signed !== undefined && tree?.checkpoint === log.checkpoint) return [signed]
  throw broken(`the checkpoint in ${name} is not the one that the vault had signed`)
}

function broken(message: string): BackupError {
  return new BackupError('backup_damaged', message, {
    hint: 'the vault was like this when the backup was made; use an older backup, and keep this one to be looked at',
  })
}
