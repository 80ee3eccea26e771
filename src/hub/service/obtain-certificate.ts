// Each certificate that the CA signs for the hub is in the audit log, whatever came of it: what the hub asks for is durable before
// the CA is asked, and is forgotten in the commit that says what the answer was. docs/protocol.md EVD-15, EVD-16.

import { hash, randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import { HubEventType } from '../../protocol/words.ts'
import {
  CaError,
  type CertificateAuthority,
  type SignedCertificate,
  type SignRequest,
} from '../ca/certificate-authority.ts'
import { isOpen } from '../domain/enrollment-token.ts'
import type { OpenSigning, SigningPurpose } from '../domain/open-signing.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { findUsedToken, hasPlace, isUsedElsewhere, type TokenUse } from './find-token-use.ts'
import { recordHubAct } from './hub-acts.ts'

export interface SigningDependencies {
  readonly store: Store
  readonly authority: CertificateAuthority
  readonly clock: Clock
  readonly log: Logger
  /** Undefined for a hub that has its vault to itself. */
  readonly hubId?: string | undefined
}

export interface WantedCertificate extends SignRequest {
  readonly request: SigningPurpose
  /** The host that it is for; neither for the hub itself. */
  readonly hostname?: string
  readonly agentId?: AgentId
}

export interface ObtainedCertificate extends SignedCertificate {
  /** For the commit that records the certificate. */
  settle(writer: StoreWriter, at: Date): Promise<void>
  /** For the commit after which nobody gets it. */
  discard(writer: StoreWriter, at: Date, reason: string): Promise<void>
}

type Leaf = Pick<SignedCertificate['leaf'], 'serial' | 'sha256' | 'notAfter'>

/** A CA can put anything into what it sends. */
const SERIAL_DIGITS_MAX = 64
const LEFT_OPEN_PAGE = 100
const LEFT_OPEN_MAX = 10_000
/** The CA has ten seconds (CAX-5). Of a hub that is gone or frozen another one takes the token over. */
const CLAIM_MS = 15_000

/** Throws CaError like the CA itself, once what became of the request is written down. */
export async function obtainCertificate(
  dependencies: SigningDependencies,
  wanted: WantedCertificate,
): Promise<ObtainedCertificate> {
  const { store } = dependencies
  const open = openSigning(dependencies, wanted, null)
  await store.write((writer) => writer.insertOpenSigning(open))
  return sign(dependencies, wanted, open)
}

/**
 * Undefined while another hub asks for a certificate that will spend this token, and when the token is good no more: who looked at it before
 * has to look again, as when no place of its join rule is free. This hub asks once at a time. docs/protocol.md HUB-9, JNR-6.
 */
export async function obtainByToken(
  dependencies: SigningDependencies,
  wanted: WantedCertificate,
  use: TokenUse,
): Promise<ObtainedCertificate | undefined> {
  const { store } = dependencies
  const open = openSigning(dependencies, wanted, use)
  const isClaimed = await store.write(async (writer) => {
    const found = await findUsedToken(writer, use, open.askedAt)
    const token = 'token' in found ? found.token : undefined
    if (token === undefined || !isOpen(token, open.askedAt)) return false
    const other = await writer.findSigningOfToken(token.hash)
    if (other !== undefined) {
      const isRecent = Math.abs(open.askedAt.getTime() - other.askedAt.getTime()) < CLAIM_MS
      if (other.hubId !== open.hubId && isRecent) return false
      await writer.deleteOpenSigning(other.id)
      await recordLost(writer, open.askedAt, other, 'not_recorded')
    }
    if (use.joinRuleId !== null && !(await hasPlace(writer, use.joinRuleId))) return false
    if (await isUsedElsewhere(writer, use)) return false
    if (use.shown !== undefined) {
      const { tokenHash, hostname: name } = use
      await writer.claimJoinProof({ ...use.shown, tokenHash, hostname: name }, open.askedAt)
    }
    await writer.insertOpenSigning(open)
    return true
  })
  return isClaimed ? sign(dependencies, wanted, open) : undefined
}

function openSigning(
  { clock, hubId }: SigningDependencies,
  { request, hostname, agentId, sans, csr }: WantedCertificate,
  use: TokenUse | null,
): OpenSigning {
  return {
    id: randomUUID(),
    askedAt: clock.now(),
    hubId: hubId ?? null,
    tokenHash: use?.tokenHash ?? null,
    joinRuleId: use?.joinRuleId ?? null,
    request,
    agentId: agentId ?? null,
    hostname: hostname ?? null,
    names: sans,
    csrSha256: csr.sha256,
    keySha256: hash('sha256', csr.publicKeySpki, 'hex'),
  }
}

async function sign(
  dependencies: SigningDependencies,
  { request: _request, hostname: _hostname, agentId: _agentId, ...wanted }: WantedCertificate,
  open: OpenSigning,
): Promise<ObtainedCertificate> {
  const { authority } = dependencies
  let signed: SignedCertificate
  try {
    signed = await authority.sign({
      ...wanted,
      ...(open.request === 'delivery' && { isDelivered: true }),
    })
  } catch (error) {
    if (error instanceof CaError) await settleFailure(dependencies, open, error)
    throw error
  }
  const settle = async (writer: StoreWriter, at: Date): Promise<void> => {
    await writer.deleteOpenSigning(open.id)
    if (signed.isAnotherLost === true) await recordLost(writer, at, open, 'connection_lost')
  }
  return {
    ...signed,
    settle,
    discard: async (writer, at, reason) => {
      await settle(writer, at)
      await recordDiscarded(writer, at, open, signed.leaf, reason)
    },
  }
}

async function settleFailure(
  { store, clock, log }: SigningDependencies,
  open: OpenSigning,
  { reason, isAnswerLost, leaf }: CaError,
): Promise<void> {
  try {
    await store.write(async (writer) => {
      await writer.deleteOpenSigning(open.id)
      const named = leaf !== undefined && leaf.serial.length <= SERIAL_DIGITS_MAX ? leaf : undefined
      if (named !== undefined) await recordDiscarded(writer, clock.now(), open, named, reason)
      if (isAnswerLost || named !== leaf) await recordLost(writer, clock.now(), open, reason)
    })
  } catch (error) {
    // The caller learns what the CA said; the request stays open, and is settled later.
    log.warn({ reason: describeError(error) }, 'Outcome of a request to the CA not recorded')
  }
}

function recordDiscarded(
  writer: StoreWriter,
  at: Date,
  open: OpenSigning,
  { serial, sha256, notAfter }: Leaf,
  reason: string,
): Promise<void> {
  return recordHubAct(writer, at, HubEventType.certificateDiscarded, {
    ...askedFor(open),
    serial,
    sha256,
    not_after: notAfter.toISOString(),
    purpose: 'none',
    reason,
  })
}

function recordLost(
  writer: StoreWriter,
  at: Date,
  open: OpenSigning,
  reason: string,
): Promise<void> {
  return recordHubAct(writer, at, HubEventType.certificateAnswerLost, {
    ...askedFor(open),
    asked_at: open.askedAt.toISOString(),
    reason,
  })
}

function askedFor({ agentId, hostname, names, request, csrSha256, keySha256 }: OpenSigning) {
  return {
    actor: 'hub',
    ...(agentId !== null && { agente_id: agentId }),
    ...(hostname !== null && { hostname }),
    names,
    request,
    csr_sha256: csrSha256,
    key_sha256: keySha256,
  }
}

/** What this hub has left when it ended: the CA may have signed any of it. For a hub that has asked nothing yet. */
export async function settleLeftOpen(signing: LeftOpenDependencies): Promise<void> {
  const open = await signing.store.reader.listOpenSignings(LEFT_OPEN_MAX)
  const own = open.filter(({ hubId }) => hubId === (signing.hubId ?? null))
  await settleLost(signing, own)
}

type LeftOpenDependencies = Pick<SigningDependencies, 'store' | 'clock' | 'hubId'>

/** Each that is still open. */
export async function settleLost(
  { store, clock }: LeftOpenDependencies,
  left: readonly OpenSigning[],
): Promise<void> {
  for (let at = 0; at < left.length; at += LEFT_OPEN_PAGE) {
    await store.write(async (writer) => {
      for (const open of left.slice(at, at + LEFT_OPEN_PAGE)) {
        const isLeft = await writer.deleteOpenSigning(open.id)
        if (isLeft) await recordLost(writer, clock.now(), open, 'not_recorded')
      }
    })
  }
}
