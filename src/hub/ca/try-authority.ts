// Whether the hub's settings fit its CA, found out without anything being issued. docs/protocol.md BOOT-33.

import type { Clock } from '../../platform/clock.ts'
import { startDeadline } from '../../platform/deadline.ts'
import type { Secret } from '../../platform/secret.ts'
import { createThrowawayCsr } from '../../pki/csr.ts'
import { encodePem } from '../../pki/pem.ts'
import { type CaReply, createCaConnection } from './ca-connection.ts'
import { toCaError } from './ca-failure.ts'
import { failureOfReply } from './ca-reply.ts'
import { CaError } from './certificate-authority.ts'
import { createOneTimeTokenSigner } from './one-time-token.ts'
import type { ProvisionerKey } from './provisioner-key.ts'
import { fixedProvisionerName, lookedUpProvisionerName } from './provisioner-name.ts'

export interface TriedAuthority {
  readonly caUrl: URL
  readonly rootPem: string
  readonly provisionerKey: Secret<ProvisionerKey>
  readonly provisionerKid: string
  readonly provisionerName: string | undefined
  readonly clock: Clock
  readonly deadlineMs?: number
}

export interface TrialResult {
  /** Undefined when the CA takes the hub's tokens. */
  readonly failure: CaError | undefined
  /** By how much the hub's clock is ahead of the CA's, as far as the CA says; negative when it is behind. */
  readonly clockAheadMs: number | undefined
}

const DEADLINE_MS = 5000
/** RFC 2606: names that nobody can have. */
const NAME = 'trial.invalid'
const OTHER_NAME = 'other.trial.invalid'
const SIGN_PATH = '/1.0/sign'

/**
 * Asks for a certificate with a good token and a request that this token does not allow. A CA looks at the token first: 401 when
 * it does not accept the token, and 403 for the request when it does. So the key proves itself, and the CA signs nothing.
 */
export async function tryAuthority(options: TriedAuthority): Promise<TrialResult> {
  const { clock, deadlineMs = DEADLINE_MS } = options
  const connection = createCaConnection({
    origin: options.caUrl.origin,
    rootPem: options.rootPem,
    connectionsMax: 1,
  })
  using deadline = startDeadline(deadlineMs)
  let clockAheadMs: number | undefined
  try {
    const reply = await sendTrial(options, connection, deadline.signal)
    clockAheadMs = findClockAhead(reply, clock.now())
    return { failure: judge(reply), clockAheadMs }
  } catch (error) {
    return { failure: toCaError(error, deadline.signal, deadlineMs), clockAheadMs }
  } finally {
    await connection.close()
  }
}

async function sendTrial(
  { caUrl, provisionerKey, provisionerKid: kid, provisionerName, clock }: TriedAuthority,
  connection: ReturnType<typeof createCaConnection>,
  signal: AbortSignal,
): Promise<CaReply> {
  const name =
    provisionerName === undefined
      ? lookedUpProvisionerName(connection, kid, DEADLINE_MS)
      : fixedProvisionerName(provisionerName)
  const csr = await createThrowawayCsr(OTHER_NAME)
  const ott = createOneTimeTokenSigner({ key: provisionerKey, kid, clock })({
    issuer: await name.get(signal),
    audience: `${caUrl.origin}${SIGN_PATH}`,
    subject: NAME,
    signing: { sans: [NAME], csrSha256: csr.sha256 },
  })
  const body = JSON.stringify({ csr: encodePem(csr.der, 'CERTIFICATE REQUEST'), ott })
  return connection.send({ method: 'POST', path: SIGN_PATH, body, signal })
}

function judge(reply: CaReply): CaError | undefined {
  if (reply.status === 403) return undefined
  if (reply.status !== 201) return failureOfReply(reply, 'take a trial token')
  return new CaError(
    'wrong_certificate',
    'the CA signed a request that its token does not allow: it does not check what the hub relies on',
    { variable: 'SVC_CA_URL' },
  )
}

export function findClockAhead({ date }: CaReply, now: Date): number | undefined {
  const theirs = Date.parse(date ?? '')
  return Number.isNaN(theirs) ? undefined : now.getTime() - theirs
}
