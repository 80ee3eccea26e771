// A delivered file as the applier of targets reads it.

import { join } from 'node:path'
import { Check } from 'typebox/value'
import { describeError } from '../../platform/errors.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { FILE_CONTENT, FILE_RECORD, fileLayout, FileRecord } from '../delivery/installed-file.ts'
import type { MaterialReading } from './apply-targets.ts'
import { actAs, type FileOwner } from '../files/act-as.ts'
import { TARGET_BYTES_MAX } from './journal.ts'
import { currentVersion, findMistrust, readOwnedFile, wordedAs } from './read-as-owner.ts'

const RECORD_BYTES_MAX = 64 * 1024

/** What is installed for `name` now; the reason when there is nothing that can be used. Never throws for what it finds. */
export async function readFileAsOwner(
  owner: FileOwner,
  { outDir }: { readonly outDir: string },
  name: ArtefactName,
): Promise<MaterialReading> {
  const mistrust = await findMistrust(owner, [outDir])
  if (mistrust !== undefined) return { ok: false, reason: mistrust }
  return actAs(owner, async () => readNow(owner, outDir, name))
}

/** All at once, without a pause in which something else of this process could act with the owner's rights. */
function readNow(owner: FileOwner, outDir: string, name: ArtefactName): MaterialReading {
  try {
    const version = currentVersion(fileLayout(outDir, name))
    if (version === undefined) return { ok: false, reason: `no file is installed for ${name}` }
    const content = readOwnedFile(owner, join(version, FILE_CONTENT), TARGET_BYTES_MAX)
    const text = readOwnedFile(owner, join(version, FILE_RECORD), RECORD_BYTES_MAX).toString('utf8')
    const { sha256: serial, version: number, delivery_id: deliveryId } = parseRecord(text)
    return { ok: true, material: { content }, serial, version: number, deliveryId }
  } catch (error) {
    return { ok: false, reason: describeError(error) }
  }
}

function parseRecord(text: string): FileRecord {
  const record = wordedAs(`${FILE_RECORD} cannot be parsed`, () => JSON.parse(text) as unknown)
  if (!Check(FileRecord, record)) throw new Error(`${FILE_RECORD} is not valid`)
  return record
}
