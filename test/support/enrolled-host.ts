// A host with an identity, by the wire alone.

import { createCsrPem } from '../../src/pki/csr.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import { HUB_NAME, type TestHub } from './hub.ts'
import { assertOk, post, type Target, type TlsOptions, type WireReply } from './wire-client.ts'

export interface KeyAndCsr {
  readonly keyPem: string
  readonly csrPem: string
}

export interface Identity {
  readonly keyPem: string
  /** Leaf and intermediates. */
  readonly certPem: string
  readonly caPem: string
}

export interface EnrolledHost extends Identity {
  readonly hostname: string
  readonly agentId: string
  /** The mutual TLS port, with this identity. */
  readonly mtls: Target
}

export async function createKeyAndCsr(commonName: string): Promise<KeyAndCsr> {
  const key = await generateEcP256Key()
  return { keyPem: key.pem, csrPem: await createCsrPem(commonName, key) }
}

export async function enrollHost(
  hub: Pick<TestHub, 'ports' | 'createToken'>,
  hostname: string,
  options: {
    readonly role?: string
    readonly reenroll?: boolean
    readonly recipient?: string
    readonly labels?: Readonly<Record<string, string>>
  } = {},
): Promise<EnrolledHost> {
  const { role = 'web', reenroll = false, recipient, labels } = options
  const token = await hub.createToken({ hostname, role, reenroll, ...(labels && { labels }) })
  const { keyPem, csrPem } = await createKeyAndCsr(hostname)
  const body = { token, hostname, role, csr_pem: csrPem, recipient }
  const reply = await post({ port: hub.ports.enroll }, '/v1/enroll', body)
  assertOk(reply)
  const identity = readIdentity(reply, keyPem)
  return {
    ...identity,
    hostname,
    agentId: reply.json['agent_id'] as string,
    get mtls() {
      return withIdentity(hub, identity)
    },
  }
}

/** What enroll and certs/issue answer, with the key that it belongs to. */
export function readIdentity(reply: WireReply, keyPem: string): Identity {
  const { cert_pem: certPem, ca_pem: caPem } = reply.json
  return { keyPem, certPem: certPem as string, caPem: caPem as string }
}

export function withIdentity(
  hub: Pick<TestHub, 'ports'>,
  { keyPem, certPem, caPem }: Identity,
  more: Partial<TlsOptions> = {},
): Target {
  const tls = { ca: caPem, cert: certPem, key: keyPem, servername: HUB_NAME, ...more }
  return { port: hub.ports.mtls, tls }
}
