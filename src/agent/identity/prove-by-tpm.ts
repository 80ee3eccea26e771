// In place of a token: what the TPM of this host found in the hub's challenge, and its quote over that and over the request for a
// certificate. docs/protocol.md JNR-41, JNR-42.

import { hash } from 'node:crypto'
import { Secret } from '../../platform/secret.ts'
import { readPublicKeySpki } from '../../pki/certificate-fields.ts'
import type { TpmChallengeRequestBody } from '../../protocol/schemas.ts'
import { EK_CERTIFICATE_BYTES_MAX } from '../../tpm/endorsement-key.ts'
import { quotedDigest, writeTpmToken } from '../../tpm/join-token.ts'
import type { HubOutcome } from '../hub/request.ts'
import type { TpmChallenge } from '../hub/wire.ts'
import type { TpmTools } from '../tpm/tpm-tools.ts'
import {
  activateCredential,
  type Endorsement,
  makeAttestationKey,
  quote,
  readEndorsement,
} from '../tpm/tpm.ts'

/** What a host shows in place of a token. */
export interface HostTpm {
  readonly method: 'tpm'
  prove(asked: AskedProof): Promise<HubOutcome<Secret<string>>>
}

export interface AskedProof {
  readonly csrDer: Buffer
  readonly challengeTpm: (body: TpmChallengeRequestBody) => Promise<HubOutcome<TpmChallenge>>
}

export async function proveByTpm(
  tools: TpmTools,
  {
    hostname,
    role,
    csrDer,
    challengeTpm,
  }: AskedProof & { readonly hostname: string; readonly role: string },
): Promise<HubOutcome<Secret<string>>> {
  const endorsement = await readEndorsement(tools)
  const ak = await makeAttestationKey(tools)
  const asked = { hostname, role, ...shownOf(endorsement), ak: ak.toString('base64') }
  const outcome = await challengeTpm(asked)
  if (!outcome.ok) return outcome
  const { untilSeconds } = outcome.value
  const secret = await activateCredential(tools, outcome.value)
  const said = await quote(tools, quotedDigest(secret, hash('sha256', csrDer)))
  const { sha256: ekSha256 } = endorsement
  const token = writeTpmToken({ ekSha256, ak, secret, untilSeconds, ...said })
  return { ...outcome, value: new Secret(token) }
}

/** A certificate that is of another key, or longer than any that a hub reads, is of no use. */
function shownOf({
  spki,
  certificate,
}: Endorsement): Pick<TpmChallengeRequestBody, 'ek' | 'ek_cert'> {
  const isOfKey =
    certificate !== undefined &&
    certificate.length <= EK_CERTIFICATE_BYTES_MAX &&
    readPublicKeySpki(certificate)?.every((byte, at) => byte === spki[at]) === true
  return isOfKey ? { ek_cert: certificate.toString('base64') } : { ek: spki.toString('base64') }
}
