// A CA in all its moods; the hub's client of it keeps to ten seconds, whatever the CA does.

import { CaError, type RootedAuthority } from '../../../src/hub/ca/certificate-authority.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Random } from '../seeded-random.ts'
import { connectToCa, type SimulatedCa } from '../simulated-authority.ts'
import type { Faults } from './faults.ts'

const LATENCY_MS_MAX = 300
const DEADLINE_MS = 10_000

/** `clock` is that of the hub that asks: its death ends the waiting. */
export function createFaultyAuthority(
  ca: SimulatedCa,
  {
    clock,
    random,
    faults,
    onRevoke,
  }: {
    readonly clock: Clock
    readonly random: Random
    readonly faults: Faults
    readonly onRevoke: (serial: string) => Promise<void>
  },
): RootedAuthority {
  const authority = connectToCa(ca)
  return {
    get rootPem() {
      return authority.rootPem
    },
    useRoots: (pem) => authority.useRoots(pem),
    sign: async (request) => {
      if (faults.happens('CA overloaded')) throw new CaError('overloaded', 'too many calls wait')
      await clock.sleep(random() * LATENCY_MS_MAX)
      if (faults.happens('CA unreachable')) throw new CaError('unreachable', 'connection refused')
      if (faults.happens('CA refuses')) throw new CaError('refused', 'forbidden', { status: 403 })
      if (faults.happens('CA silent')) {
        await clock.sleep(DEADLINE_MS - LATENCY_MS_MAX)
        throw new CaError('timeout', 'no answer within 10 s')
      }
      if (faults.happens('CA slow')) await clock.sleep(random() * (DEADLINE_MS - LATENCY_MS_MAX))
      const signed = await authority.sign(request)
      await clock.sleep(random() * LATENCY_MS_MAX)
      if (faults.happens('CA reply lost')) throw new CaError('unreachable', 'reply cut short')
      if (faults.happens('CA wrong certificate')) {
        throw new CaError('wrong_certificate', 'a certificate of another key')
      }
      return signed
    },
    revoke: async (serial, signal) => {
      await onRevoke(serial)
      await clock.sleep(random() * LATENCY_MS_MAX, signal)
      if (faults.happens('CA unreachable')) return { kind: 'failed', reason: 'connection refused' }
      if (faults.happens('CA refuses to revoke')) return { kind: 'refused', reason: 'forbidden' }
      if (faults.happens('CA slow')) await clock.sleep(random() * DEADLINE_MS, signal)
      const outcome = await authority.revoke(serial, signal)
      await clock.sleep(random() * LATENCY_MS_MAX, signal)
      return faults.happens('CA reply lost')
        ? { kind: 'failed', reason: 'reply cut short' }
        : outcome
    },
  }
}
