// Connections to a server that is known only by the fingerprint of its root. docs/protocol.md AGT-60.

import { Agent, request } from 'node:https'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { classifyConnectionFailure } from '../../platform/connection-failure.ts'
import { encodePem } from '../../pki/pem.ts'
import { CONNECT_TIMEOUT_MS, type HttpConnections } from './http-connections.ts'

export interface PinnedServer {
  readonly url: URL
  /** SHA-256 of the DER of each root that may be trusted, lower-case hex. */
  readonly fingerprints: ReadonlySet<string>
  readonly httpsProxy: string | undefined
  readonly noProxy: string | undefined
}

/** What the code of an error says to `classifyConnectionFailure`. */
class WrongRootError extends Error {
  override name = 'WrongRootError'
  readonly code = 'ERR_WRONG_ROOT'
}

/**
 * A first connection, on which nothing is sent, shows which certificates the server has. The root among them is known by its
 * fingerprint, and it does not matter who shows it; the connections that `connect` makes trust that root alone, so that the server still has to
 * prove that it has a certificate for its name below that root.
 */
export function createPinnedConnections(
  server: PinnedServer,
  connect: (rootsPem: string) => HttpConnections,
): HttpConnections {
  let opened: HttpConnections | undefined
  return {
    async send(options) {
      opened ??= connect(await findPinnedRoots(server))
      try {
        return await opened.send(options)
      } catch (error) {
        if (classifyConnectionFailure(error) !== 'untrusted') throw error
        const why = 'the certificate of the server does not lead to the root of --ca-fingerprint'
        throw new WrongRootError(why, { cause: error })
      }
    },
    close: async () => opened?.close(),
    destroy: async () => opened?.destroy(),
  }
}

async function findPinnedRoots(server: PinnedServer): Promise<string> {
  const roots = (await showCertificates(server)).filter(({ fingerprint256 }) =>
    server.fingerprints.has(fingerprint256.replaceAll(':', '').toLowerCase()),
  )
  if (roots.length > 0) return roots.map(({ raw }) => encodePem(raw, 'CERTIFICATE')).join('')
  throw new WrongRootError(
    'the server shows no certificate with the fingerprint of --ca-fingerprint',
  )
}

/** What the server shows in a handshake that trusts everybody, and after which nothing is said. */
function showCertificates({
  url,
  httpsProxy,
  noProxy,
}: PinnedServer): Promise<readonly DetailedPeerCertificate[]> {
  const proxyEnv = { HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy }
  const agent = new Agent(httpsProxy === undefined ? {} : { proxyEnv })
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      agent,
      rejectUnauthorized: false,
      signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS),
    })
    asked.on('error', reject)
    // It is never ended, so that nothing of it is sent.
    asked.on('socket', (socket) => {
      const tls = socket as TLSSocket & { readonly secureConnecting: boolean }
      const look = (): void => {
        const chain = chainOf(tls.getPeerCertificate(true))
        // Not before our part of the handshake is sent: half of a handshake is a failure at the hub.
        tls.end(() => {
          resolve(chain)
          asked.destroy()
        })
      }
      if (tls.secureConnecting) tls.once('secureConnect', look)
      else look()
    })
  }).finally(() => agent.destroy()) as Promise<readonly DetailedPeerCertificate[]>
}

/** Each is followed by its issuer; a root is its own. */
function chainOf(leaf: DetailedPeerCertificate): DetailedPeerCertificate[] {
  const chain = new Set<DetailedPeerCertificate>()
  let next: DetailedPeerCertificate | undefined = leaf
  while (next?.raw !== undefined && !chain.has(next)) {
    chain.add(next)
    next = next.issuerCertificate
  }
  return [...chain]
}
