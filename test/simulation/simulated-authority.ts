// A CA that lives in virtual time: real certificates, valid from a minute ago for a day.

import {
  CaError,
  type CertificateAuthority,
  type SignedCertificate,
  type SignRequest,
} from '../../src/hub/ca/certificate-authority.ts'
import { createIssuer, createRootPem, type Issuer } from '../../src/dev-ca/issuer.ts'
import { BACKDATE_MS } from '../../src/dev-ca/validity.ts'
import { parseCertificatePem } from '../../src/pki/certificates.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Random } from './seeded-random.ts'

export const CERTIFICATE_LIFE_MS = 24 * 3_600_000
const YEAR_MS = 365 * 24 * 3_600_000

export async function createSimulatedAuthority(
  clock: Clock,
  random: Random,
  lifeMs: number = CERTIFICATE_LIFE_MS,
): Promise<CertificateAuthority> {
  const { rootPem, issuer } = await createIntermediate(clock, random)
  const intermediate = parseCertificatePem(issuer.certificatePem)
  return {
    rootPem,
    async sign({ csr, commonName, sans }: SignRequest): Promise<SignedCertificate> {
      if (csr.commonName !== commonName) {
        throw new CaError('refused', 'the CSR has another common name', { status: 403 })
      }
      const nowMs = clock.now().getTime()
      const pem = await issuer.issueLeaf({
        publicKeySpki: csr.publicKeySpki,
        commonName,
        sans,
        notBefore: new Date(nowMs - BACKDATE_MS),
        notAfter: new Date(nowMs + lifeMs),
      })
      const leaf = parseCertificatePem(pem)
      return { leaf, intermediates: [intermediate], chainPem: leaf.pem + intermediate.pem }
    },
    revoke: async () => ({ kind: 'revoked' }),
  }
}

async function createIntermediate(
  clock: Clock,
  random: Random,
): Promise<{ rootPem: string; issuer: Issuer }> {
  const nowMs = clock.now().getTime()
  const validity = { notBefore: new Date(nowMs - YEAR_MS), notAfter: new Date(nowMs + YEAR_MS) }
  const [rootKey, key] = await Promise.all([generateEcP256Key(), generateEcP256Key()])
  const rootPem = await createRootPem({ commonName: 'Simulated Root', ...validity }, rootKey)
  const root = await createIssuer(rootPem, rootKey)
  const intermediatePem = await root.issueIntermediate({
    commonName: 'Simulated Intermediate',
    publicKeySpki: key.publicKeySpki,
    ...validity,
  })
  // Agents spread their renewals by the serial: the seed has to give the same ones again.
  const nextSerialHex = (): string =>
    ['5e', ...Array.from({ length: 15 }, () => byteHex(random))].join('')
  return { rootPem, issuer: await createIssuer(intermediatePem, key, nextSerialHex) }
}

function byteHex(random: Random): string {
  return Math.floor(random() * 256)
    .toString(16)
    .padStart(2, '0')
}
