// The way back: put every file back as it was, reload the server again, record the failure. A second start after a crash
// ends the same.

import { dirname } from 'node:path'
import { describeError } from '../../platform/errors.ts'
import { type Journal, stagedPaths, TARGET_BYTES_MAX } from './journal.ts'
import { type FileState, isSameState, stateOf } from './plan-target.ts'
import { recordReverted } from './record-outcome.ts'
import { createFile, type TargetFileOperations, UnexpectedFileError } from './target-files.ts'
import type { TargetFault, TransactionContext } from './transaction.ts'

/** Throws when a file cannot be put back now: the journal stays, and the next one who comes tries again. */
export async function revertTarget(
  context: TransactionContext,
  journal: Journal,
  fault: TargetFault,
): Promise<void> {
  const { journals, log } = context
  if (journal.phase === 'switching' || journal.phase === 'reverting') {
    // Recorded first: the applied state that may be on record already is not the state that the host will have.
    await journals.moveTo(journal, 'reverting')
    await putBack(context, journal)
    await reloadFormer(context, journal)
    await journals.moveTo(journal, 'reverted')
  }
  await recordReverted(context, journal.entry, fault)
  await cleanUp(context, journal)
  const { source, nome: name, serial } = journal.entry
  log.warn({ source, artefact: name, serial, ...fault }, 'Target put back')
}

/** Removes what a change that is over has left: staged files hold keys. */
export async function cleanUp(
  { files, journals }: Pick<TransactionContext, 'files' | 'journals'>,
  journal: Journal,
): Promise<void> {
  for (const index of journal.entry.files.keys()) {
    const { fresh, former } = stagedPaths(journal.entry, index)
    await files.remove(fresh)
    await files.remove(former)
  }
  await syncParents(files, journal)
  await journals.remove(journal)
}

export async function syncParents(files: TargetFileOperations, { entry }: Journal): Promise<void> {
  const parents = new Set(entry.files.map(({ path }) => dirname(path)))
  for (const parent of parents) await files.syncDirectory(parent)
}

async function putBack(context: TransactionContext, journal: Journal): Promise<void> {
  for (const [index, { path, old }] of journal.entry.files.entries()) {
    const state = await readState(context.files, path)
    if (old === null) {
      if (state !== 'missing') await context.files.remove(path)
    } else if (!isSameState(state, old)) {
      await putOneBack(context, journal, index)
    }
  }
  await syncParents(context.files, journal)
}

/** The copy beside the place needs no room on a full disk; the copy in the journal always exists. */
async function putOneBack(
  { files, journals }: TransactionContext,
  journal: Journal,
  index: number,
): Promise<void> {
  const { path, former } = stagedPaths(journal.entry, index)
  const old = journal.entry.files[index]?.old ?? null
  if (old === null) return
  if (!isSameState(await readState(files, former), old)) {
    const content = await journals.readOld(journal, index)
    await files.remove(former)
    await createFile(files, former, { content, uid: old.uid, gid: old.gid, mode: old.mode })
  }
  await files.rename(former, path)
}

async function readState(files: TargetFileOperations, path: string): Promise<FileState> {
  try {
    return stateOf(await files.read(path, TARGET_BYTES_MAX))
  } catch (error) {
    if (error instanceof UnexpectedFileError) return 'unexpected'
    throw error
  }
}

/** That the server does not take its old files either changes nothing about where they are. */
async function reloadFormer({ parts, log }: TransactionContext, { entry }: Journal): Promise<void> {
  if (entry.reload === null) return
  const fault = await parts
    .reload(entry.reload)
    .catch((error: unknown) => ({ reason: describeError(error) }))
  if (fault !== undefined) {
    const { reason } = fault
    log.error({ source: entry.source, reason }, 'Reload of the former files failed')
  }
}
