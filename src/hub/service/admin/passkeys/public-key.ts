/** ES256, EdDSA, RS256 (COSE), the best first. */
export const PASSKEY_ALGORITHMS = [-7, -8, -257] as const

const RSA_BYTES = { min: 256, max: 512 } as const
const RSA_EXPONENT_BYTES_MAX = 4

/**
 * Of a key whose algorithm is one of these: it is verified with each confirmation, so it must not be a dear one, or one of another
 * kind than its algorithm says.
 */
export async function findKeyFault(
  publicKey: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  const { cose, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers')
  const { COSEKEYS, COSECRV } = cose
  const key = decodeCredentialPublicKey(publicKey)
  const algorithm = key.get(COSEKEYS.alg)
  if (cose.isCOSEPublicKeyEC2(key)) {
    const isFit = algorithm === cose.COSEALG.ES256 && key.get(COSEKEYS.crv) === COSECRV.P256
    return isFit ? undefined : 'its key is not on P-256'
  }
  if (cose.isCOSEPublicKeyOKP(key)) {
    const isFit = algorithm === cose.COSEALG.EdDSA && key.get(COSEKEYS.crv) === COSECRV.ED25519
    return isFit ? undefined : 'its key is not one of Ed25519'
  }
  if (!cose.isCOSEPublicKeyRSA(key) || algorithm !== cose.COSEALG.RS256) {
    return 'its key is of another kind than its algorithm'
  }
  const modulusBytes = key.get(COSEKEYS.n)?.length ?? 0
  const exponentBytes = key.get(COSEKEYS.e)?.length ?? 0
  const isFit =
    modulusBytes >= RSA_BYTES.min &&
    modulusBytes <= RSA_BYTES.max &&
    exponentBytes <= RSA_EXPONENT_BYTES_MAX
  return isFit ? undefined : 'its RSA key does not have 2048 to 4096 bits'
}
