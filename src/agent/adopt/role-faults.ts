// Whether a file is what a configuration calls it. A configuration may be written by others than root, and may name any
// file of the host: one that holds anything else than this certificate and its key is never replaced.

import type { Certificate } from '../../pki/certificates.ts'
import type { GroupedFile } from './group-uses.ts'

/** OpenSSL writes the curve before a key on it. */
const CURVE = 'EC PARAMETERS'

/** Why its target would destroy something. `leaf` is the certificate that all of the files are of. */
export function faultOfRole(
  { present, content }: GroupedFile,
  leaf: Certificate | undefined,
): string | undefined {
  const { path, labels, certificates, privateKey } = present
  const wantsKey = content.includes('key')
  const wantsCertificates = content.includes('cert') || content.includes('chain')
  const keys = labels.filter((label) => label.endsWith('PRIVATE KEY'))
  if (present.hasOtherText) return `${path} holds more than PEM`
  const odd = labels.find((label) => {
    if (label === 'CERTIFICATE') return !wantsCertificates
    return !wantsKey || (label !== CURVE && !keys.includes(label))
  })
  if (odd !== undefined) return `${path} holds a block that is not expected there: ${odd}`
  if (wantsCertificates && certificates.length === 0) return `${path} holds no certificate`
  if (content.includes('cert') && certificates[0]?.sha256 !== leaf?.sha256) {
    return `${path} holds another certificate than the files beside it`
  }
  if (!wantsKey) return undefined
  if (keys.length !== 1) return `${path} holds ${keys.length} private keys, not one`
  if (privateKey === undefined) return `${path} holds a key that cannot be read without a password`
  if (leaf?.x509.checkPrivateKey(privateKey) === true) return undefined
  return `${path} holds the key of another certificate`
}
