// A delivered file in `out/`, with the record of what it was delivered for.
//
//   out/site.conf -> .files/site.conf/current/content      out/.files/site.conf/000001/{content,delivery.json}

import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { readTextIfPresent } from '../../platform/files.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { type FileOperations, nodeFileOperations } from '../files/file-operations.ts'
import {
  currentVersionDirectory,
  switchVersion,
  type VersionedLayout,
} from '../files/versioned-files.ts'
import type { InstalledArtefact } from './delivery-kind.ts'

/** Staged with the content: after a crash the disk alone says what was installed, and which event reports it. */
export const FileRecord = Type.Object({
  delivery_id: Type.String(),
  cargo_id: Type.String(),
  version: Type.Integer(),
  /** Of the file as the hub handed it out, which says nothing of a sealed content. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  request_id: Type.String(),
})
export type FileRecord = Static<typeof FileRecord>

export interface InstalledFile extends InstalledArtefact {
  readonly record: FileRecord
}

export const FILE_CONTENT = 'content'
export const FILE_RECORD = 'delivery.json'
const RECORD_BYTES_MAX = 64 * 1024

export function filePath(outDir: string, name: ArtefactName): string {
  return join(outDir, name)
}

export function fileLayout(outDir: string, name: ArtefactName): VersionedLayout {
  return {
    directory: outDir,
    versionsPath: join('.files', name),
    links: { [name]: FILE_CONTENT },
    directoryMode: 0o755,
  }
}

/** Undefined when there is no file, or no usable one: then the agent fetches it again. */
export async function readInstalledFile(
  outDir: string,
  name: ArtefactName,
): Promise<InstalledFile | undefined> {
  const directory = await currentVersionDirectory(fileLayout(outDir, name))
  if (directory === undefined) return undefined
  if ((await nodeFileOperations.kindOf(join(directory, FILE_CONTENT))) !== 'file') return undefined
  const text = await readTextIfPresent(join(directory, FILE_RECORD), RECORD_BYTES_MAX)
  const record = text === undefined ? undefined : parseRecord(text)
  return record && { record }
}

export async function storeFile(
  outDir: string,
  name: ArtefactName,
  file: {
    readonly content: Uint8Array
    readonly mode: number
    readonly record: FileRecord
  },
  files: FileOperations = nodeFileOperations,
): Promise<void> {
  await switchVersion(
    fileLayout(outDir, name),
    [
      { name: FILE_CONTENT, content: file.content, mode: file.mode },
      { name: FILE_RECORD, content: `${JSON.stringify(file.record)}\n`, mode: 0o600 },
    ],
    files,
  )
}

function parseRecord(text: string): FileRecord | undefined {
  try {
    const record = JSON.parse(text) as unknown
    return Check(FileRecord, record) ? record : undefined
  } catch {
    // Somebody else damaged the record; whatever is wrong with it, the agent can obtain the file again.
    return undefined
  }
}
