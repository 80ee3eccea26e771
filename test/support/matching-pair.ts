import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'

/** The key is that of the first certificate. */
export function assertMatchingPair(certificatePem: string, keyPem: string): void {
  assert.ok(new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem)))
}
