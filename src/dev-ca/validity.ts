// How long a certificate may live: what the caller asked for, within the limits of the CA.

import { type GoTime, resolveGoTime } from './go-time.ts'
import { refuse, type Refusal } from './reply.ts'

export interface ValidityLimits {
  readonly defaultDurationMs: number
  readonly durationMsMin: number
  readonly durationMsMax: number
}

export type ValidityVerdict =
  | { readonly ok: true; readonly notBefore: Date; readonly notAfter: Date }
  | Refusal

/** Certificates begin a little in the past, for relying parties whose clock is behind. */
export const BACKDATE_MS = 60_000

export function decideValidity(
  asked: { readonly notBefore: GoTime | undefined; readonly notAfter: GoTime | undefined },
  limits: ValidityLimits,
  now: Date,
): ValidityVerdict {
  const start = asked.notBefore === undefined ? now : resolveGoTime(asked.notBefore, now)
  const notAfter =
    asked.notAfter === undefined
      ? new Date(start.getTime() + limits.defaultDurationMs)
      : resolveGoTime(asked.notAfter, start)
  const backdateMs = asked.notBefore === undefined ? BACKDATE_MS : 0
  const notBefore = new Date(start.getTime() - backdateMs)
  const durationMs = notAfter.getTime() - notBefore.getTime()
  if (notAfter < now) return refuse(400, 'notAfter cannot be in the past')
  if (durationMs < 0) return refuse(400, 'notAfter cannot be before notBefore')
  if (durationMs < limits.durationMsMin) {
    return refuse(403, 'requested duration is less than the authorized minimum')
  }
  if (durationMs > limits.durationMsMax + BACKDATE_MS) {
    return refuse(403, 'requested duration is more than the authorized maximum')
  }
  return { ok: true, notBefore, notAfter }
}
