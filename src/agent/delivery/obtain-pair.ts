// A new key, a certificate for it from the hub, and the switch to both.

import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import { createCsrPem } from '../../pki/csr.ts'
import { generateKey, type KeyType } from '../../pki/keys.ts'
import type { ArtefactName, CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import type { NewCertificates } from '../identity/certificate-lifetime.ts'
import type { HubClient } from '../hub/client.ts'
import type { HubRefusal } from '../hub/request.ts'
import type { HubTime } from '../hub/time.ts'
import { checkIssuedCertificate } from '../identity/certificate-checks.ts'
import type { Identity } from '../identity/identity.ts'
import { WrongCertificateError } from '../identity/renew-identity.ts'
import { checkLayout } from '../files/versioned-files.ts'
import { pairLayout, type PairRecord, storePair } from './installed-pair.ts'

export interface PairRequest {
  readonly deliveryId: DeliveryId
  readonly cargoId: CargoId
  readonly name: ArtefactName
  readonly version: number
  readonly renewal: PairRecord['renewal']
}

export interface PairContext {
  readonly outDir: string
  readonly hub: Pick<HubClient, 'issueCertificate'>
  readonly hubTime: HubTime
  readonly newCertificates: NewCertificates
  /** The type that the host's target for this name asks for. */
  readonly keyTypeOf: (name: ArtefactName) => Promise<KeyType>
}

export type PairOutcome = { readonly ok: true; readonly serial: string } | HubRefusal

/** Throws HubUnreachableError, WrongCertificateError, ForeignFileError, or a system error of the file system. */
export async function obtainPair(
  { outDir, hub, hubTime, newCertificates, keyTypeOf }: PairContext,
  identity: Identity,
  request: PairRequest,
): Promise<PairOutcome> {
  // Looked at first: a certificate that cannot be written need not be asked for.
  await checkLayout(pairLayout(outDir, request.name))
  const key = await generateKey(await keyTypeOf(request.name))
  const csrPem = await createCsrPem(identity.hostname, key)
  const outcome = await hub.issueCertificate(csrPem, request.deliveryId)
  if (!outcome.ok) return outcome
  const checked = checkIssuedCertificate(
    outcome.value.certificatePem,
    key.publicKeySpki,
    identity,
    // As for an identity: ours may be the clock that is wrong.
    hubTime.now(),
  )
  if (!checked.ok) throw new WrongCertificateError(checked.fault)
  await storePair(outDir, request.name, {
    certificatePem: checked.pem,
    keyPem: key.pem,
    record: {
      delivery_id: request.deliveryId,
      cargo_id: request.cargoId,
      version: request.version,
      request_id: timeOrderedUuid(),
      renewal: request.renewal,
    },
  })
  newCertificates.note(checked.leaf)
  return { ok: true, serial: checked.leaf.serial }
}
