// A hub to which fleets are declared, with one host.

import type { FleetDeclaration } from '../../src/protocol/admin/declared.ts'
import type { AdminReplies, AdminRequest } from '../../src/protocol/admin/operations.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { insertAgent, NOW } from '../store/store-samples.ts'
import { lastSeq } from './recorded-acts.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin, type ToldAdmin } from './told-admin.ts'

export const FILES = { files_sha256: 'f'.repeat(64) }

/** One object of each kind, but for admin tokens. */
export const FLEET: FleetDeclaration = {
  politicas: [{ role: 'web', cert_ttl: 7200, sans_permitidos: ['b.example.org', 'a.example.org'] }],
  join_rules: [
    {
      name: 'images',
      role: 'web',
      pattern: 'web-*.example.org',
      hosts_max: 40,
      labels: { env: 'prod' },
    },
  ],
  webhooks: [{ url: 'https://receiver.example/in?key=abc', tipos: ['agent_revoked'] }],
  agentes: [{ hostname: 'web-1', labels: { env: 'prod', rack: 'r7' } }],
}

type Options = Partial<AdminRequest<'applyFleet'>>

export class FleetHub {
  readonly store: Store & AsyncDisposable
  readonly hub: ToldAdmin
  now: Date = NOW
  /** Lives of certificates that the CA was asked for. */
  tried: number[] = []
  /** Of the last entry before the test. */
  seq = 0

  constructor(store: Store & AsyncDisposable) {
    this.store = store
    this.hub = openAdmin(store, {
      clock: { now: () => this.now, sleep: () => Promise.resolve() },
      tryLifetime: async (seconds) => {
        this.tried.push(seconds)
        return { serial: '0a', revoked: true }
      },
    })
  }

  /** Nothing is declared any more. */
  async restart(): Promise<void> {
    this.now = NOW
    for (const manager of ['default', 'other']) await this.apply({}, { prune: true, manager })
    this.tried = []
    this.seq = await lastSeq(this.store.reader)
  }

  plan(fleet: FleetDeclaration, options: Options = {}): Promise<AdminReplies['planFleet']> {
    return this.hub.admin.planFleet({ manager: 'default', ...fleet, ...options })
  }

  async apply(fleet: FleetDeclaration, options: Options = {}): Promise<AdminReplies['applyFleet']> {
    const { etag } = await this.plan(fleet, options)
    return this.hub.admin.applyFleet({ manager: 'default', ...FILES, ...fleet, etag, ...options })
  }
}

export async function openFleetHub(): Promise<FleetHub> {
  const store = await openTemporaryStore()
  await insertAgent(store, 'web-1')
  return new FleetHub(store)
}

export function actionsOf({ changes }: Pick<AdminReplies['planFleet'], 'changes'>): string[][] {
  return changes.map(({ kind, name, action }) => [kind, name, action])
}
