// The hub's enroll port: trusted through a given CA file, the fingerprint of its root, or the system's store; reached through
// a proxy where the environment names one.

import { invariant } from '../../platform/errors.ts'
import { systemRoots } from '../../platform/system-roots.ts'
import { ROUTES } from '../../protocol/routes.ts'
import type {
  EnrollRequestBody,
  RecoverRequestBody,
  TpmChallengeRequestBody,
} from '../../protocol/schemas.ts'
import { createHttpConnections, type HttpConnections } from './http-connections.ts'
import { createPinnedConnections } from './pinned-connections.ts'
import { createProxiedConnections } from './proxied-connections.ts'
import { type HubOutcome, type HubRequest, routeUrl, sendToHub } from './request.ts'
import { TlsContexts } from './tls-contexts.ts'
import {
  decodeEnrollReply,
  decodeIssueReply,
  decodeTpmChallenge,
  type EnrollReply,
  type IssueReply,
  type TpmChallenge,
} from './wire.ts'

/** Every method throws HubUnreachableError when there is no usable answer. */
export interface EnrollClient {
  enroll(body: EnrollRequestBody, idempotencyKey: string): Promise<HubOutcome<EnrollReply>>
  challengeTpm(body: TpmChallengeRequestBody): Promise<HubOutcome<TpmChallenge>>
  recover(body: RecoverRequestBody): Promise<HubOutcome<IssueReply>>
  /** Makes the hub say what time it is, and nothing else. */
  askTime(): Promise<void>
  close(): Promise<void>
}

export interface EnrollClientOptions {
  readonly baseUrl: URL
  /** Undefined means the fingerprints, or the system's store. */
  readonly trustPem: string | undefined
  /** Of the roots that may be trusted, SHA-256 in hex. */
  readonly rootFingerprints?: ReadonlySet<string> | undefined
  /** Trusted besides the system's store, where that is trusted. */
  readonly furtherTrustPem?: string | undefined
  readonly httpsProxy: string | undefined
  readonly noProxy: string | undefined
  readonly version: string
  readonly noteHubTime?: (hubNow: Date) => void
}

export function createEnrollClient(options: EnrollClientOptions): EnrollClient {
  const connections = openConnections(options)

  async function send<Value>(
    path: string,
    rest: Pick<HubRequest<Value>, 'method' | 'decode' | 'body' | 'headers'>,
  ): Promise<HubOutcome<Value>> {
    const { outcome } = await sendToHub({
      connections,
      url: routeUrl(options.baseUrl, path),
      userAgent: `svc-agent/${options.version}`,
      noteHubTime: options.noteHubTime,
      ...rest,
    })
    invariant(!('notModified' in outcome), 'nothing on the enroll port is conditional')
    return outcome
  }

  return {
    enroll: (body, idempotencyKey) =>
      send(ROUTES.enroll.path, {
        method: ROUTES.enroll.method,
        headers: { 'idempotency-key': idempotencyKey },
        body,
        decode: decodeEnrollReply,
      }),
    challengeTpm: (body) =>
      send(ROUTES.tpmChallenge.path, {
        method: ROUTES.tpmChallenge.method,
        body,
        decode: decodeTpmChallenge,
      }),
    recover: (body) =>
      send(ROUTES.recover.path, {
        method: ROUTES.recover.method,
        body,
        decode: decodeIssueReply,
      }),
    async askTime() {
      // Whatever it says to that, it says when.
      await send(ROUTES.recover.path, { method: 'GET', decode: () => true })
    },
    close: () => connections.close(),
  }
}

function openConnections(options: EnrollClientOptions): HttpConnections {
  const { baseUrl: url, trustPem, rootFingerprints: fingerprints, httpsProxy, noProxy } = options
  if (trustPem !== undefined || fingerprints === undefined || url.protocol !== 'https:') {
    return createPublicConnections(options)
  }
  return createPinnedConnections({ url, fingerprints, httpsProxy, noProxy }, (rootsPem) =>
    createPublicConnections({ ...options, trustPem: rootsPem }),
  )
}

/** For servers that are known by a public certificate, or by `trustPem` where that is given. */
export function createPublicConnections({
  trustPem,
  furtherTrustPem,
  httpsProxy,
  noProxy,
}: Pick<
  EnrollClientOptions,
  'trustPem' | 'furtherTrustPem' | 'httpsProxy' | 'noProxy'
>): HttpConnections {
  const readTrust = (): string | readonly string[] => trustPem ?? systemAnd(furtherTrustPem)
  return httpsProxy === undefined
    ? createHttpConnections(() => publicTls.open({ ca: readTrust() }))
    : createProxiedConnections({ httpsProxy, noProxy, readTrust })
}

const publicTls = new TlsContexts()
let enlarged: { readonly by: string; readonly store: readonly string[] } | undefined

/** The same list for the same roots, so that connections share what OpenSSL makes of it. */
function systemAnd(furtherPem: string | undefined): readonly string[] {
  if (furtherPem === undefined) return systemRoots()
  if (enlarged?.by !== furtherPem) {
    enlarged = { by: furtherPem, store: [...systemRoots(), furtherPem] }
  }
  return enlarged.store
}
