// What a host that enrols is shown at SVC_PUBLIC_URL: its certificate. No request is sent. docs/protocol.md DOC-24.

import { isIP } from 'node:net'
import { connect, getCACertificates } from 'node:tls'
import { describeConnectionFailure } from '../../platform/connection-failure.ts'
import type { PublicUrlFacts } from '../scene.ts'
import { lookupByChild } from './look-at-network.ts'

const CONNECT_MS_MAX = 4000

export function lookAtPublicUrl(url: URL, rootPem: string): Promise<PublicUrlFacts> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return new Promise((resolve) => {
    const deadline = AbortSignal.timeout(CONNECT_MS_MAX)
    const giveUp = (): void =>
      end({ failure: `no answer within ${CONNECT_MS_MAX / 1000} s`, certificate: undefined })
    const end = (facts: Omit<PublicUrlFacts, 'url'>): void => {
      deadline.removeEventListener('abort', giveUp)
      socket.destroy()
      resolve({ url: url.href, ...facts })
    }
    const socket = connect({
      host,
      port: url.port === '' ? 443 : Number(url.port),
      ...(isIP(host) === 0 && { servername: host }),
      ca: [...getCACertificates('default'), ...getCACertificates('system'), rootPem],
      lookup: lookupByChild,
      // It is looked at whatever it is worth; what is wrong with it is told.
      rejectUnauthorized: false,
    })
    deadline.addEventListener('abort', giveUp)
    socket.once('error', (error) =>
      end({ failure: describeConnectionFailure(error), certificate: undefined }),
    )
    socket.once('secureConnect', () => {
      const x509 = socket.getPeerX509Certificate()
      // A code, though its type says Error.
      const doubt = socket.authorizationError as unknown as string | null
      end({
        failure: doubt ?? undefined,
        certificate: x509 && { notBefore: x509.validFromDate, notAfter: x509.validToDate },
      })
    })
  })
}
