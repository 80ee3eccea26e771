// A CA that lives in virtual time: real certificates, valid from a minute ago for a day. It has a second root, which may
// take the place of the first.

import {
  CaError,
  type CertificateAuthority,
  type RootedAuthority,
  type SignedCertificate,
  type SignRequest,
} from '../../src/hub/ca/certificate-authority.ts'
import { createIssuer, createRootPem, type Issuer } from '../../src/dev-ca/issuer.ts'
import { BACKDATE_MS } from '../../src/dev-ca/validity.ts'
import {
  type Certificate,
  parseCertificatePem,
  parseCertificatesPem,
} from '../../src/pki/certificates.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Random } from './seeded-random.ts'

export interface SimulatedCa extends Pick<CertificateAuthority, 'sign' | 'revoke'> {
  readonly rootPem: string
  readonly nextRootPem: string
  /** Serials. */
  readonly revoked: ReadonlySet<string>
  /** From now on it signs by the other one. */
  changeRoot(): void
}

export const CERTIFICATE_LIFE_MS = 24 * 3_600_000
const YEAR_MS = 365 * 24 * 3_600_000

export async function createSimulatedCa(
  clock: Clock,
  random: Random,
  lifeMs: number = CERTIFICATE_LIFE_MS,
): Promise<SimulatedCa> {
  const first = await createHierarchy(clock, random, 'Simulated')
  const next = await createHierarchy(clock, random, 'Simulated Next')
  let { issuer, intermediate, root } = first
  const revoked = new Set<string>()
  return {
    revoked,
    rootPem: first.root.pem,
    nextRootPem: next.root.pem,
    changeRoot: () => {
      ;({ issuer, intermediate, root } = next)
    },
    async sign({ csr, commonName, sans }: SignRequest): Promise<SignedCertificate> {
      if (csr.commonName !== commonName) {
        throw new CaError('refused', 'the CSR has another common name', { status: 403 })
      }
      const nowMs = clock.now().getTime()
      const by = { intermediate, rootSha256: root.sha256 }
      const pem = await issuer.issueLeaf({
        publicKeySpki: csr.publicKeySpki,
        commonName,
        sans,
        notBefore: new Date(nowMs - BACKDATE_MS),
        notAfter: new Date(nowMs + lifeMs),
      })
      const leaf = parseCertificatePem(pem)
      return {
        leaf,
        intermediates: [by.intermediate],
        chainPem: leaf.pem + by.intermediate.pem,
        rootSha256: by.rootSha256,
      }
    },
    revoke: async (serial) => {
      if (revoked.has(serial)) return { kind: 'already_revoked' }
      revoked.add(serial)
      return { kind: 'revoked' }
    },
  }
}

/** What a certificate leads to is looked at as the hub's real client does. */
export function connectToCa(ca: SimulatedCa): RootedAuthority {
  let { rootPem } = ca
  return {
    get rootPem() {
      return rootPem
    },
    useRoots: (pem) => {
      rootPem = pem
    },
    sign: async (request) => {
      const signed = await ca.sign(request)
      const roots = parseCertificatesPem(rootPem)
      if (roots.some(({ sha256 }) => sha256 === signed.rootSha256)) return signed
      throw new CaError('wrong_certificate', 'the chain does not lead to a trusted root')
    },
    revoke: (serial, signal) => ca.revoke(serial, signal),
  }
}

interface Hierarchy {
  readonly root: Certificate
  readonly intermediate: Certificate
  readonly issuer: Issuer
}

async function createHierarchy(clock: Clock, random: Random, name: string): Promise<Hierarchy> {
  const nowMs = clock.now().getTime()
  const validity = { notBefore: new Date(nowMs - YEAR_MS), notAfter: new Date(nowMs + YEAR_MS) }
  const [rootKey, key] = await Promise.all([generateEcP256Key(), generateEcP256Key()])
  const rootPem = await createRootPem({ commonName: `${name} Root`, ...validity }, rootKey)
  const rootIssuer = await createIssuer(rootPem, rootKey)
  const intermediatePem = await rootIssuer.issueIntermediate({
    commonName: `${name} Intermediate`,
    publicKeySpki: key.publicKeySpki,
    ...validity,
  })
  // Agents spread their renewals by the serial: the seed has to give the same ones again.
  const nextSerialHex = (): string =>
    ['5e', ...Array.from({ length: 15 }, () => byteHex(random))].join('')
  return {
    root: parseCertificatePem(rootPem),
    intermediate: parseCertificatePem(intermediatePem),
    issuer: await createIssuer(intermediatePem, key, nextSerialHex),
  }
}

function byteHex(random: Random): string {
  return Math.floor(random() * 256)
    .toString(16)
    .padStart(2, '0')
}
