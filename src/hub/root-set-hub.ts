// What of a running hub hangs on the roots: the CA's client, its own certificate, the mutual TLS port.

import { describeError, SvcError } from '../platform/errors.ts'
import { parseCertificatesPem } from '../pki/certificates.ts'
import { findRootOf } from '../pki/issued-certificate.ts'
import type { RootedAuthority } from './ca/certificate-authority.ts'
import type { MtlsServer } from './http/mtls-server.ts'
import {
  renewServerCertificate,
  type ServerCertificate,
  type ServerCertificateDependencies,
} from './service/upkeep/server-certificate.ts'
import { storeRoots } from './service/upkeep/server-pair-files.ts'
import type { RootSetHub } from './service/roots/update-root-set.ts'
import type { Store } from './store/store.ts'

export interface RootSetHubParts {
  readonly authority: Pick<RootedAuthority, 'useRoots' | 'rootPem'>
  readonly tls: ServerCertificateDependencies
  readonly mtls: Pick<MtlsServer, 'replaceCertificate' | 'replaceRoots' | 'cutConnectionsUnless'>
  readonly certificate: ServerCertificate
  readonly store: Store
  readonly vaultRoot: string
}

type CertificateHolder = Pick<MtlsServer, 'replaceCertificate'>

export interface RunningRootSetHub extends RootSetHub {
  /** The one that new connections get. */
  readonly serverCertificate: ServerCertificate
  /** From the next connection on. */
  useServerCertificate(this: void, certificate: ServerCertificate): void
  /** Another port gets that one, and each that follows. */
  showOn(port: CertificateHolder): void
}

export function createRootSetHub({
  authority,
  tls,
  mtls,
  certificate,
  store,
  vaultRoot,
}: RootSetHubParts): RunningRootSetHub {
  let current = certificate
  const holders: CertificateHolder[] = [mtls]
  const useServerCertificate = (renewed: ServerCertificate): void => {
    const roots = parseCertificatesPem(authority.rootPem)
    // The CA may have signed it before the root went, and it came after.
    if (findRootOf(parseCertificatesPem(renewed.chainPem), roots) === undefined) {
      throw new SvcError('server_certificate_root', 'it leads to a root that is gone')
    }
    current = renewed
    for (const holder of holders) holder.replaceCertificate(renewed)
  }
  return {
    get serverCertificate() {
      return current
    },
    useServerCertificate,
    showOn: (port) => {
      holders.push(port)
      port.replaceCertificate(current)
    },
    serverRoot: (roots) => findRootOf(parseCertificatesPem(current.chainPem), roots),
    renewServerCertificate: async () => useServerCertificate(await renewServerCertificate(tls)),
    useForAuthority: (rootPem) => authority.useRoots(rootPem),
    useForAgents: async ({ pem }, { isAnyRemoved }) => {
      mtls.replaceRoots(pem)
      if (isAnyRemoved) {
        const staying = new Set(parseCertificatesPem(pem).map(({ sha256 }) => sha256))
        await mtls.cutConnectionsUnless(async (sha256) => {
          const root = (await store.reader.findCertificate(sha256))?.rootSha256
          return typeof root === 'string' && staying.has(root)
        })
      }
      await storeRoots(vaultRoot, pem).catch((error: unknown) => {
        // Only a copy, for people; the next start writes it.
        tls.log.warn({ reason: describeError(error) }, 'Copy of the roots not stored')
      })
    },
  }
}
