// A private key that somebody else wrote, before OpenSSL sees it: of some types, DSA for one, it works out the public
// half as it reads, with numbers as long as it is given, and is done in years.

const BLOCK =
  /^\s*-----BEGIN PRIVATE KEY-----\n([A-Za-z0-9+/=\s]{1,8192})-----END PRIVATE KEY-----\s*$/

/** PKCS#8 (RFC 5208), version 0, and the key's algorithm: RSA, EC on P-256 or P-384, Ed25519. */
const LENGTH = '(?:[0-7].|81..|82....)'
const KNOWN = new RegExp(
  `^30${LENGTH}02010030${LENGTH}(?:${[
    '06092a864886f70d010101',
    '06072a8648ce3d020106082a8648ce3d030107',
    '06072a8648ce3d020106052b81040022',
    '06032b6570',
  ].join('|')})`,
)

/** The one PEM block, encoded again, so that OpenSSL parses exactly what was checked; undefined for anything else. */
export function findCheapKeyPem(text: string): string | undefined {
  const body = BLOCK.exec(text)?.[1]
  if (body === undefined) return undefined
  const der = Buffer.from(body, 'base64')
  if (!KNOWN.test(der.toString('hex', 0, 64))) return undefined
  const lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`
}
