// A backup that was put back with its links followed leaves plain files where the links were. They are taken up as a
// version of their own: an identity that works must also be one that can be renewed.

import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import {
  type FileOperations,
  nodeFileOperations,
  removeStagedFiles,
} from '../files/file-operations.ts'
import { adoptPlainFiles, kindOfPlace } from '../files/versioned-files.ts'
import { filesOf, identityLayout, loadIdentity } from './identity.ts'

/** Whether there was something to adopt. Throws a UserError when the files are no identity; they are then left alone. */
export async function adoptPlainIdentity(
  identityDir: string,
  files: FileOperations = nodeFileOperations,
): Promise<boolean> {
  const layout = identityLayout(identityDir)
  const names = Object.keys(layout.links)
  const kinds = await Promise.all(names.map((name) => kindOfPlace(layout, name, files)))
  // The certificate comes first: a plain key beside a linked one is not ours, nor is a link to anywhere else.
  const isPlain =
    kinds[0] === 'file' && kinds.every((kind) => kind === 'file' || kind === 'own link')
  if (!isPlain) return false
  const identity = await loadIdentity(identityDir)
  if (identity === undefined) return false
  // Links that a crash kept from being renamed.
  await removeStagedFiles(identityDir)
  const { certificatePem, key, caPem, record } = identity
  await adoptPlainFiles(
    layout,
    filesOf(
      { certificatePem, keyPem: key.pem, caPem },
      record ?? { agent_id: null, request_id: timeOrderedUuid(), renewal: null },
    ),
    files,
  )
  return true
}
