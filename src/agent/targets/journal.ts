// What a change of a target's files has come to, so that the applier that comes after a crash can put everything back.
//
//   journal/<target>.<phase>.json   what is changed, written once; only its name changes, which no full disk forbids
//   journal/<target>/old-0 …        the files as they were
//
// Names: prepared → switching → (recorded as applied) → gone, or … → reverting → reverted → (recorded) → gone.

import { dirname, join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, invariant, SvcError } from '../../platform/errors.ts'
import { parseJson } from '../../platform/parse-json.ts'
import {
  type FileImage,
  replaceStateFile,
  sha256Of,
  type TargetFileOperations,
} from './target-files.ts'

/**
 * `prepared`: nothing is changed yet. `switching`: anything may be. `reverting`: what was changed is being put back.
 * `reverted`: all is as it was, and it remains to say so.
 */
const PHASES = ['prepared', 'switching', 'reverting', 'reverted'] as const
export type JournalPhase = (typeof PHASES)[number]

const JournalFile = Type.Object({
  path: Type.String(),
  /** Null where there was none. */
  old: Type.Union([
    Type.Null(),
    Type.Object({
      uid: Type.Integer(),
      gid: Type.Integer(),
      mode: Type.Integer(),
      sha256: Type.String(),
    }),
  ]),
})
export type JournalFile = Static<typeof JournalFile>

const JournalEntry = Type.Object({
  format: Type.Literal(1),
  target: Type.String(),
  source: Type.String(),
  source_sha256: Type.String(),
  roots_sha256: Type.Optional(Type.String()),
  nome: Type.String(),
  serial: Type.String(),
  /** Where it is a file: told instead of the serial. */
  versao: Type.Optional(Type.Integer()),
  delivery_id: Type.String(),
  /** Names this change everywhere: in the report, in the record, in the names of staged files. */
  request_id: Type.String({ pattern: '^[0-9a-f-]{36}$' }),
  reload: Type.Union([Type.Null(), Type.Array(Type.String())]),
  files: Type.Array(JournalFile),
})
export type JournalEntry = Static<typeof JournalEntry>

export interface Journal {
  readonly entry: JournalEntry
  /** As its name says it now. */
  phase: JournalPhase
}

const ENTRY_BYTES_MAX = 1024 * 1024
/** Also the most that a file may have which a target replaces. */
export const TARGET_BYTES_MAX = 16 * 1024 * 1024
const ENTRY_NAME = /^([0-9a-f]{32})\.(prepared|switching|reverting|reverted)\.json$/

export class JournalStore {
  readonly #directory: string
  readonly #files: TargetFileOperations

  constructor(directory: string, files: TargetFileOperations) {
    this.#directory = directory
    this.#files = files
  }

  /** Keeps the old files and the entry, durably. */
  async begin(entry: JournalEntry, images: readonly (FileImage | undefined)[]): Promise<void> {
    const copies = join(this.#directory, entry.target)
    await this.#files.removeTree(copies)
    await this.#files.makeDirectory(copies, 0o700)
    for (const [index, image] of images.entries()) {
      if (image !== undefined) await this.#keep(join(copies, `old-${index}`), image)
    }
    await this.#files.syncDirectory(copies)
    const text = `${JSON.stringify(entry, undefined, 2)}\n`
    await replaceStateFile(this.#files, this.#directory, nameOf(entry, 'prepared'), text)
  }

  async moveTo(journal: Journal, phase: JournalPhase): Promise<void> {
    if (journal.phase !== phase) {
      const path = (one: JournalPhase): string => join(this.#directory, nameOf(journal.entry, one))
      await this.#files.rename(path(journal.phase), path(phase))
      journal.phase = phase
    }
    await this.#files.syncDirectory(this.#directory)
  }

  /** The entries that a crash left; an entry that cannot be read says only which target it belongs to. */
  async list(): Promise<{
    readonly journals: readonly Journal[]
    readonly unreadable: readonly { readonly target: string; readonly reason: string }[]
  }> {
    const journals: Journal[] = []
    const unreadable: { target: string; reason: string }[] = []
    for (const name of await this.#files.list(this.#directory)) {
      const [, target, phase] = ENTRY_NAME.exec(name) ?? []
      if (target === undefined || phase === undefined) continue
      try {
        journals.push({ entry: await this.#read(name), phase: phase as JournalPhase })
      } catch (error) {
        unreadable.push({ target, reason: describeError(error) })
      }
    }
    return { journals, unreadable }
  }

  /** What was begun and never became an entry; old files hold keys, and none stays longer than it is wanted. */
  async removeOrphans(): Promise<void> {
    const names = await this.#files.list(this.#directory)
    const wanted = new Set(names.map((name) => ENTRY_NAME.exec(name)?.[1]))
    for (const name of names) {
      const isOrphan = /^[0-9a-f]{32}$/.test(name) && !wanted.has(name)
      const isHalfWritten = name.startsWith('.') && name.endsWith('.tmp')
      if (isOrphan || isHalfWritten) await this.#files.removeTree(join(this.#directory, name))
    }
  }

  async readOld({ entry }: Journal, index: number): Promise<Uint8Array> {
    const path = join(this.#directory, entry.target, `old-${index}`)
    const image = await this.#files.read(path, TARGET_BYTES_MAX)
    const old = entry.files[index]?.old
    if (image === undefined || old === null || sha256Of(image.content) !== old?.sha256) {
      throw new SvcError('old_copy_damaged', `${path} is damaged`)
    }
    return image.content
  }

  async remove({ entry, phase }: Journal): Promise<void> {
    await this.#files.remove(join(this.#directory, nameOf(entry, phase)))
    await this.#files.syncDirectory(this.#directory)
    await this.#files.removeTree(join(this.#directory, entry.target))
  }

  async #keep(path: string, { content }: FileImage): Promise<void> {
    const file = await this.#files.create(path)
    try {
      await file.write(content)
      await file.sync()
    } finally {
      await file.close()
    }
  }

  async #read(name: string): Promise<JournalEntry> {
    const path = join(this.#directory, name)
    const image = await this.#files.read(path, ENTRY_BYTES_MAX)
    const entry = parseJson(Buffer.from(image?.content ?? []).toString())
    if (Check(JournalEntry, entry) && name.startsWith(`${entry.target}.`)) return entry
    throw new SvcError('journal_damaged', `${path} is damaged`)
  }
}

/** Where the new file, and a copy of the old one, wait beside their place. */
export function stagedPaths(
  { request_id: requestId, files }: JournalEntry,
  index: number,
): { readonly path: string; readonly fresh: string; readonly former: string } {
  const path = files[index]?.path
  invariant(path !== undefined, 'a journal speaks of its own files')
  const stem = join(dirname(path), `.svc-target-${requestId}-${index}`)
  return { path, fresh: `${stem}.new`, former: `${stem}.old` }
}

function nameOf({ target }: JournalEntry, phase: JournalPhase): string {
  return `${target}.${phase}.json`
}
