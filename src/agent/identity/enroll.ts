// Enrolment: a one-time token becomes an identity.

import type { Clock } from '../../platform/clock.ts'
import type { ConnectionFailure } from '../../platform/connection-failure.ts'
import { describeError, invariant, UserError } from '../../platform/errors.ts'
import { exists } from '../../platform/files.ts'
import type { Logger } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { decodePem } from '../../pki/pem.ts'
import { findIssuedCertificateFault } from '../../pki/issued-certificate.ts'
import type { Hostname, Recipient } from '../../protocol/identifiers.ts'
import { join } from 'node:path'
import type { HubTime } from '../hub/time.ts'
import { backoffDelayMs, type Random } from '../hub/backoff.ts'
import type { EnrollClient } from '../hub/enroll-client.ts'
import { type HubOutcome, type HubRefusal, HubUnreachableError } from '../hub/request.ts'
import { checkLayout } from '../files/versioned-files.ts'
import type { EnrollReply } from '../hub/wire.ts'
import type { TrustSetting } from '../settings/trust-setting.ts'
import { AgeKeyDamagedError, ensureAgeKey } from './age-key.ts'
import { adoptPlainIdentity } from './adopt-plain-identity.ts'
import { CLOCK_SKEW_MS_MAX } from './certificate-checks.ts'
import { decideEnrolmentTrust } from './decide-enrolment-trust.ts'
import { createStatement, type HostKey } from './host-key.ts'
import type { HostTpm } from './prove-by-tpm.ts'
import { formatInstant } from './describe-identity.ts'
import {
  type Identity,
  identityLayout,
  loadIdentity,
  requireIdentity,
  storeIdentity,
} from './identity.ts'
import { preparePendingRequest, removePendingRequest } from './pending-request.ts'
import { settleTrustDemand, storeTrustDemand } from './trust-record.ts'

export interface EnrollRequest {
  /** Or a key that the host has already, or its TPM. */
  readonly token: Secret<string> | HostKey | HostTpm
  /** By which this host knows the hub; a key says to which hub it is shown. */
  readonly hubs?: readonly string[]
  readonly hostname: Hostname
  readonly role: string
  /** SHA-256 of the DER of the roots that the hub may hand out, lower-case hex; undefined trusts the reply. */
  readonly caFingerprints: ReadonlySet<string> | undefined
  /** By which key the roots have to be signed, as the host's operator says. */
  readonly trustKey?: TrustSetting
  /** An identity that is there already is set aside once the new one is in place. */
  readonly replace: boolean
}

export interface EnrollContext {
  readonly paths: Readonly<
    Record<'identityDir' | 'pendingDir' | 'ageKeyFile' | 'trustFile', string>
  >
  readonly client: EnrollClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** What the hub's replies say of its clock. */
  readonly hubTime?: Pick<HubTime, 'skewMs' | 'now'>
}

const ATTEMPTS_MAX = 4

export async function enroll(context: EnrollContext, request: EnrollRequest): Promise<Identity> {
  const { paths } = context
  if (request.replace) await adoptPlainIdentity(paths.identityDir)
  else await refuseExistingIdentity(context)
  // Looked at first: a token must not be used up for a certificate that cannot be written.
  await checkLayout(identityLayout(paths.identityDir))
  const pending = await preparePendingRequest(
    'enrolment',
    paths.pendingDir,
    request.hostname,
    await currentKeyOf(paths.identityDir),
    await ownRecipient(context),
  )
  // Before the request: a file that cannot be understood costs no token.
  const demand = await settleTrustDemand(paths.trustFile, request.trustKey, context.log)
  const csrDer = decodePem(pending.csrPem, 'certificateRequest')
  invariant(csrDer !== undefined, 'the agent made the CSR')
  const token = await askTpm(context, request, csrDer)
  const body = {
    hostname: request.hostname,
    role: request.role,
    csr_pem: pending.csrPem,
    ...(pending.recipient === undefined ? {} : { recipient: pending.recipient }),
  }
  const outcome = await retryWhileTransient(context, !(token instanceof Secret), async () => {
    const shown = await showToken(context, { ...request, token }, csrDer)
    return context.client.enroll({ ...body, token: shown }, pending.idempotencyKey)
  })
  if (!outcome.ok) throw refusalError(outcome, request)
  const { agentId } = outcome.value
  const trust = decideEnrolmentTrust(demand, request.trustKey, outcome.value)
  if (!trust.ok) {
    throw new UserError(
      'enroll_reply_untrusted',
      `the hub's reply cannot be trusted: its roots: ${trust.reason}`,
      { hint: TRUST_HINT },
    )
  }
  const checked = checkReply(
    outcome.value,
    pending.key.publicKeySpki,
    request,
    trust.fingerprints,
    context.clock.now(),
  )
  if (!checked.ok) {
    const isOfTime = /is (?:expired|not valid yet)$/.test(checked.fault)
    throw new UserError(
      'enroll_reply_invalid',
      `the hub's reply cannot be used: ${checked.fault}`,
      isOfTime
        ? { hint: `${describeClocks(context)}: set the clock that is wrong. ${RETRY_HINT}` }
        : {},
    )
  }
  // What was checked is stored, never the reply's text: OpenSSL reads more in it than certificates under that label.
  const certificatePem = onlyCertificates(outcome.value.certificatePem)
  const caPem = checked.roots.map(({ pem }) => pem).join('')
  if (trust.demand !== undefined) await storeTrustDemand(paths.trustFile, trust.demand)
  await storeIdentity(paths.identityDir, {
    certificatePem,
    keyPem: pending.key.pem,
    caPem,
    agentId,
    renewal: null,
  })
  await removePendingRequest(paths.pendingDir)
  return requireIdentity(paths.identityDir)
}

/** What a TPM says is said once; it counts for longer than all tries take. */
async function askTpm(
  context: EnrollContext,
  request: EnrollRequest,
  csrDer: Buffer,
): Promise<Secret<string> | HostKey> {
  const { token } = request
  if (token instanceof Secret || token.method !== 'tpm') return token
  const challengeTpm: EnrollClient['challengeTpm'] = (body) =>
    retryWhileTransient(context, false, () => context.client.challengeTpm(body))
  const outcome = await token.prove({ csrDer, challengeTpm })
  if (!outcome.ok) throw refusalError(outcome, request)
  return outcome.value
}

/** A proof by a key is made for each try: it is over in minutes. */
async function showToken(
  { clock, hubTime }: EnrollContext,
  {
    token,
    hostname,
    role,
    hubs = [],
  }: Omit<EnrollRequest, 'token'> & { readonly token: Secret<string> | HostKey },
  csrDer: Buffer,
): Promise<string> {
  if (token instanceof Secret) return token.reveal()
  const now = hubTime?.now() ?? clock.now()
  return token.prove(createStatement({ hubs, hostname, role, csrDer, now }))
}

function onlyCertificates(text: string): string {
  return parseCertificatesPem(text)
    .map(({ pem }) => pem)
    .join('')
}

/** Throws the message of AGT-5 when there is an identity already. */
export async function refuseExistingIdentity({
  paths,
  clock,
}: Pick<EnrollContext, 'paths' | 'clock'>): Promise<void> {
  if (!(await exists(join(paths.identityDir, 'agent.crt')))) return
  const identity = await loadIdentity(paths.identityDir).catch(() => undefined)
  const expired = identity !== undefined && identity.leaf.notAfter <= clock.now()
  throw new UserError(
    'identity_present',
    'identity already present',
    expired
      ? { hint: 'it has expired; with a new token, `svc-agent enroll --replace` sets it aside' }
      : {},
  )
}

/** Of an identity that is to be set aside; one that cannot be read has none. */
async function currentKeyOf(identityDir: string): Promise<Buffer | undefined> {
  const identity = await loadIdentity(identityDir).catch(() => undefined)
  return identity?.key.publicKeySpki
}

/** A host whose key cannot be had has certificates still; `run` says what is wrong until it is mended. */
async function ownRecipient({ paths, clock, log }: EnrollContext): Promise<Recipient | undefined> {
  try {
    return (await ensureAgeKey(paths.ageKeyFile, clock)).recipient
  } catch (error) {
    const hint = error instanceof AgeKeyDamagedError ? error.hint : undefined
    log.error({ reason: describeError(error), hint }, 'Operators cannot seal files for this host')
    return undefined
  }
}

type CheckedReply =
  | { readonly ok: true; readonly roots: readonly Certificate[] }
  | { readonly ok: false; readonly fault: string }

/** Of the roots in it only those are trusted that are pinned, and signed where that is demanded; the others come over the connection that it vouches for. */
function checkReply(
  reply: EnrollReply,
  publicKeySpki: Buffer,
  { hostname, caFingerprints }: EnrollRequest,
  signed: ReadonlySet<string> | undefined,
  now: Date,
): CheckedReply {
  try {
    const offered = parseCertificatesPem(reply.caPem)
    const roots = offered.filter(
      ({ sha256 }) =>
        (caFingerprints === undefined || caFingerprints.has(sha256)) &&
        (signed === undefined || signed.has(sha256)),
    )
    if (roots.length === 0 && offered.length > 0) {
      const fingerprints = offered.map(({ sha256 }) => sha256).join(', ')
      return { ok: false, fault: `its CA has the fingerprint ${fingerprints}` }
    }
    const fault = findIssuedCertificateFault(parseCertificatesPem(reply.certificatePem), {
      publicKeySpki,
      commonName: hostname,
      roots,
      now,
      clockSkewMsMax: CLOCK_SKEW_MS_MAX,
    })
    return fault === undefined ? { ok: true, roots } : { ok: false, fault }
  } catch {
    // OpenSSL's words for bytes that are not a certificate are of no help.
    return { ok: false, fault: 'a certificate in it cannot be parsed' }
  }
}

/** A person is waiting: a few tries within seconds, and what is pending makes the next command go on from here. */
async function retryWhileTransient<Value>(
  context: EnrollContext,
  isByKey: boolean,
  attempt: () => Promise<HubOutcome<Value>>,
): Promise<HubOutcome<Value>> {
  const { clock, random, log } = context
  for (let failures = 1; ; failures += 1) {
    const result = await attempt().catch((error: unknown) => {
      if (error instanceof HubUnreachableError) return error
      throw error
    })
    const isLast = failures >= ATTEMPTS_MAX
    if (result instanceof HubUnreachableError) {
      const hint =
        result.failure === 'clock'
          ? `${describeClocks(context)}: a wrong clock takes a good certificate for a bad one`
          : result.failure && CONNECTION_HINTS[result.failure]
      if (isLast || hint !== undefined) throw withHint(result, hint ?? RETRY_HINT)
      log.warn({ error: result.message, attempt: failures }, 'Hub not reached, trying again')
    } else {
      const isLate = !result.ok && isByKey && failures === 1 && isOfClock(context, result)
      if (result.ok || isLast || !(isLate || [408, 429, 503].includes(result.status))) return result
      log.warn(
        { status: result.status, code: result.code, attempt: failures },
        'Hub busy, trying again',
      )
    }
    await clock.sleep(backoffDelayMs(failures, random))
  }
}

const SKEW_MS_NOTABLE = 30_000

/** A proof is of a time, and what the hub said to the first one tells this host what time it is there. */
function isOfClock({ hubTime }: EnrollContext, { code }: HubRefusal): boolean {
  return code === 'token_expired' && Math.abs(hubTime?.skewMs ?? 0) > SKEW_MS_NOTABLE
}

const RETRY_HINT =
  'run the same command again: it repeats the same request, and its token still works'

const TRUST_HINT =
  'this host demands signed roots: svc bundle sign at the hub puts a signed set in force, and SVC_AGENT_TRUST_KEY says whose signature counts. Then run the same command again: its token still works'

/** What no repetition mends. */
const CONNECTION_HINTS: Readonly<Partial<Record<ConnectionFailure, string>>> = {
  untrusted:
    'SVC_SERVER_CA_PATH names the root to trust, PEM; without it the agent trusts the system’s store',
  wrong_root:
    'is SVC_SERVER_URL the TLS enroll port of the hub whose root --ca-fingerprint names? Before a proxy that ends TLS, SVC_SERVER_CA_PATH names the root of the proxy, PEM',
  other_names: 'SVC_SERVER_URL must name the host as its certificate does',
  no_tls:
    'port 8444 of a hub is plain http: SVC_SERVER_URL is its port with TLS (8446), the proxy before it, or http:// on the hub’s own host',
}

function withHint({ message, failure }: HubUnreachableError, hint: string): HubUnreachableError {
  return new HubUnreachableError(message, { failure, hint })
}

/** Both clocks, when the hub has said what time it has. */
function describeClocks({ clock, hubTime }: EnrollContext): string {
  const now = clock.now()
  const skewMs = hubTime?.skewMs
  const own = `this host's clock says ${formatInstant(now)}`
  if (skewMs === undefined) return own
  return `${own}, the hub's ${formatInstant(new Date(now.getTime() + skewMs))}`
}

type Hint = string | ((request: EnrollRequest) => string)

const HINTS: Readonly<Record<string, Hint>> = {
  token_not_found: 'is SVC_ENROLL_TOKEN the whole token, and SVC_SERVER_URL the hub that made it?',
  token_consumed: 'ask for a new token: svc token create',
  token_expired: 'ask for a new token: svc token create',
  hostname_mismatch: ({ hostname }) =>
    `this host asked as ${hostname}, and the token is for another host; SVC_AGENT_HOSTNAME says as whom it asks`,
  role_mismatch: ({ role }) =>
    `this host asked for the role ${role}, and the token is for another role; see SVC_AGENT_ROLE`,
  agent_already_enrolled: 'ask for a token made with --reenroll',
  route_not_found: 'is SVC_SERVER_URL the enroll port of the hub (8446, or a proxy before 8444)?',
  ca_failed:
    'the hub could not get a signature from its CA; its log says why; the token is not used up',
}

const KEY_HINTS: Readonly<Record<string, Hint>> = {
  token_not_found: ({ hubs = [] }) =>
    `no join rule of the hub takes this key, or the hub is not ${hubs.join(' or ')}; where a rule takes it, svc event list --type join_refused at the hub says why`,
  token_expired: 'the join rule is over or full; svc join-rule list at the hub says so',
  token_consumed: 'this host has joined before: svc token create --reenroll',
  hostname_mismatch: ({ hostname }) =>
    `this host asked as ${hostname}, and its key is not that of this name, or the join rule is for other names; SVC_AGENT_HOSTNAME says as whom it asks`,
}

const TPM_HINTS: Readonly<Record<string, Hint>> = {
  token_not_found:
    'no join rule takes this TPM: svc-agent tpm prints what a list of svc join-rule create --tpm-keys has of it; where a rule was near, svc event list --type join_refused at the hub says why',
  token_expired: 'the join rule is over or full; svc join-rule list at the hub says so',
  token_consumed:
    'a TPM lets one host in, and a name joins by a rule once; else ask for a token: svc token create',
  hostname_mismatch: ({ hostname }) =>
    `this host asked as ${hostname}, and the list has its TPM for another name, or the join rule is for other names; SVC_AGENT_HOSTNAME says as whom it asks`,
}

function hintsFor({ token }: EnrollRequest): Readonly<Record<string, Hint>> {
  if (token instanceof Secret) return HINTS
  return { ...HINTS, ...(token.method === 'tpm' ? TPM_HINTS : KEY_HINTS) }
}

function refusalError({ status, code }: HubRefusal, request: EnrollRequest): UserError {
  const found = hintsFor(request)[code]
  const hint = typeof found === 'function' ? found(request) : found
  return new UserError(
    'enroll_refused',
    `the hub refused the enrolment: ${code} (${status})`,
    hint === undefined ? {} : { hint },
  )
}
