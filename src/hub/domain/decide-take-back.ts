// May an identity that a restored vault does not know be taken back? docs/protocol.md BKP-16, BKP-17.

import type { IdentityReceipt } from '../../audit/identity-receipt.ts'
import type { Agent } from './agent.ts'
import type { IssuedCertificate } from './issued-certificate.ts'

/** The restore that the vault went through last. */
export interface LastRestore {
  readonly at: Date
  /** When the backup was made. */
  readonly backupAt: Date
}

/** A host that stayed away for longer enrols again. */
export const TAKING_BACK_MS_MAX = 30 * 24 * 3_600_000

/** A word for the hub’s log; nobody is told why. */
export type TakeBackVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string }

/** What a receipt says by itself, before its signature is looked at: that costs more than all of this. */
export interface ReceiptFacts {
  readonly receipt: IdentityReceipt
  /** Of the certificate that was presented, and whose key was shown. */
  readonly sha256: string
  readonly restore: LastRestore
  /** The name of the log now. */
  readonly origin: string
}

export function isTakingBack(restore: LastRestore | undefined, now: Date): restore is LastRestore {
  return restore !== undefined && now.getTime() <= restore.at.getTime() + TAKING_BACK_MS_MAX
}

export function decideReceipt(facts: ReceiptFacts): TakeBackVerdict {
  const { receipt, sha256, restore, origin } = facts
  if (receipt.sha256 !== sha256) return refused('the receipt is of another certificate')
  if (receipt.origin === origin) return refused('the receipt is of this epoch')
  if (receipt.at <= restore.backupAt) return refused('the receipt is older than the backup')
  return { ok: true }
}

/** What the vault says. */
export interface TakeBackFacts {
  readonly receipt: IdentityReceipt
  readonly notBefore: Date
  /** Of the id in the receipt; undefined when it enrolled after the backup. */
  readonly agent: Agent | undefined
  /** Who has the hostname now. */
  readonly holder: Agent | undefined
  /** When the agent enrolled last, as far as the vault knows. */
  readonly enrolledAt: Date | null
  /** The newest of the agent’s identities that are older than the restore. */
  readonly newest: IssuedCertificate | undefined
}

export function decideTakeBack(facts: TakeBackFacts): TakeBackVerdict {
  const { receipt, notBefore, agent, holder, enrolledAt, newest } = facts
  if (holder !== undefined && holder.id !== receipt.agentId) {
    return refused('another agent has the hostname')
  }
  if (agent === undefined) return { ok: true }
  if (agent.removedAt !== null) return refused('the agent was removed')
  if (agent.revokedAt !== null) return refused('the agent is revoked')
  if (agent.hostname !== receipt.hostname) return refused('the agent has another hostname')
  // A token enrols once. Times decide between two of them alone: clocks jump, and a restore gives an enrolment a new time.
  const isSameEnrollment = agent.enrolledWith === receipt.enrolledWith
  if (!isSameEnrollment && enrolledAt !== null && enrolledAt > receipt.at) {
    return refused('the host has enrolled again since')
  }
  // A receipt is of an identity in use, so everything older was superseded when it was signed. Certificates count in seconds.
  if (newest !== undefined && newest.notBefore > notBefore) {
    return refused('the hub knows a newer identity')
  }
  return { ok: true }
}

function refused(reason: string): TakeBackVerdict {
  return { ok: false, reason }
}
