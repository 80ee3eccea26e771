// `csr_cert`: a new key, a certificate for it from the hub, and the switch to both.

import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import { createCsrPem } from '../../pki/csr.ts'
import { generateKey } from '../../pki/keys.ts'
import { checkLayout } from '../files/versioned-files.ts'
import { deliveryInstalled, deliveryRenewed } from '../hub/wire.ts'
import { checkIssuedCertificate } from '../identity/certificate-checks.ts'
import { WrongCertificateError } from '../identity/renew-identity.ts'
import type { DeliveryKind } from './delivery-kind.ts'
import {
  type InstalledPair,
  pairLayout,
  pairPaths,
  readInstalledPair,
  storePair,
} from './installed-pair.ts'

const Own = Type.Object({ serial: Type.String() })

export const pairKind: DeliveryKind<InstalledPair> = {
  name: 'csr_cert',
  isFile: false,
  layout: pairLayout,
  read: readInstalledPair,
  markOf: ({ leaf }) => leaf.serial,
  records: {
    file: 'processedFile',
    decode: (entry) => (Check(Own, entry) ? { mark: entry.serial } : undefined),
    encode: ({ mark }): Static<typeof Own> => ({ serial: mark }),
  },
  async obtain({ outDir, hub, hubTime, newCertificates, keyTypeOf }, identity, request) {
    // Looked at first: a certificate that cannot be written need not be asked for.
    await checkLayout(pairLayout(outDir, request.name))
    const key = await generateKey(await keyTypeOf(request.name))
    const isRenewal = request.renewal !== null
    const sans = isRenewal
      ? (await readInstalledPair(outDir, request.name))?.record.sans
      : request.sans
    const csrPem = await createCsrPem(identity.hostname, key, sans)
    const outcome = await hub.issueCertificate(csrPem, request.deliveryId)
    if (!outcome.ok) return outcome
    const checked = checkIssuedCertificate(
      outcome.value.certificatePem,
      key.publicKeySpki,
      identity,
      // As for an identity: ours may be the clock that is wrong.
      hubTime.now(),
      { isCommonNameOptional: true },
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
        ...(sans !== undefined && { sans: [...sans] }),
        renewal: request.renewal,
      },
    })
    newCertificates.note(checked.leaf)
    return undefined
  },
  eventOf({ outDir, name }, deliveryId, { leaf, record: { renewal } }) {
    if (renewal === null) {
      return deliveryInstalled(deliveryId, name, pairPaths(outDir, name), leaf.serial)
    }
    return deliveryRenewed(deliveryId, name, {
      oldSerial: renewal.old_serial,
      newSerial: leaf.serial,
      trigger: renewal.trigger,
    })
  },
  hookOf({ outDir, name, caPath }, { leaf: { serial, notAfter } }) {
    const { certificatePath, keyPath } = pairPaths(outDir, name)
    return {
      hookName: 'post-csr-cert',
      paths: [certificatePath, keyPath],
      environment: {
        SVC_CERT_PATH: certificatePath,
        SVC_KEY_PATH: keyPath,
        SVC_CA_PATH: caPath,
        SVC_SERIAL: serial,
        SVC_NOT_AFTER: notAfter.toISOString(),
      },
    }
  },
}
