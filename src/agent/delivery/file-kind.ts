// What kinds have in common whose content is a file at the hub.

import { SvcError } from '../../platform/errors.ts'
import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import type { CargoId } from '../../protocol/identifiers.ts'
import { checkLayout } from '../files/versioned-files.ts'
import type { Blob } from '../hub/client.ts'
import type { HubOutcome } from '../hub/request.ts'
import { fileDelivered } from '../hub/wire.ts'
import type { DeliveryKind, HookPart, ObtainContext, ObtainRequest } from './delivery-kind.ts'
import {
  fileLayout,
  filePath,
  type InstalledFile,
  readInstalledFile,
  storeFile,
} from './installed-file.ts'

/** What came can never be installed on this host. */
export class UnusableFileError extends SvcError {
  override name = 'UnusableFileError'
  constructor(reason: string) {
    super('unusable_file', reason)
  }
}

/** `contentOf` throws UnusableFileError for what it can make nothing of. */
export function fileKind({
  name: kindName,
  hookName,
  records,
  contentOf,
}: Pick<DeliveryKind, 'name' | 'records'> & {
  readonly hookName: HookPart['hookName']
  readonly contentOf: (
    bytes: Uint8Array,
    context: ObtainContext,
    request: ObtainRequest,
  ) => Promise<{ readonly content: Uint8Array; readonly mode: number }>
}): DeliveryKind<InstalledFile> {
  return {
    name: kindName,
    isFile: true,
    records,
    layout: fileLayout,
    read: readInstalledFile,
    markOf: ({ record }) => record.sha256,
    async obtain(context, _identity, request) {
      const { outDir, hub } = context
      const { deliveryId, cargoId, name, version } = request
      // Looked at first: what cannot be written need not be fetched.
      await checkLayout(fileLayout(outDir, name))
      const outcome = await fetchIntact(hub, cargoId)
      if (!outcome.ok) return outcome
      const { bytes, sha256 } = outcome.value
      await storeFile(outDir, name, {
        ...(await contentOf(bytes, context, request)),
        record: {
          delivery_id: deliveryId,
          cargo_id: cargoId,
          version,
          sha256,
          request_id: timeOrderedUuid(),
        },
      })
      return undefined
    },
    eventOf: ({ outDir, name }, deliveryId, { record: { version } }) =>
      fileDelivered(deliveryId, name, { path: filePath(outDir, name), version }),
    hookOf({ outDir, name }) {
      const path = filePath(outDir, name)
      return { hookName, paths: [path], environment: { SVC_FILE_PATH: path } }
    },
  }
}

/** What was damaged on its way comes whole the second time. */
async function fetchIntact(hub: ObtainContext['hub'], cargoId: CargoId): Promise<HubOutcome<Blob>> {
  const first = await hub.fetchBlob(cargoId)
  if (!first.ok || first.value.isIntact) return first
  const second = await hub.fetchBlob(cargoId)
  if (!second.ok || second.value.isIntact) return second
  throw new UnusableFileError('the file does not match the digest that the hub gives for it')
}
