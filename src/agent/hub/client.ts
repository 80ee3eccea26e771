// The hub's mTLS port as the agent sees it. One connection pool an identity: a kept connection goes on with the
// certificate that it was opened with, so a new identity needs a new pool.

import { hash } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { invariant } from '../../platform/errors.ts'
import type { CargoId, DeliveryId, Recipient } from '../../protocol/identifiers.ts'
import { IDENTITY_RECEIPT_HEADER, ROUTES } from '../../protocol/routes.ts'
import type { EventRequestBody, RecipientRequestBody } from '../../protocol/schemas.ts'
import type { AvoidedAddresses } from './avoided-addresses.ts'
import { createHttpConnections, type HttpHeaders } from './http-connections.ts'
import {
  type HubOutcome,
  type HubReply,
  type HubRequest,
  routeUrl,
  sendForBytes,
  sendToHub,
} from './request.ts'
import { userAgentOf } from './user-agent.ts'
import { TlsContexts } from './tls-contexts.ts'
import {
  type Bundle,
  decodeBundleReply,
  decodeConsistencyReply,
  decodeEventReply,
  decodeIssueReply,
  decodeLogReply,
  decodeManifestReply,
  decodeReceiptReply,
  decodeRecipientReply,
  type EventReceipt,
  type IssueReply,
  type LogReply,
  type Manifest,
} from './wire.ts'

/** Every method throws HubUnreachableError when there is no usable answer. */
export interface HubClient {
  /** With a delivery the certificate is for that delivery, without one it is an identity. */
  issueCertificate(csrPem: string, deliveryId?: DeliveryId): Promise<HubOutcome<IssueReply>>
  fetchManifest(): Promise<HubOutcome<Manifest>>
  sendEvent(event: EventRequestBody): Promise<HubOutcome<EventReceipt>>
  /** The recipient to seal for, when this host is to read a file. */
  sendRecipient(recipient: Recipient): Promise<HubOutcome<Recipient>>
  /** The roots that the hub has in force. */
  fetchBundle(): Promise<HubOutcome<Bundle>>
  fetchBlob(cargoId: CargoId): Promise<HubOutcome<Blob>>
  /** What the hub has signed of its log. */
  fetchLog(): Promise<HubOutcome<LogReply>>
  /** That the log with `from` entries is the beginning of the log with `to`. */
  proveConsistency(from: number, to: number): Promise<HubOutcome<readonly Buffer[]>>
  /** What the hub signs of this identity. `shown` is what it signed before, for a hub that does not know the identity. */
  fetchReceipt(shown?: string): Promise<HubOutcome<string>>
  close(): Promise<void>
}

/** The content of a cargo that is a file. */
export interface Blob {
  readonly bytes: Uint8Array
  /** Of the bytes that came, lower-case hex. */
  readonly sha256: string
  /** Whether these are the bytes that the hub meant to send. */
  readonly isIntact: boolean
}

export interface HubClientOptions {
  readonly baseUrl: URL
  readonly keyPem: string
  /** Leaf and intermediates. */
  readonly certificatePem: string
  /** What the hub's certificate must chain to. */
  readonly trustPem: string
  readonly version: string
  readonly instance?: string | undefined
  noteHubTime(this: void, hubNow: Date): void
  /** Told of the checkpoint that an answer shows, a signed note; undefined of a good one that shows none. */
  readonly noteCheckpoint?: ((note: string | undefined) => void) | undefined
  /** Of all connections to the hub. */
  readonly avoided?: AvoidedAddresses | undefined
}

/** Far above what a hub takes from its operators. */
const BLOB_BYTES_MAX = 16 * 1024 * 1024
/** Room for the largest one over a slow line. */
const BLOB_TIMEOUT_MS = 120_000
const BLOB_TYPE = 'application/octet-stream'

/** One member of a dictionary of RFC 9530. */
const SHA256_MEMBER = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):\s*(?=$|,)/

export function createHubClient(options: HubClientOptions): HubClient {
  const connections = createHttpConnections(
    () => openIdentityTls(options),
    undefined,
    options.avoided,
  )
  const manifestCache = new ManifestCache()

  const requestTo = ({ method, path }: (typeof ROUTES)[keyof typeof ROUTES]) => ({
    connections,
    url: routeUrl(options.baseUrl, path),
    method,
    userAgent: userAgentOf(options),
    noteHubTime: options.noteHubTime,
    noteCheckpoint: options.noteCheckpoint,
  })

  function send<Value>(
    route: (typeof ROUTES)[keyof typeof ROUTES],
    rest: Pick<HubRequest<Value>, 'decode' | 'body' | 'headers'>,
  ): Promise<HubReply<Value>> {
    return sendToHub({ ...requestTo(route), ...rest })
  }

  return {
    async issueCertificate(csrPem, deliveryId) {
      const body = {
        csr_pem: csrPem,
        ...(deliveryId === undefined ? {} : { entrega_id: deliveryId }),
      }
      return answered(await send(ROUTES.issue, { body, decode: decodeIssueReply }))
    },
    async fetchManifest() {
      const headers = manifestCache.requestHeaders()
      return manifestCache.outcomeOf(
        await send(ROUTES.manifest, { headers, decode: decodeManifestReply }),
      )
    },
    async sendEvent(event) {
      return answered(await send(ROUTES.events, { body: event, decode: decodeEventReply }))
    },
    async sendRecipient(recipient) {
      const body: RecipientRequestBody = { recipient }
      return answered(await send(ROUTES.recipient, { body, decode: decodeRecipientReply }))
    },
    async fetchBundle() {
      return answered(await send(ROUTES.bundle, { decode: decodeBundleReply }))
    },
    async fetchBlob(cargoId) {
      const { path } = ROUTES.blob
      const reply = await sendForBytes({
        ...requestTo(ROUTES.blob),
        url: routeUrl(options.baseUrl, path.replace(':id', encodeURIComponent(cargoId))),
        accept: BLOB_TYPE,
        bytesMax: BLOB_BYTES_MAX,
        timeoutMs: BLOB_TIMEOUT_MS,
        decode: decodeBlob,
      })
      return answered(reply)
    },
    async fetchLog() {
      return answered(await send(ROUTES.log, { decode: decodeLogReply }))
    },
    async proveConsistency(from, to) {
      const { path } = ROUTES.consistency
      const url = routeUrl(options.baseUrl, path)
      url.search = new URLSearchParams({ from: String(from), to: String(to) }).toString()
      return answered(
        await sendToHub({
          ...requestTo(ROUTES.consistency),
          url,
          decode: decodeConsistencyReply,
        }),
      )
    },
    async fetchReceipt(shown) {
      const header = shown && Buffer.from(shown).toString('base64')
      const headers = header === undefined ? {} : { [IDENTITY_RECEIPT_HEADER]: header }
      return answered(await send(ROUTES.receipt, { headers, decode: decodeReceiptReply }))
    },
    close: () => connections.close(),
  }
}

const identityTls = new TlsContexts()

/** Of all connections of this identity: requests and stream. */
export function openIdentityTls({
  keyPem,
  certificatePem,
  trustPem,
}: Pick<HubClientOptions, 'keyPem' | 'certificatePem' | 'trustPem'>): SecureContext {
  return identityTls.open({ key: keyPem, cert: certificatePem, ca: trustPem })
}

/** Asks for the manifest only when it has changed (RFC 9110, `If-None-Match`). */
class ManifestCache {
  #last: { readonly etag: string; readonly manifest: Manifest } | undefined

  requestHeaders(): Record<string, string> {
    return this.#last === undefined ? {} : { 'if-none-match': this.#last.etag }
  }

  outcomeOf({ outcome, etag, bundleNumber }: HubReply<Manifest>): HubOutcome<Manifest> {
    if ('notModified' in outcome) {
      invariant(
        this.#last !== undefined,
        'a manifest that was asked for whole came as not modified',
      )
      const value = { ...this.#last.manifest, bundleNumber }
      return { ok: true, value, hubTime: outcome.hubTime }
    }
    if (!outcome.ok) return outcome
    this.#last = etag === undefined ? undefined : { etag, manifest: outcome.value }
    return { ...outcome, value: { ...outcome.value, bundleNumber } }
  }
}

function answered<Value>({ outcome }: HubReply<Value>): HubOutcome<Value> {
  invariant(!('notModified' in outcome), 'it was not asked for conditionally')
  return outcome
}

/** Undefined when the reply says nothing of its digest: then it is not the hub that answered. */
function decodeBlob(bytes: Buffer, headers: HttpHeaders): Blob | undefined {
  const header = headers['repr-digest']
  const [, promised] =
    SHA256_MEMBER.exec(Array.isArray(header) ? header.join(',') : (header ?? '')) ?? []
  if (promised === undefined) return undefined
  const digest = hash('sha256', bytes, 'buffer')
  return {
    bytes,
    sha256: digest.toString('hex'),
    isIntact: digest.equals(Buffer.from(promised, 'base64')),
  }
}
