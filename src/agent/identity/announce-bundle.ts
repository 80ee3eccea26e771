// What the agent trusts is reported when it has adopted a set of roots, and again when a hand makes it something else: in
// ca.pem, or in the file of SVC_SERVER_CA_PATH.

import { hash } from 'node:crypto'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import { uuidOfHex } from '../../platform/time-ordered-uuid.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { readTrust } from '../hub/gateway.ts'
import type { Outbox } from '../hub/outbox.ts'
import { bundleAdopted } from '../hub/wire.ts'
import type { Identity } from './identity.ts'

/** Before what was announced last. */
const AGAIN = 'again'

export async function announceBundle(
  { record, roots }: Identity,
  serverCaPath: string | undefined,
  outbox: Pick<Outbox, 'enqueue'>,
  announcedFile: string,
): Promise<void> {
  if (record?.bundle === undefined) return
  const { numero, epoca, request_id: adoption } = record.bundle
  const fingerprints = roots.map(({ sha256 }) => sha256)
  const pinnedPem = await readTrust(serverCaPath, null)
  const trust = hash('sha256', JSON.stringify([adoption, fingerprints, pinnedPem]))
  const announced = (await readTextIfPresent(announcedFile, 1024))?.trim() ?? ''
  if (announced.startsWith(trust)) return
  // The same id after a crash in between, but a new id when a state comes back that the agent reported before: the hub
  // takes an event with an id that it has for a repetition.
  const requestId = uuidOfHex(hash('sha256', `${announced} ${trust}`))
  await outbox.enqueue(
    bundleAdopted({
      numero,
      ...(epoca !== undefined && { epoca }),
      fingerprints,
      ...pinnedOf(pinnedPem, roots),
    }),
    requestId,
  )
  await replaceFile(announcedFile, `${trust} ${requestId}\n`, 0o600)
}

/** With the next identity that is taken up: the hub was restored, and may know what the agent trusted before. docs/protocol.md BKP-20. */
export async function announceBundleAgain(announcedFile: string): Promise<void> {
  const announced = (await readTextIfPresent(announcedFile, 1024))?.trim()
  if (announced === undefined || announced.startsWith(AGAIN)) return
  await replaceFile(announcedFile, `${AGAIN} ${announced}\n`, 0o600)
}

/** Of the file of SVC_SERVER_CA_PATH, for an event; nothing without one. */
export async function readPinned(
  serverCaPath: string | undefined,
  roots: readonly Certificate[],
): Promise<{ readonly pinned?: string[] }> {
  return pinnedOf(await readTrust(serverCaPath, null), roots)
}

function pinnedOf(
  pem: string | null,
  roots: readonly Certificate[],
): { readonly pinned?: string[] } {
  if (pem === null) return {}
  const own = new Set(roots.map(({ sha256 }) => sha256))
  const pinned = [...new Set(fingerprintsOf(pem))]
  // No more can be told, and these are what the hub asks for: the file may hold every root of the system.
  const known = pinned.filter((one) => own.has(one))
  const others = pinned.filter((one) => !own.has(one))
  return { pinned: [...known, ...others].slice(0, LIMITS.rootsMax) }
}

function fingerprintsOf(pem: string): string[] {
  try {
    return parseCertificatesPem(pem).map(({ sha256 }) => sha256)
  } catch {
    // OpenSSL may still read something from the file; the agent has nothing to report about it.
    return []
  }
}
