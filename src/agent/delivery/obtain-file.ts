// A file from the hub, opened where it is sealed, and the switch to it.

import { SvcError } from '../../platform/errors.ts'
import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import type { ArtefactName, CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import { openSealed } from '../../sealing/sealed-file.ts'
import type { Blob } from '../hub/blob.ts'
import type { HubClient } from '../hub/client.ts'
import type { HubOutcome, HubRefusal } from '../hub/request.ts'
import { AgeKeyDamagedError, readAgeKey } from '../identity/age-key.ts'
import { checkLayout } from '../files/versioned-files.ts'
import { fileLayout, storeFile } from './installed-file.ts'

export interface FileRequest {
  readonly deliveryId: DeliveryId
  readonly cargoId: CargoId
  readonly name: ArtefactName
  readonly version: number
  /** Of a file that is not sealed. */
  readonly pushedMode: number | undefined
}

export interface FileContext {
  readonly outDir: string
  readonly ageKeyFile: string
  readonly hub: Pick<HubClient, 'fetchBlob'>
}

export type FileOutcome = { readonly ok: true } | HubRefusal

/** What came can never be installed on this host. */
export class UnusableFileError extends SvcError {
  override name = 'UnusableFileError'
  constructor(reason: string) {
    super('unusable_file', reason)
  }
}

const SEALED_MODE = 0o600

/** Throws HubUnreachableError, UnusableFileError, ForeignFileError, or a system error of the file system. */
export async function obtainFile(
  { outDir, ageKeyFile, hub }: FileContext,
  { deliveryId, cargoId, name, version, pushedMode }: FileRequest,
): Promise<FileOutcome> {
  // Looked at first: what cannot be written need not be fetched.
  await checkLayout(fileLayout(outDir, name))
  const outcome = await fetchIntact(hub, cargoId)
  if (!outcome.ok) return outcome
  const { bytes, sha256 } = outcome.value
  await storeFile(outDir, name, {
    content: pushedMode === undefined ? await unseal(ageKeyFile, bytes) : bytes,
    mode: pushedMode ?? SEALED_MODE,
    record: {
      delivery_id: deliveryId,
      cargo_id: cargoId,
      version,
      sha256,
      request_id: timeOrderedUuid(),
    },
  })
  return { ok: true }
}

/** What was damaged on its way comes whole the second time. */
async function fetchIntact(hub: FileContext['hub'], cargoId: CargoId): Promise<HubOutcome<Blob>> {
  const first = await hub.fetchBlob(cargoId)
  if (!first.ok || first.value.isIntact) return first
  const second = await hub.fetchBlob(cargoId)
  if (!second.ok || second.value.isIntact) return second
  throw new UnusableFileError('the file does not have the digest that the hub gives for it')
}

async function unseal(ageKeyFile: string, sealed: Uint8Array): Promise<Uint8Array> {
  const key = await readAgeKey(ageKeyFile).catch((error: unknown) => {
    if (error instanceof AgeKeyDamagedError) throw new UnusableFileError(error.message)
    throw error
  })
  if (key === undefined)
    throw new UnusableFileError(`there is no ${ageKeyFile} to open the file with`)
  const opened = await openSealed(key.identity.reveal(), sealed)
  if (opened.ok) return opened.content
  throw new UnusableFileError(`the file cannot be opened with ${ageKeyFile}: ${opened.reason}`)
}
