// A verified release takes the place of the executable. At every instant the executable is the old one or the new one,
// whole; and from before the instant at which it becomes the new one, the old one and the marker are there to undo it.

import { dirname } from 'node:path'
import type { RoundOutcome } from './round-outcome.ts'
import { type UpdateFiles, updateNames, type UpdateNames } from './update-files.ts'

export interface Release {
  readonly content: Uint8Array
  readonly version: string
}

export interface InstallOptions {
  readonly binary: string
  readonly oldVersion: string
  /** Of the last round that the old version did; undefined when that is unknown. */
  readonly oldOutcome: RoundOutcome | undefined
  readonly at: Date
  readonly files: UpdateFiles
  /** What the executable at that path answers to `--version`; throws when it does not run. */
  askVersion(path: string): Promise<string>
  /** Made of what the new executable answered instead of its version. */
  refusal(answer: string): Error
}

const EXECUTABLE = 0o755
const READABLE = 0o644

/** Throws, and then the executable is what it was, and nothing is left for the watcher. */
export async function installRelease(release: Release, options: InstallOptions): Promise<void> {
  const { files } = options
  const names = updateNames(options.binary)
  try {
    await stage(release, options, names)
    // All that needs room on the disk is already written.
    await keepOld(names, files)
    await files.rename(names.markerStaged, names.marker)
    // A power cut must not keep the new one and forget how to undo it.
    await files.syncDirectory(dirname(names.binary))
    await files.rename(names.staged, names.binary)
  } catch (error) {
    for (const leftover of [names.marker, names.markerStaged, names.staged, names.oldStaged]) {
      // The agent reports the first failure.
      await files.removeIfPresent(leftover).catch(() => undefined)
    }
    throw error
  }
  await files.syncDirectory(dirname(names.binary))
}

async function stage(
  { content, version }: Release,
  options: InstallOptions,
  names: UpdateNames,
): Promise<void> {
  const { files } = options
  // What an update that was killed has left.
  for (const leftover of [names.staged, names.markerStaged, names.oldStaged]) {
    await files.removeIfPresent(leftover)
  }
  await files.writeNewFile(names.staged, content, EXECUTABLE)
  const answer = await options.askVersion(names.staged)
  if (answer !== version) throw options.refusal(answer)
  await files.writeNewFile(names.markerStaged, formatMarker(version, options), READABLE)
}

/** By a second name and a rename: there is never a moment without an executable, nor without the old one. */
async function keepOld(names: UpdateNames, files: UpdateFiles): Promise<void> {
  await files.link(names.binary, names.oldStaged)
  await files.rename(names.oldStaged, names.old)
  // A rename between two names of one file does nothing: so it is when an update was killed here before.
  await files.removeIfPresent(names.oldStaged)
}

function formatMarker(
  newVersion: string,
  { oldVersion, oldOutcome, at }: Pick<InstallOptions, 'oldVersion' | 'oldOutcome' | 'at'>,
): string {
  return [
    `old=${oldVersion}`,
    `new=${newVersion}`,
    `outcome=${oldOutcome ?? 'unknown'}`,
    `at=${at.toISOString()}`,
    '',
  ].join('\n')
}
