// Roots of CAs that never sign anything: what a set is made of, for tests that look at which roots there are.

import { createRootPem } from '../../src/dev-ca/issuer.ts'
import { type Certificate, parseCertificatePem } from '../../src/pki/certificates.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'

const DAY_MS = 86_400_000

/** Valid for ten days up to that instant. */
export async function createSampleRoot(commonName: string, notAfter: Date): Promise<Certificate> {
  const notBefore = new Date(notAfter.getTime() - 10 * DAY_MS)
  const key = await generateEcP256Key()
  return parseCertificatePem(await createRootPem({ commonName, notBefore, notAfter }, key))
}
