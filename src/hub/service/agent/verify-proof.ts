import { X509Certificate } from 'node:crypto'
import { compactVerify } from 'jose'
import { Compile } from 'typebox/compile'
import { RecoveryClaims } from '../../../protocol/schemas.ts'

const claimsValidator = Compile(RecoveryClaims)

/** What a recovery's proof says; undefined when it is not signed by the key of `certificate`, which is one of the CA's, DER. */
export async function verifyProof(
  proof: string,
  certificate: Buffer,
): Promise<RecoveryClaims | undefined> {
  try {
    const { publicKey } = new X509Certificate(certificate)
    const { payload } = await compactVerify(proof, publicKey, { algorithms: ['ES256'] })
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
    return claimsValidator.Check(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
