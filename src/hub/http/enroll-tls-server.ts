// Port 8446: what port 8444 serves, over TLS with the hub's own certificate and without a proxy. docs/protocol.md SRF-31.

import type { TlsOptions } from 'node:tls'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { findRootOf } from '../../pki/issued-certificate.ts'
import type { ServerCertificate } from '../service/upkeep/server-certificate.ts'
import { createEnrollServer, type EnrollServerOptions } from './enroll-server.ts'
import type { HttpPort } from './http-port.ts'
import { handshakeTimeoutMs, hubTlsOptions, tlsServerOf } from './hub-tls.ts'

export interface EnrollTlsServerOptions extends EnrollServerOptions {
  readonly certificate: ServerCertificate
  readonly onHandshakeFailure?: (() => void) | undefined
}

export interface EnrollTlsServer extends HttpPort {
  /** New connections get the new certificate; open ones go on. */
  replaceCertificate(certificate: ServerCertificate): void
}

export function createEnrollTlsServer(options: EnrollTlsServerOptions): EnrollTlsServer {
  const { limits, certificate } = options
  // Who speaks TLS with the hub is the caller: one that passes TCP on cannot vouch for what stands in it.
  const isTrustedProxy = (): boolean => false
  const https = { ...tlsOptions(certificate), handshakeTimeout: handshakeTimeoutMs(limits) }
  const port = createEnrollServer({ ...options, isTrustedProxy }, { port: 'enroll_tls', https })
  const server = tlsServerOf(port, {
    ...options,
    // A handshake without a client certificate proves nothing.
    isStranger: () => true,
  })
  return {
    ...port,
    replaceCertificate: (renewed) => server.setSecureContext(tlsOptions(renewed)),
  }
}

/** With the root, which a client otherwise has already: one that knows only its fingerprint finds it there. */
function tlsOptions(certificate: ServerCertificate): TlsOptions {
  const chain = parseCertificatesPem(certificate.chainPem)
  const root = findRootOf(chain, parseCertificatesPem(certificate.rootPem))
  return hubTlsOptions({ ...certificate, chainPem: certificate.chainPem + (root?.pem ?? '') })
}
