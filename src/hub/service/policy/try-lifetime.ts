// Whether the CA signs certificates of a life, asked before a politica promises it. docs/protocol.md POL-19.

import { createThrowawayCsr } from '../../../pki/csr.ts'
import { formatDurationMs } from '../../../platform/durations.ts'
import type { Logger } from '../../../platform/logger.ts'
import { createSerialQueue } from '../../../platform/serial-queue.ts'
import { CaError, type CertificateAuthority } from '../../ca/certificate-authority.ts'
import { AdminRefusal } from '../admin-act.ts'

/** A certificate that nobody gets: its key was gone before it was signed. */
export interface Trial {
  readonly serial: string
  readonly revoked: boolean
}

/** Throws the AdminRefusal of a life that the CA does not sign, or that nobody could try. */
export type TryLifetime = (seconds: number) => Promise<Trial>

/** RFC 2606: no host ever has it. */
const TRIAL_NAME = 'cartorio-trial.invalid'
/** One trial is under way at a time, and takes the CA half a minute at most. */
const WAITING_MAX = 8

export function createTryLifetime(authority: CertificateAuthority, log: Logger): TryLifetime {
  const queue = createSerialQueue()
  let waiting = 0
  return async (seconds) => {
    if (authority.whyNoLifetime !== undefined) throw refused(seconds, authority.whyNoLifetime)
    if (waiting >= WAITING_MAX) throw untested(seconds, 'too many trials wait already')
    waiting += 1
    try {
      return await queue.run(() => tryOnce(authority, log, seconds))
    } finally {
      waiting -= 1
    }
  }
}

async function tryOnce(
  authority: CertificateAuthority,
  log: Logger,
  seconds: number,
): Promise<Trial> {
  const failure = await signOnTrial(authority, log, seconds)
  if ('serial' in failure) return failure
  if (failure.reason !== 'refused' && failure.reason !== 'wrong_certificate') {
    throw untested(seconds, failure.message)
  }
  // A CA that signs for no such name, whatever the life, says nothing of the life.
  const control = await signOnTrial(authority, log)
  if ('serial' in control) throw refused(seconds, failure.message)
  throw untested(seconds, control.message)
}

async function signOnTrial(
  authority: CertificateAuthority,
  log: Logger,
  lifetimeSeconds?: number,
): Promise<Trial | CaError> {
  const csr = await createThrowawayCsr(TRIAL_NAME)
  const names = { commonName: TRIAL_NAME, sans: [TRIAL_NAME] }
  try {
    const { leaf } = await authority.sign({ csr, ...names, lifetimeSeconds })
    const outcome = await authority.revoke(leaf.serial, new AbortController().signal)
    const revoked = outcome.kind === 'revoked' || outcome.kind === 'already_revoked'
    log.info({ serial: leaf.serial, revoked }, 'Certificate signed on trial')
    return { serial: leaf.serial, revoked }
  } catch (error) {
    if (error instanceof CaError) return error
    throw error
  }
}

function refused(seconds: number, why: string): AdminRefusal {
  const message = `the CA signs no certificate of ${describe(seconds)}: ${why}`
  return new AdminRefusal('cert_ttl_refused', message)
}

export function untested(seconds: number, why: string): AdminRefusal {
  return new AdminRefusal(
    'cert_ttl_untested',
    `nobody could try whether the CA signs certificates of ${describe(seconds)}: ${why}`,
  )
}

function describe(seconds: number): string {
  return formatDurationMs(seconds * 1000)
}
