// What is written into a target's file: of a pair always our own encoding of what was parsed, never bytes that others
// wrote; of a file what was delivered.

import { invariant } from '../../platform/errors.ts'
import {
  type Certificate,
  parseCertificatePem,
  parseCertificatesPem,
} from '../../pki/certificates.ts'
import { parsePrivateKeyPem } from '../../pki/keys.ts'
import type { PemPart, TargetContent } from './target.ts'

export interface PairMaterial {
  readonly leafPem: string
  /** The intermediates, from the leaf's issuer on. */
  readonly chainPems: readonly string[]
  /** PKCS#8. */
  readonly keyPem: string
  /** The root or roots that the agent trusts. */
  readonly caPem: string
}

export interface FileMaterial {
  readonly content: Uint8Array
}

export type Material = PairMaterial | FileMaterial

/** `password` is needed for PKCS#12 alone; throws when it, or the material, cannot be used. */
export async function renderContent(
  content: TargetContent,
  material: Material,
  password?: string,
): Promise<Uint8Array> {
  if (content.format === 'file') {
    invariant('content' in material, 'a target of a file gets a file')
    return material.content
  }
  invariant('leafPem' in material, 'a target of a pair gets a pair')
  if (content.format === 'pem') {
    return Buffer.from(content.parts.map((part) => RENDERERS[part](material)).join(''), 'ascii')
  }
  invariant(password !== undefined, 'PKCS#12 was asked for without a password')
  // It takes a tenth of a second to load, and few targets need it.
  const { encodePkcs12 } = await import('./pkcs12.ts')
  return encodePkcs12(material, password)
}

const RENDERERS: Readonly<Record<PemPart, (material: PairMaterial) => string>> = {
  cert: ({ leafPem }) => parseCertificatePem(leafPem).pem,
  chain: ({ chainPems }) => chainPems.map((pem) => parseCertificatePem(pem).pem).join(''),
  key: ({ keyPem }) => parsePrivateKeyPem(keyPem).pem,
  ca: ({ caPem }) => joined(parseCertificatesPem(caPem)),
}

function joined(certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('')
}
