// Recovery: an identity that has expired is replaced without a person, by a proof that its key is still here.

import { invariant } from '../../platform/errors.ts'
import { parseCsrPem } from '../../pki/csr.ts'
import type { EnrollClient } from '../hub/enroll-client.ts'
import type { HubTime } from '../hub/time.ts'
import { checkLayout } from '../files/versioned-files.ts'
import { identityLayout, requireIdentity } from './identity.ts'
import type { KeptReceipt } from './kept-receipt.ts'
import { preparePendingRequest, removePendingRequest } from './pending-request.ts'
import { createRecoveryProof, refuseOtherThanP256 } from './recovery-proof.ts'
import { type RenewalOutcome, storeRenewed } from './renew-identity.ts'

export interface RecoveryContext {
  readonly paths: { readonly identityDir: string; readonly pendingRecoveryDir: string }
  readonly enrollPort: Pick<EnrollClient, 'recover' | 'askTime'>
  readonly hubTime: HubTime
  /** For a hub that was restored, and does not know the identity. */
  readonly receipt: Pick<KeptReceipt, 'find'>
  /** The host of the hub's mutual-TLS URL. */
  readonly audience: string
}

/** A refusal, or an error, leaves the identity as it was. */
export async function recoverIdentity(context: RecoveryContext): Promise<RenewalOutcome> {
  const { paths, enrollPort, hubTime, receipt, audience } = context
  const old = await requireIdentity(paths.identityDir)
  refuseOtherThanP256(old.key)
  // Looked at first: a certificate that cannot be written need not be asked for.
  await checkLayout(identityLayout(paths.identityDir))
  const pending = await preparePendingRequest(
    'recovery',
    paths.pendingRecoveryDir,
    old.hostname,
    old.key.publicKeySpki,
  )
  const csr = parseCsrPem(pending.csrPem)
  invariant(csr !== undefined, 'what is pending was parsed before')
  // Asked for at every try: a proof that is minutes off is refused, and so would be all that follow it.
  await enrollPort.askTime()
  const proof = await createRecoveryProof({
    key: old.key,
    csrDer: csr.der,
    audience,
    now: hubTime.now(),
  })
  const kept = await receipt.find(old.leaf.sha256)
  const outcome = await enrollPort.recover({
    cert_pem: old.leaf.pem,
    csr_pem: pending.csrPem,
    proof,
    ...(kept !== undefined && { receipt: kept }),
  })
  if (!outcome.ok) return outcome
  const { identityDir } = paths
  const { certificatePem } = outcome.value
  const place = { identityDir, hubTime }
  const renewed = await storeRenewed(place, old, pending.key, certificatePem, 'recovery')
  await removePendingRequest(paths.pendingRecoveryDir)
  return renewed
}
