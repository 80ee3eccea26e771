// What POST /v1/recover is sent by the holder of an identity, or by somebody who would like to be it.

import { createHash, createPrivateKey, randomUUID } from 'node:crypto'
import { CompactSign } from 'jose'
import type { Identity } from './enrolled-host.ts'
import { HUB_NAME } from './hub.ts'
import { post, type WireReply } from './wire-client.ts'

export interface Recovery {
  readonly host: Pick<Identity, 'certPem' | 'keyPem'>
  readonly csrPem: string
  /** In place of those that are right. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly signingKeyPem?: string
  readonly receipt?: string
}

export async function sendRecovery(
  port: number,
  { host, csrPem, claims = {}, signingKeyPem, receipt }: Recovery,
): Promise<WireReply> {
  const payload = {
    csr_sha256: createHash('sha256').update(derOf(csrPem)).digest('base64url'),
    aud: HUB_NAME,
    iat: Math.floor(Date.now() / 1000),
    jti: randomUUID(),
    ...claims,
  }
  const proof = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256' })
    .sign(createPrivateKey(signingKeyPem ?? host.keyPem))
  const body = { cert_pem: host.certPem, csr_pem: csrPem, proof, receipt }
  return post({ port }, '/v1/recover', body)
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
}
