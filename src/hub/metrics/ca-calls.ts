// How the calls to the CA go: counted where there are metrics, remembered for readiness.

import type { Clock } from '../../platform/clock.ts'
import { CaError, type CertificateAuthority } from '../ca/certificate-authority.ts'
import type { CA_OUTCOMES } from './hub-metrics.ts'

export type CaOutcome = (typeof CA_OUTCOMES)[number]

export interface LastCaCall {
  readonly outcome: CaOutcome
  readonly at: Date
  /** The setting whose wrong value looks like this failure. */
  readonly variable?: string | undefined
  /** When the first call failed of those that no success came after. */
  readonly failingSince?: Date | undefined
}

export interface CaCalls {
  readonly last: LastCaCall | undefined
  /** Whatever came after it. */
  readonly lastFailure: LastCaCall | undefined
  /** The same authority, each call of which is noted. */
  watch<Authority extends CertificateAuthority>(authority: Authority): Authority
}

export type OnCaCall = (outcome: CaOutcome, durationMs: number) => void

export function createCaCalls(clock: Clock, onCall?: OnCaCall): CaCalls {
  let last: LastCaCall | undefined
  let lastFailure: LastCaCall | undefined
  const note = (outcome: CaOutcome, startMs: number, error?: unknown): void => {
    const at = clock.now()
    const variable = error instanceof CaError ? error.variable : undefined
    const failingSince = outcome === 'ok' ? undefined : (last?.failingSince ?? at)
    last = { outcome, at, variable, failingSince }
    if (outcome !== 'ok') lastFailure = last
    onCall?.(outcome, performance.now() - startMs)
  }
  return {
    get last() {
      return last
    },
    get lastFailure() {
      return lastFailure
    },
    watch: (authority) => ({
      ...authority,
      // They change while the hub runs.
      get rootPem() {
        return authority.rootPem
      },
      sign: async (request) => {
        const startMs = performance.now()
        try {
          const signed = await authority.sign(request)
          note('ok', startMs)
          return signed
        } catch (error) {
          note(error instanceof CaError ? error.reason : 'error', startMs, error)
          throw error
        }
      },
    }),
  }
}
