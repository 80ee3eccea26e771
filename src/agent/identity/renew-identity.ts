// Renewal: a new key and a new certificate, in place before the new identity is first used.

import { SvcError } from '../../platform/errors.ts'
import { createCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key, type PrivateKey } from '../../pki/keys.ts'
import type { RenewalTrigger } from '../../protocol/words.ts'
import { describeRefusal } from '../hub/failures.ts'
import type { HubClient } from '../hub/client.ts'
import type { HubRefusal } from '../hub/request.ts'
import type { HubTime } from '../hub/time.ts'
import { checkLayout } from '../files/versioned-files.ts'
import { checkIssuedCertificate } from './certificate-checks.ts'
import { type Identity, identityLayout, requireIdentity, storeIdentity } from './identity.ts'

export type RenewalOutcome =
  | { readonly ok: true; readonly old: Identity; readonly renewed: Identity }
  | HubRefusal

export class HubRefusedError extends SvcError {
  override name = 'HubRefusedError'
  readonly refusal: HubRefusal
  constructor(refusal: HubRefusal) {
    super('hub_refused', describeRefusal(refusal))
    this.refusal = refusal
  }
}

/** The hub signed something that is not what was asked for. */
export class WrongCertificateError extends SvcError {
  override name = 'WrongCertificateError'
  constructor(fault: string) {
    super('wrong_certificate', `the hub sent an unusable certificate: ${fault}`)
  }
}

export async function renewIdentity(
  context: {
    readonly identityDir: string
    readonly hub: Pick<HubClient, 'issueCertificate'>
    readonly hubTime: HubTime
  },
  trigger: RenewalTrigger,
): Promise<RenewalOutcome> {
  const old = await requireIdentity(context.identityDir)
  // Looked at first: a certificate that cannot be written need not be asked for.
  await checkLayout(identityLayout(context.identityDir))
  const key = await generateEcP256Key()
  const outcome = await context.hub.issueCertificate(await createCsrPem(old.hostname, key))
  if (!outcome.ok) return outcome
  return storeRenewed(context, old, key, outcome.value.certificatePem, trigger)
}

/** Checks what the hub signed for `key`, and puts both in the place of `old`. */
export async function storeRenewed(
  { identityDir, hubTime }: { readonly identityDir: string; readonly hubTime: HubTime },
  old: Identity,
  key: PrivateKey,
  certificatePem: string,
  trigger: RenewalTrigger,
): Promise<RenewalOutcome> {
  // By the issuer's clock: an identity is for the hub's eyes, and ours may be the clock that is wrong.
  const now = hubTime.now()
  const checked = checkIssuedCertificate(certificatePem, key.publicKeySpki, old, now)
  if (!checked.ok) throw new WrongCertificateError(checked.fault)
  await storeIdentity(identityDir, {
    certificatePem: checked.pem,
    keyPem: key.pem,
    // The anchor is what makes the hub the hub; a reply alone never changes it.
    caPem: old.caPem,
    bundle: old.record?.bundle,
    agentId: old.record?.agent_id ?? null,
    renewal: { old_serial: old.leaf.serial, trigger },
  })
  return { ok: true, old, renewed: await requireIdentity(identityDir) }
}
