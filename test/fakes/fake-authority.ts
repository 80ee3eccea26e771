// A CA as use cases know it, without keys: what it signs has a serial, digests and a validity, and a chain that is no PEM.

import { randomBytes } from 'node:crypto'
import type {
  CertificateAuthority,
  SignedCertificate,
  SignRequest,
} from '../../src/hub/ca/certificate-authority.ts'
import type { Clock } from '../../src/platform/clock.ts'

export interface FakeAuthority extends CertificateAuthority {
  /** What it was asked to sign so far. */
  readonly asked: readonly SignRequest[]
  /** From now on it fails so; with undefined it signs again. */
  failWith(error: Error | undefined): void
  /** From now on it waits with its answers, those that are under way too, until the function is called that this returns. */
  hold(): () => void
  /** Resolves as soon as it was asked so often. */
  untilAsked(count: number): Promise<void>
}

export const FAKE_ROOT_SHA256: string = 'a'.repeat(64)
/** Of the event loop; whoever asks needs a few. */
const TURNS_MAX = 10_000
const LIFE_MS = 24 * 3_600_000

/** The serials that it gives are 1, 2 and so on. */
export function createFakeAuthority(clock: Pick<Clock, 'now'>): FakeAuthority {
  const asked: SignRequest[] = []
  let failure: Error | undefined
  let held = Promise.resolve()
  return {
    rootPem: 'the roots',
    asked,
    failWith: (error) => {
      failure = error
    },
    hold: () => {
      let release = (): void => undefined
      held = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
    untilAsked: async (count) => {
      for (let turn = 0; asked.length < count; turn += 1) {
        if (turn > TURNS_MAX) throw new Error(`the CA was asked ${asked.length} times`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    sign: async (request) => {
      asked.push(request)
      const signed = signedNumber(asked.length, clock.now())
      await held
      if (failure !== undefined) throw failure
      return signed
    },
    revoke: async () => ({ kind: 'revoked' }),
  }
}

/** What use cases look at; there is no certificate to take anything else from. */
function signedNumber(count: number, now: Date): SignedCertificate {
  const leaf = {
    serial: `${count}`,
    sha256: randomBytes(32).toString('hex'),
    notBefore: now,
    notAfter: new Date(now.getTime() + LIFE_MS),
  } as SignedCertificate['leaf']
  return { leaf, intermediates: [], chainPem: `chain ${count}`, rootSha256: FAKE_ROOT_SHA256 }
}
