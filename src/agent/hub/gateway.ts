// The hub client of whichever identity is the current one.

import { UserError } from '../../platform/errors.ts'
import { readGivenFile } from '../files/given-files.ts'
import { AvoidedAddresses } from './avoided-addresses.ts'
import { createHubClient, type HubClient, type HubClientOptions } from './client.ts'
import { createEnrollClient, type EnrollClient, type EnrollClientOptions } from './enroll-client.ts'
import { type HubOutcome, type HubRefusal, HubUnreachableError } from './request.ts'
import { type HubStreamOptions, type HubStreamReply, openHubStream } from './hub-stream.ts'
import type { Bundle } from './wire.ts'

/** How the hub's two ports are reached: over the network, or by whatever stands in for it. */
export interface HubConnections {
  createHubClient(this: void, options: HubClientOptions): HubClient
  createEnrollClient(this: void, options: EnrollClientOptions): EnrollClient
  openStream(this: void, options: HubStreamOptions): Promise<HubStreamReply>
}

export const networkConnections: HubConnections = {
  createHubClient,
  createEnrollClient,
  openStream: openHubStream,
}

/** What the gateway needs of an identity. */
export interface ClientIdentity {
  readonly leaf: { readonly sha256: string }
  readonly certificatePem: string
  readonly key: { readonly pem: string }
  readonly caPem: string
}

export interface HubGateway extends HubClient {
  /** From the next request on; requests under way end with the identity that they began with. */
  useIdentity(identity: ClientIdentity): Promise<void>
  /** Whether the hub is still the hub when these are trusted, and no others; throws HubUnreachableError when not. */
  tryRoots(caPem: string): Promise<void>
  /** Aborts once another identity than now is in use. */
  identityChange(): AbortSignal
  /** Of the identity in use; it ends when that changes. */
  openStream(lastEventId: string | undefined): Promise<HubStreamReply>
}

export interface HubGatewayOptions {
  readonly baseUrl: URL
  /** Undefined means the identity's own root. */
  readonly serverCaPath: string | undefined
  readonly version: string
  /** Of this process. */
  readonly instance: string
  readonly connections: HubConnections
  noteHubTime(this: void, hubNow: Date): void
  readonly noteCheckpoint?: HubClientOptions['noteCheckpoint']
  /** Told what the hub answers to requests of the identity, which is named by its SHA-256. */
  noteAnswer(this: void, sha256: string, answer: { readonly ok: true } | HubRefusal): void
}

interface InUse {
  readonly client: HubClient
  readonly settings: HubClientOptions
  readonly change: AbortController
  /** Tells it from every other identity and trust. */
  readonly key: string
  readonly sha256: string
  /** With a file that names more roots to trust, it may change alone. */
  identityCaPem: string
}

export const CA_BYTES_MAX = 1024 * 1024

export function createHubGateway(options: HubGatewayOptions): HubGateway {
  let current: InUse | undefined
  const avoided = new AvoidedAddresses()

  function inUse(): InUse {
    if (current === undefined) throw new UserError('no_identity', 'no identity in use yet')
    return current
  }

  function client(): HubClient {
    return inUse().client
  }

  async function heard<Answer extends { readonly ok: true } | HubRefusal>(
    asked: Promise<Answer>,
  ): Promise<Answer> {
    const { sha256 } = inUse()
    const answer = await asked
    options.noteAnswer(sha256, answer)
    return answer
  }

  async function askOnce(trustPem: string): Promise<HubOutcome<Bundle>> {
    const { settings } = inUse()
    const once = options.connections.createHubClient({ ...settings, trustPem })
    try {
      return await once.fetchBundle()
    } finally {
      void once.close().catch(() => undefined)
    }
  }

  return {
    async useIdentity(identity) {
      const trustPem = await readTrust(options.serverCaPath, identity.caPem)
      const key = `${identity.leaf.sha256} ${trustPem}`
      if (current?.key === key) {
        current.identityCaPem = identity.caPem
        return
      }
      const old = current
      const { certificatePem, key: privateKey } = identity
      const { baseUrl, version, instance, connections, noteHubTime, noteCheckpoint } = options
      const keyPem = privateKey.pem
      const settings = {
        baseUrl,
        version,
        instance,
        noteHubTime,
        noteCheckpoint,
        avoided,
        trustPem,
        keyPem,
        certificatePem,
      }
      const change = new AbortController()
      current = {
        client: connections.createHubClient(settings),
        settings,
        change,
        key,
        sha256: identity.leaf.sha256,
        identityCaPem: identity.caPem,
      }
      old?.change.abort()
      // It waits for what is under way, and nothing waits for it.
      void old?.client.close().catch(() => undefined)
    },
    issueCertificate: (csrPem, deliveryId) => heard(client().issueCertificate(csrPem, deliveryId)),
    fetchManifest: () => heard(client().fetchManifest()),
    sendEvent: (event) => heard(client().sendEvent(event)),
    sendRecipient: (recipient) => heard(client().sendRecipient(recipient)),
    // A file on the host may name more roots to trust, but not which roots follow the identity's roots.
    fetchBundle: () =>
      options.serverCaPath === undefined ? client().fetchBundle() : askOnce(inUse().identityCaPem),
    async tryRoots(caPem) {
      const outcome = await askOnce(caPem)
      if (!outcome.ok) throw new HubUnreachableError(`the hub answered ${outcome.code}`)
    },
    fetchBlob: (cargoId) => heard(client().fetchBlob(cargoId)),
    fetchLog: () => heard(client().fetchLog()),
    proveConsistency: (from, to) => heard(client().proveConsistency(from, to)),
    fetchReceipt: (shown) => heard(client().fetchReceipt(shown)),
    identityChange: () => inUse().change.signal,
    openStream: (lastEventId) => {
      const { settings, change } = inUse()
      const { signal } = change
      return heard(options.connections.openStream({ ...settings, lastEventId, signal }))
    },
    close: async () => current?.client.close(),
  }
}

/** The PEM text of `SVC_SERVER_CA_PATH`, else what stands in for it. */
export async function readTrust<Fallback>(
  path: string | undefined,
  fallback: Fallback,
): Promise<string | Fallback> {
  if (path === undefined) return fallback
  const text = await readGivenFile(path, CA_BYTES_MAX)
  if (text === undefined) {
    throw new UserError('ca_not_found', `read root CA from ${path}: not found`, {
      hint: 'see SVC_SERVER_CA_PATH',
    })
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new UserError('ca_invalid', `read root CA from ${path}: no PEM certificate in it`)
  }
  return text
}
