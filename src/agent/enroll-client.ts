// The hub's enroll port: trusted through a given CA file, else through the system's store; reached through a proxy
// where the environment names one.

import { getCACertificates, rootCertificates } from 'node:tls'
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { invariant } from '../platform/errors.ts'
import { ROUTES } from '../protocol/routes.ts'
import type { EnrollRequestBody } from '../protocol/schemas.ts'
import { CONNECT_TIMEOUT_MS, type HubOutcome, routeUrl, sendToHub } from './hub-request.ts'
import { decodeEnrollReply, type EnrollReply } from './wire.ts'

export interface EnrollClient {
  /** Throws HubUnreachableError when there is no usable answer. */
  enroll(body: EnrollRequestBody, idempotencyKey: string): Promise<HubOutcome<EnrollReply>>
  close(): Promise<void>
}

export interface EnrollClientOptions {
  readonly baseUrl: URL
  /** Undefined means the system's store. */
  readonly trustPem: string | undefined
  readonly httpsProxy: string | undefined
  readonly noProxy: string | undefined
  readonly version: string
}

export function createEnrollClient(options: EnrollClientOptions): EnrollClient {
  const dispatcher = createDispatcher(options)
  return {
    async enroll(body, idempotencyKey) {
      const { outcome } = await sendToHub({
        dispatcher,
        url: routeUrl(options.baseUrl, ROUTES.enroll.path),
        method: ROUTES.enroll.method,
        userAgent: `svc-agent/${options.version}`,
        headers: { 'idempotency-key': idempotencyKey },
        body,
        decode: decodeEnrollReply,
      })
      invariant(!('notModified' in outcome), 'an enrolment is not conditional')
      return outcome
    },
    close: () => dispatcher.close(),
  }
}

function createDispatcher({ trustPem, httpsProxy, noProxy }: EnrollClientOptions): Dispatcher {
  const ca = trustPem ?? systemCertificates()
  const connect = { ca, timeout: CONNECT_TIMEOUT_MS }
  if (httpsProxy === undefined) return new Agent({ allowH2: false, connect })
  return new EnvHttpProxyAgent({
    httpsProxy,
    // Given even when empty: otherwise undici would read the environment behind our back.
    httpProxy: '',
    noProxy: noProxy ?? '',
    allowH2: false,
    connect,
    requestTls: connect,
  })
}

/** A host without a certificate store has nothing better than the roots that Node carries. */
function systemCertificates(): string[] {
  const system = getCACertificates('system')
  return system.length > 0 ? system : [...rootCertificates]
}
