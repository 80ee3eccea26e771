// What a running hub does besides answering: each task goes on by itself until the hub stops.

import type { Clock } from '../platform/clock.ts'
import { describeError } from '../platform/errors.ts'
import type { Logger, Logging } from '../platform/logger.ts'
import { readVersion } from '../platform/version.ts'
import type { CertificateAuthority } from './ca/certificate-authority.ts'
import type { HubConfig } from './config.ts'
import type { AgentStreams } from './http/agent-streams.ts'
import { readWebhookRoots } from './root-file.ts'
import type { RunningRootSetHub } from './root-set-hub.ts'
import type { FleetChanges } from './service/cargo/fleet-changes.ts'
import { watchLateRenewals } from './service/upkeep/late-renewals.ts'
import type { PollRecorder } from './service/agent/record-polls.ts'
import { type CaRevoker, createCaRevoker } from './service/upkeep/revoke-at-ca.ts'
import {
  keepServerCertificateFresh,
  type ServerCertificateDependencies,
} from './service/upkeep/server-certificate.ts'
import type { WebhookControl } from './service/webhooks/webhook-control.ts'
import type { Store } from './store/store.ts'
import { createAddressLookup } from './webhook/address-lookup.ts'
import { openWebhookConnection } from './webhook/webhook-connection.ts'
import { createWebhooks } from './webhook/webhooks.ts'

export interface BackgroundParts {
  readonly config: Pick<HubConfig, 'renewalThresholdMs' | 'webhookCaPath'>
  readonly store: Store
  readonly authority: Pick<CertificateAuthority, 'revoke'>
  readonly clock: Clock
  readonly logging: Logging
  readonly tls: ServerCertificateDependencies
  /** Which has the certificate that is kept fresh. */
  readonly rootSetHub: Pick<RunningRootSetHub, 'serverCertificate' | 'useServerCertificate'>
  readonly polls: PollRecorder
  readonly streams: Pick<AgentStreams, 'run'>
  readonly changes: FleetChanges
}

export interface Background {
  readonly webhooks: WebhookControl
  readonly revoker: Pick<CaRevoker, 'wake'>
  /** Resolves when every task has come to its end. */
  stop(): Promise<void>
}

export async function startBackground(parts: BackgroundParts): Promise<Background> {
  const { config, store, clock, logging, rootSetHub, polls, streams } = parts
  const webhooks = await openWebhooks(parts)
  const revoker = createCaRevoker({
    store,
    authority: parts.authority,
    clock,
    log: logging.forModule('hub.revocations'),
    random,
  })
  const late = { store, clock, thresholdMs: config.renewalThresholdMs }
  const stopping = new AbortController()
  const { signal } = stopping
  const tasks = [
    keepServerCertificateFresh(
      parts.tls,
      () => rootSetHub.serverCertificate,
      (renewed) => rootSetHub.useServerCertificate(renewed),
      signal,
    ),
    polls.run(signal),
    streams.run(signal),
    webhooks.run(signal),
    revoker.run(signal),
    watchLateRenewals(late, logging.forModule('hub.late'), signal),
    finishChanges(parts.changes, logging.forModule('hub.changes')),
  ]
  return {
    webhooks,
    revoker,
    stop: async () => {
      stopping.abort()
      parts.changes.close()
      await Promise.all(tasks)
    },
  }
}

/** What a hub that was killed had in force is written down, and what it was preparing discarded. */
async function finishChanges(changes: FleetChanges, log: Logger): Promise<void> {
  await changes
    .inTurn(async () => undefined)
    .catch((error: unknown) => {
      const fields = { reason: describeError(error) }
      log.warn(fields, 'An earlier change is not cleared away, the next one tries again')
    })
}

// tidy: the hub's one source of chance, handed on from here.
const random = Math.random

async function openWebhooks({ config, store, clock, logging }: BackgroundParts) {
  const rootsPem = await readWebhookRoots(config.webhookCaPath)
  const lookup = createAddressLookup()
  return createWebhooks({
    store,
    clock,
    log: logging.forModule('hub.webhook'),
    random,
    userAgent: `svc-server/${readVersion()}`,
    openConnection: (url) => openWebhookConnection({ url, rootsPem, lookup }),
  })
}
