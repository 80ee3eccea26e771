// The hub's own TLS certificate: taken from disk while it is good, obtained from the CA otherwise.

import type { Clock } from '../../../platform/clock.ts'
import { describeError, invariant, SvcError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { parseCertificatesPem, type Certificate } from '../../../pki/certificates.ts'
import { createCsrPem, parseCsrPem } from '../../../pki/csr.ts'
import { findIssuedCertificateFault, findRootOf } from '../../../pki/issued-certificate.ts'
import { generateEcP256Key, parsePrivateKeyPem } from '../../../pki/keys.ts'
import { CaError, type CertificateAuthority } from '../../ca/certificate-authority.ts'
import { readServerPair, storeServerPair } from './server-pair-files.ts'

export interface ServerCertificate {
  readonly keyPem: string
  readonly chainPem: string
  readonly intermediatePems: readonly string[]
  readonly rootPem: string
  readonly serial: string
  readonly sha256: string
  readonly notBefore: Date
  readonly notAfter: Date
}

export interface ServerCertificateDependencies {
  readonly authority: CertificateAuthority
  readonly clock: Clock
  readonly log: Logger
  readonly vaultRoot: string
  /** The CN first, then the other names. */
  readonly names: readonly string[]
  /** What agents trust that have not been offered the roots in force; undefined where none is left out. docs/protocol.md RLO-33. */
  readonly rootsHeldTo: () => Promise<readonly Certificate[] | undefined>
}

const CLOCK_SKEW_MS_MAX = 60_000
const RETRY_DELAY_MS = 1000
const RETRY_DELAY_MS_MAX = 60_000
const RENEWAL_CHECK_INTERVAL_MS_MAX = 60_000
/** The last third of a life is looked at several times. */
const RENEWAL_CHECKS_PER_LIFE = 20
const UNHEARD = 'server_certificate_unheard'
const UNHEARD_PAUSE_MS_MAX = 60 * 60_000

/**
 * The certificate on disk when it is good, else a new one; without a CA it is asked for until it comes. `lookAgain` may change what the
 * authority trusts before it is asked once more.
 */
export async function obtainServerCertificate(
  dependencies: ServerCertificateDependencies,
  signal: AbortSignal,
  lookAgain: () => Promise<void>,
): Promise<{ certificate: ServerCertificate; isReused: boolean }> {
  const { clock, log } = dependencies
  const stored = await loadServerCertificate(dependencies)
  if (stored !== undefined && !isRenewalDue(stored, clock.now())) {
    return { certificate: stored, isReused: true }
  }
  for (let delayMs = RETRY_DELAY_MS; ; delayMs = Math.min(2 * delayMs, RETRY_DELAY_MS_MAX)) {
    try {
      return { certificate: await createServerCertificate(dependencies, stored), isReused: false }
    } catch (error) {
      if (stored === undefined && !isPassing(error)) throw error
      if (stored !== undefined) {
        log.warn(
          { reason: describeError(error) },
          'Server certificate not renewed, using the old one',
        )
        return { certificate: stored, isReused: true }
      }
      const variable = error instanceof CaError ? error.variable : undefined
      log.warn(
        { reason: describeError(error), variable, retry_in_ms: delayMs },
        'Server certificate not obtained',
      )
      await clock.sleep(delayMs, signal)
      await lookAgain()
    }
  }
}

/** A CA that fails, or a full disk, on which nothing can be noted before the CA is asked. */
function isPassing(error: unknown): boolean {
  const isFull = error instanceof SvcError && error.code === 'store_unavailable'
  return isFull || error instanceof CaError
}

/**
 * Renews in the background, once less than a third of its life is left, or when it leads to no root in force, until the signal
 * aborts. Whichever is in use then counts: a change of the roots may have brought one that lives shorter, and another hub may
 * have removed a root while the CA gave this one no certificate.
 */
export async function keepServerCertificateFresh(
  dependencies: ServerCertificateDependencies,
  inUse: () => ServerCertificate,
  onRenewed: (certificate: ServerCertificate) => void,
  signal: AbortSignal,
): Promise<void> {
  const { authority, clock, log } = dependencies
  const isDue = (): boolean =>
    isRenewalDue(inUse(), clock.now()) || !leadsToRoot(inUse(), authority.rootPem)
  let isUnheard = false
  while (!signal.aborted) {
    const intervalMs = isUnheard
      ? pauseOfUnheard(inUse(), clock.now())
      : Math.min(RENEWAL_CHECK_INTERVAL_MS_MAX, checkIntervalMs(inUse()))
    await clock.sleep(intervalMs, signal).catch(() => undefined)
    isUnheard = false
    if (signal.aborted || !isDue()) continue
    try {
      const renewed = await renewServerCertificate(dependencies, inUse())
      onRenewed(renewed)
      log.info({ serial: renewed.serial }, 'Server certificate renewed')
    } catch (error) {
      isUnheard = error instanceof SvcError && error.code === UNHEARD
      log.warn({ reason: describeError(error) }, 'Server certificate not renewed')
    }
  }
}

function checkIntervalMs({ notBefore, notAfter }: ServerCertificate): number {
  return (notAfter.getTime() - notBefore.getTime()) / RENEWAL_CHECKS_PER_LIFE
}

/** Each try is a certificate that the CA signs for nothing, and entries in the log: only a few, and the last when there is no choice. */
function pauseOfUnheard(inUse: ServerCertificate, now: Date): number {
  const leftMs = inUse.notAfter.getTime() - now.getTime()
  return Math.max(RETRY_DELAY_MS, Math.min(UNHEARD_PAUSE_MS_MAX, checkIntervalMs(inUse), leftMs))
}

/**
 * A new one now, not in the place of one that agents need still (`inUse`). Renewals of one hub come one after the other: each changes two
 * files.
 */
export function renewServerCertificate(
  dependencies: ServerCertificateDependencies,
  inUse?: ServerCertificate,
): Promise<ServerCertificate> {
  const before = renewalsUnderWay.get(dependencies) ?? Promise.resolve()
  const renewal = before.then(() => createServerCertificate(dependencies, inUse))
  renewalsUnderWay.set(
    dependencies,
    renewal.catch(() => undefined),
  )
  return renewal
}

const renewalsUnderWay = new WeakMap<ServerCertificateDependencies, Promise<unknown>>()

/** Whether less than a third of its life is left, or the clock was set back to before it began. */
export function isRenewalDue(
  { notBefore, notAfter }: Pick<ServerCertificate, 'notBefore' | 'notAfter'>,
  now: Date,
): boolean {
  const lifeMs = notAfter.getTime() - notBefore.getTime()
  const isFromTheFuture = notBefore.getTime() - now.getTime() > CLOCK_SKEW_MS_MAX
  return isFromTheFuture || notAfter.getTime() - now.getTime() < lifeMs / 3
}

function leadsToRoot({ chainPem }: ServerCertificate, rootPem: string): boolean {
  return findRootOf(parseCertificatesPem(chainPem), parseCertificatesPem(rootPem)) !== undefined
}

/** What is on disk, if key, chain, names and validity are all as they should be. */
async function loadServerCertificate(
  dependencies: ServerCertificateDependencies,
): Promise<ServerCertificate | undefined> {
  const { vaultRoot, authority, names, clock, log } = dependencies
  const stored = await readServerPair(vaultRoot, log)
  if (stored === undefined) return undefined
  const { keyPem, chainPem } = stored
  try {
    const chain = parseCertificatesPem(chainPem)
    const fault = findIssuedCertificateFault(chain, {
      publicKeySpki: parsePrivateKeyPem(keyPem).publicKeySpki,
      commonName: commonNameOf(names),
      sans: names,
      roots: parseCertificatesPem(authority.rootPem),
      now: clock.now(),
      clockSkewMsMax: CLOCK_SKEW_MS_MAX,
    })
    if (fault === undefined) return assemble(keyPem, chain, authority.rootPem)
    log.info({ reason: fault }, 'Stored server certificate not usable')
  } catch (error) {
    log.warn({ reason: describeError(error) }, 'Stored server certificate not readable')
  }
  return undefined
}

async function createServerCertificate(
  dependencies: ServerCertificateDependencies,
  inUse: ServerCertificate | undefined,
): Promise<ServerCertificate> {
  const { vaultRoot, authority, names } = dependencies
  const commonName = commonNameOf(names)
  const key = await generateEcP256Key()
  const csr = parseCsrPem(await createCsrPem(commonName, key))
  invariant(csr, 'our own CSR parses')
  const { leaf, intermediates, chainPem } = await authority.sign({ csr, commonName, sans: names })
  if (inUse !== undefined) await refuseUnheard(dependencies, inUse, [leaf, ...intermediates])
  await storeServerPair(vaultRoot, { keyPem: key.pem, chainPem }, authority.rootPem)
  return assemble(key.pem, [leaf, ...intermediates], authority.rootPem)
}

/** Agents that no wave has reached would not believe the hub any more, and never hear of the roots by which the CA signs now. */
async function refuseUnheard(
  { rootsHeldTo, clock }: ServerCertificateDependencies,
  inUse: ServerCertificate,
  renewed: readonly Certificate[],
): Promise<void> {
  const roots = await rootsHeldTo()
  if (roots === undefined || findRootOf(renewed, roots) !== undefined) return
  const isNeeded = findRootOf(parseCertificatesPem(inUse.chainPem), roots) !== undefined
  if (!isNeeded || inUse.notAfter.getTime() <= clock.now().getTime()) return
  throw new SvcError(
    UNHEARD,
    'it leads to a root that agents have not been offered: let the CA sign by the one before until the rollout of roots is done',
  )
}

function assemble(
  keyPem: string,
  chain: readonly Certificate[],
  rootPem: string,
): ServerCertificate {
  const [leaf, ...intermediates] = chain
  invariant(leaf, 'a checked chain has a leaf')
  return {
    keyPem,
    chainPem: chain.map(({ pem }) => pem).join(''),
    intermediatePems: intermediates.map(({ pem }) => pem),
    rootPem,
    serial: leaf.serial,
    sha256: leaf.sha256,
    notBefore: leaf.notBefore,
    notAfter: leaf.notAfter,
  }
}

function commonNameOf(names: readonly string[]): string {
  const [commonName] = names
  invariant(commonName, 'the hub has a name')
  return commonName
}
