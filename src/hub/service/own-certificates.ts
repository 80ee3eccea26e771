// What the CA signs for the hub itself, each in the audit log before anything is done with it. docs/protocol.md EVD-15.

import { HubEventType } from '../../protocol/words.ts'
import type { CertificateAuthority, SignRequest } from '../ca/certificate-authority.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { recordHubAct } from './hub-acts.ts'
import {
  obtainCertificate,
  type ObtainedCertificate,
  type SigningDependencies,
} from './obtain-certificate.ts'

type Record = (
  writer: StoreWriter,
  at: Date,
  obtained: ObtainedCertificate,
  request: SignRequest,
) => Promise<void>

/** For the hub's own ports. */
export function authorityForServer(dependencies: SigningDependencies): CertificateAuthority {
  return recording(dependencies, 'server', async (writer, at, obtained, { csr, sans }) => {
    await obtained.settle(writer, at)
    const { serial, sha256, notAfter } = obtained.leaf
    await writer.insertOwnCertificate(sha256)
    await recordHubAct(writer, at, HubEventType.serverCertificateIssued, {
      actor: 'hub',
      names: sans,
      serial,
      sha256,
      csr_sha256: csr.sha256,
      not_after: notAfter.toISOString(),
      purpose: 'server',
      request: 'server',
    })
  })
}

/** For what is signed only to see whether the CA signs it. */
export function authorityForTrials(dependencies: SigningDependencies): CertificateAuthority {
  return recording(dependencies, 'trial', (writer, at, obtained) =>
    obtained.discard(writer, at, 'trial'),
  )
}

function recording(
  dependencies: SigningDependencies,
  purpose: 'server' | 'trial',
  record: Record,
): CertificateAuthority {
  const { store, authority, clock } = dependencies
  return {
    get rootPem() {
      return authority.rootPem
    },
    sign: async (request) => {
      const obtained = await obtainCertificate(dependencies, { ...request, request: purpose })
      await store.write((writer) => record(writer, clock.now(), obtained, request))
      return obtained
    },
    revoke: (serial, signal) => authority.revoke(serial, signal),
    whyNoLifetime: authority.whyNoLifetime,
  }
}

export interface StandingCertificate {
  readonly serial: string
  readonly sha256: string
  readonly notAfter: Date
}

/** A certificate that a hub up to 0.4.0 obtained, and that this one still uses, is in no entry of that hub. */
export async function recordStandingCertificate(
  store: Store,
  at: Date,
  { serial, sha256, notAfter }: StandingCertificate,
  names: readonly string[],
): Promise<void> {
  // The log itself would not do: the entry may be archived, and agents may send events of any type.
  if (await store.reader.isOwnCertificate(sha256)) return
  const { serverCertificateIssued: eventType } = HubEventType
  const payload = { actor: 'hub', names, serial, sha256, not_after: notAfter.toISOString() }
  await store.write(async (writer) => {
    await writer.insertOwnCertificate(sha256)
    await recordHubAct(writer, at, eventType, { ...payload, purpose: 'server', request: 'earlier' })
  })
}
