// One change of one target's files: all of them or none, whatever happens in between. docs/protocol.md TGT.

import { dirname } from 'node:path'
import { describeError } from '../../platform/errors.ts'
import type { AppliedFile } from './applied-store.ts'
import { type Journal, type JournalEntry, stagedPaths, TARGET_BYTES_MAX } from './journal.ts'
import { recordApplied, recordReverted } from './record-outcome.ts'
import { cleanUp, revertTarget, syncParents } from './revert-target.ts'
import { createFile, type FileImage, sha256Of } from './target-files.ts'
import type { FailureStep } from './target-report.ts'
import type { HiddenFromOutput } from './command-output.ts'
import { holdsKey } from './target.ts'
import type { TargetChange, TargetFault, TransactionContext } from './transaction.ts'

interface PreparedFile {
  readonly path: string
  readonly fresh: FileImage
  readonly former: FileImage | undefined
}

/** Undefined when the new files stand and are served; else what went wrong, with everything as it was before. */
export async function applyTarget(
  context: TransactionContext,
  change: TargetChange,
): Promise<TargetFault | undefined> {
  const prepared = await prepare(context, change)
  if (!prepared.ok) {
    const fault: TargetFault = { step: 'check', reason: prepared.reason }
    await recordReverted(context, entryOf(context, change, []), fault)
    const { target, serial } = change
    context.log.warn(
      { source: target.source, artefact: target.name, serial, ...fault },
      'Target refused',
    )
    return fault
  }
  const transaction = new Transaction(context, change, prepared.files)
  const fault = await transaction.run()
  if (fault !== undefined) await revertTarget(context, transaction.journal, fault)
  return fault
}

/** Everything that can be known to be wrong before any file is touched. */
async function prepare(
  { parts, files }: TransactionContext,
  { target, material }: TargetChange,
): Promise<
  | { readonly ok: true; readonly files: readonly PreparedFile[] }
  | { readonly ok: false; readonly reason: string }
> {
  const prepared: PreparedFile[] = []
  for (const file of target.files) {
    try {
      const reason = await parts.checkPlace(file)
      if (reason !== undefined) return { ok: false, reason }
      const { uid, gid } = await parts.ownerOf(file)
      const content = await parts.render(file.content, material)
      const former = await files.read(file.path, TARGET_BYTES_MAX)
      prepared.push({ path: file.path, fresh: { content, uid, gid, mode: file.mode }, former })
    } catch (error) {
      return { ok: false, reason: `${file.path}: ${describeError(error)}` }
    }
  }
  // Last, and before any journal: what comes back to one finds all directories that it names.
  for (const directory of new Set(target.files.map(({ path }) => dirname(path)))) {
    try {
      await files.makeDirectory(directory, 0o755)
      await files.syncDirectory(dirname(directory))
    } catch (error) {
      return { ok: false, reason: describeError(error) }
    }
  }
  return { ok: true, files: prepared }
}

class Transaction {
  readonly #context: TransactionContext
  readonly #change: TargetChange
  readonly #files: readonly PreparedFile[]
  readonly #journal: Journal
  #step: FailureStep = 'stage'

  constructor(context: TransactionContext, change: TargetChange, files: readonly PreparedFile[]) {
    this.#context = context
    this.#change = change
    this.#files = files
    this.#journal = { entry: entryOf(context, change, files), phase: 'prepared' }
  }

  get journal(): Journal {
    return this.#journal
  }

  async run(): Promise<TargetFault | undefined> {
    const { journals, log } = this.#context
    try {
      await journals.begin(
        this.#journal.entry,
        this.#files.map(({ former }) => former),
      )
      await this.#stage()
      this.#step = 'switch'
      await this.#switch()
      const fault = await this.#activate()
      if (fault !== undefined) return fault
      this.#step = 'switch'
      await this.#record()
    } catch (error) {
      return { step: this.#step, reason: describeError(error) }
    }
    const { source, nome: name, serial } = this.#journal.entry
    log.info({ source, artefact: name, serial, drift: this.#change.drift }, 'Target applied')
    // It is over; what cannot be cleaned up now is when the next one comes.
    await cleanUp(this.#context, this.#journal).catch((error: unknown) => {
      log.warn({ source, error: describeError(error) }, 'Target not cleaned up yet')
    })
    return undefined
  }

  /** The new files, and copies of the old ones too: going back must not depend on room on the disk. */
  async #stage(): Promise<void> {
    const { files } = this.#context
    for (const [index, prepared] of this.#files.entries()) {
      const { fresh, former } = stagedPaths(this.#journal.entry, index)
      await createFile(files, fresh, prepared.fresh)
      if (prepared.former !== undefined) await createFile(files, former, prepared.former)
    }
    await syncParents(files, this.#journal)
  }

  async #switch(): Promise<void> {
    const { files, journals } = this.#context
    await journals.moveTo(this.#journal, 'switching')
    for (const index of this.#files.keys()) {
      const { fresh, path } = stagedPaths(this.#journal.entry, index)
      await files.rename(fresh, path)
    }
    await syncParents(files, this.#journal)
  }

  async #activate(): Promise<TargetFault | undefined> {
    const { parts } = this.#context
    const { target, serial } = this.#change
    if (target.reload !== undefined) {
      this.#step = 'reload'
      const fault = await parts.reload(target.reload, await this.#hiddenFromOutput())
      if (fault !== undefined) return { step: 'reload', ...fault }
    }
    if (target.probe !== undefined) {
      this.#step = 'probe'
      const reason = await parts.probe(target.probe, serial)
      if (reason !== undefined) return { step: 'probe', reason }
    }
    return undefined
  }

  /** Undefined where the host says that no output is to be shown. */
  async #hiddenFromOutput(): Promise<HiddenFromOutput | undefined> {
    const { target, material } = this.#change
    if (!target.reportsOutput) return undefined
    const { parts } = this.#context
    const secret = target.files.filter((file) => holdsKey(file) || file.content.format === 'file')
    const passwords = await Promise.all(secret.map((file) => parts.passwordOf(file)))
    const paths = new Set(secret.map(({ path }) => path))
    return {
      material,
      former: this.#files.flatMap(({ path, former }) =>
        former !== undefined && paths.has(path) ? [former.content] : [],
      ),
      passwords: passwords.filter((password) => password !== undefined),
    }
  }

  async #record(): Promise<void> {
    const { target, drift } = this.#change
    const applied: AppliedFile[] = this.#files.map(({ path, fresh }) => ({
      path,
      sha256: sha256Of(fresh.content),
      uid: fresh.uid,
      gid: fresh.gid,
      mode: fresh.mode,
    }))
    const isProbed = target.probe !== undefined
    const { entry } = this.#journal
    try {
      await recordApplied(this.#context, entry, applied, { isProbed, drift })
    } catch (error) {
      // What can be read is what counts, though a power cut may take it back: then the journal has its say.
      const last = this.#context.applied.find(entry.target)?.last_change
      if (last?.request_id !== entry.request_id) throw error
    }
  }
}

function entryOf(
  { newRequestId }: TransactionContext,
  { id, target, serial, version, deliveryId, rootsSha256 }: TargetChange,
  files: readonly PreparedFile[],
): JournalEntry {
  return {
    format: 1,
    target: id,
    source: target.source,
    source_sha256: target.sourceSha256,
    ...(rootsSha256 === undefined ? {} : { roots_sha256: rootsSha256 }),
    nome: target.name,
    serial,
    ...(version === undefined ? {} : { versao: version }),
    delivery_id: deliveryId,
    request_id: newRequestId(),
    reload: target.reload === undefined ? null : [...target.reload],
    files: files.map(({ path, former }) => ({
      path,
      old:
        former === undefined
          ? null
          : {
              uid: former.uid,
              gid: former.gid,
              mode: former.mode,
              sha256: sha256Of(former.content),
            },
    })),
  }
}
