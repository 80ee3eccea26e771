// A delivered file as whoever applies targets reads it.

import { join } from 'node:path'
import { Check } from 'typebox/value'
import { describeError } from '../../platform/errors.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { FILE_CONTENT, FILE_RECORD, fileLayout, FileRecord } from '../delivery/installed-file.ts'
import { actAs, type FileOwner } from '../files/act-as.ts'
import { TARGET_BYTES_MAX } from './journal.ts'
import { currentVersion, findMistrust, readOwnedFile, wordedAs } from './read-as-owner.ts'
import type { FileMaterial } from './render-content.ts'

export type FileReading =
  | { readonly ok: true; readonly material: FileMaterial; readonly record: FileRecord }
  | { readonly ok: false; readonly reason: string }

const RECORD_BYTES_MAX = 64 * 1024

/** What is installed for `name` now; the reason when there is nothing that can be used. Never throws for what it finds. */
export async function readFileAsOwner(
  owner: FileOwner,
  outDir: string,
  name: ArtefactName,
): Promise<FileReading> {
  const mistrust = await findMistrust(owner, [outDir])
  if (mistrust !== undefined) return { ok: false, reason: mistrust }
  return actAs(owner, async () => readNow(owner, outDir, name))
}

/** All at once, without a pause in which something else of this process could act with the owner's rights. */
function readNow(owner: FileOwner, outDir: string, name: ArtefactName): FileReading {
  try {
    const version = currentVersion(fileLayout(outDir, name))
    if (version === undefined) return { ok: false, reason: `no file is installed for ${name}` }
    const content = readOwnedFile(owner, join(version, FILE_CONTENT), TARGET_BYTES_MAX)
    const text = readOwnedFile(owner, join(version, FILE_RECORD), RECORD_BYTES_MAX).toString('utf8')
    return { ok: true, material: { content }, record: parseRecord(text) }
  } catch (error) {
    return { ok: false, reason: describeError(error) }
  }
}

function parseRecord(text: string): FileRecord {
  const record = wordedAs(`${FILE_RECORD} cannot be parsed`, () => JSON.parse(text) as unknown)
  if (!Check(FileRecord, record)) throw new Error(`${FILE_RECORD} is not valid`)
  return record
}
