// The hub client of whichever identity is the current one.

import { UserError } from '../platform/errors.ts'
import { readGivenFile } from './given-files.ts'
import type { HubClient, HubClientOptions } from './hub-client.ts'
import type { HubConnections } from './hub-connections.ts'
import type { Identity } from './identity/identity.ts'
import type { HubStreamReply } from './stream/hub-stream.ts'

export interface HubGateway extends HubClient {
  /** From the next request on; requests under way end with the identity that they began with. */
  useIdentity(identity: Identity): Promise<void>
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
  readonly connections: HubConnections
  noteHubTime(this: void, hubNow: Date): void
}

interface InUse {
  readonly client: HubClient
  readonly settings: HubClientOptions
  readonly change: AbortController
  /** Tells it from every other identity and trust. */
  readonly key: string
}

export const CA_BYTES_MAX = 1024 * 1024

export function createHubGateway(options: HubGatewayOptions): HubGateway {
  let current: InUse | undefined

  function inUse(): InUse {
    if (current === undefined) throw new UserError('no_identity', 'no identity in use yet')
    return current
  }

  function client(): HubClient {
    return inUse().client
  }

  return {
    async useIdentity(identity) {
      const trustPem = await readTrust(options.serverCaPath, identity.caPem)
      const key = `${identity.leaf.sha256} ${trustPem}`
      if (current?.key === key) return
      const old = current
      const { certificatePem, key: privateKey } = identity
      const { baseUrl, version, connections, noteHubTime } = options
      const keyPem = privateKey.pem
      const settings = { baseUrl, version, noteHubTime, trustPem, keyPem, certificatePem }
      const change = new AbortController()
      current = { client: connections.createHubClient(settings), settings, change, key }
      old?.change.abort()
      // It waits for what is under way, and nobody waits for it.
      void old?.client.close().catch(() => undefined)
    },
    issueCertificate: (csrPem, deliveryId) => client().issueCertificate(csrPem, deliveryId),
    fetchManifest: () => client().fetchManifest(),
    sendEvent: (event) => client().sendEvent(event),
    sendRecipient: (recipient) => client().sendRecipient(recipient),
    fetchBlob: (cargoId) => client().fetchBlob(cargoId),
    checkBlob: (cargoId) => client().checkBlob(cargoId),
    identityChange: () => inUse().change.signal,
    openStream: (lastEventId) => {
      const { settings, change } = inUse()
      return options.connections.openStream({ ...settings, lastEventId, signal: change.signal })
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
