// Each set of roots that was adopted is reported once, and once more when a file on the host comes to say something else
// of whom to trust. The identity carries the id of the report, as announce-identity.ts has it.

import { hash } from 'node:crypto'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { readTrust } from '../hub-gateway.ts'
import type { Outbox } from '../reporting/outbox.ts'
import { bundleAdopted } from '../wire.ts'
import type { Identity } from './identity.ts'

export async function announceBundle(
  { record, roots }: Identity,
  pinned: readonly string[] | undefined,
  outbox: Pick<Outbox, 'enqueue'>,
  announcedFile: string,
): Promise<void> {
  if (record?.bundle === undefined) return
  const { numero, request_id: base } = record.bundle
  const mark = pinned === undefined ? '' : `-${hash('sha256', pinned.join(' ')).slice(0, 16)}`
  const requestId = `${base}${mark}`
  if ((await readTextIfPresent(announcedFile, 1024))?.trim() === requestId) return
  const fingerprints = roots.map(({ sha256 }) => sha256)
  await outbox.enqueue(
    bundleAdopted({
      numero,
      fingerprints,
      ...(pinned === undefined ? {} : { pinned: [...pinned] }),
    }),
    requestId,
  )
  await replaceFile(announcedFile, `${requestId}\n`, 0o600)
}

/** Of the roots in the file of SVC_SERVER_CA_PATH, as many as can be told; undefined without one. */
export async function readPinnedFingerprints(
  serverCaPath: string | undefined,
): Promise<readonly string[] | undefined> {
  const pem = await readTrust(serverCaPath, undefined)
  if (pem === undefined) return undefined
  try {
    return parseCertificatesPem(pem)
      .slice(0, PINNED_MAX)
      .map(({ sha256 }) => sha256)
  } catch {
    // OpenSSL may still make something of the file; there is nothing of it to be told.
    return []
  }
}

const PINNED_MAX = 16
