// A vault of fleet:fill with a hub's services on it, without ports.

import { showLog } from '../src/hub/service/agent/show-log.ts'
import { type AgentServices, createAgentServices } from '../src/hub/agent-services.ts'
import { createFleetCollector } from '../src/hub/metrics/collect-fleet.ts'
import { HUB_METRICS } from '../src/hub/metrics/hub-metrics.ts'
import { openVaultStore } from '../src/hub/open-store.ts'
import type { PerformOperation } from '../src/hub/service/admin/admin-context.ts'
import { createPerformOperation } from '../src/hub/service/admin/perform-operation.ts'
import type { PresentedCertificate } from '../src/hub/service/agent/authenticate-agent.ts'
import {
  createReadAgentNews,
  type ReadAgentNews,
} from '../src/hub/service/agent/read-agent-news.ts'
import { createGiveSelected } from '../src/hub/service/cargo/give-selected.ts'
import { createPollRecorder, type PollRecorder } from '../src/hub/service/agent/record-polls.ts'
import type { Store } from '../src/hub/store/store.ts'
import { unsealVault } from '../src/hub/vault/vault.ts'
import { systemClock } from '../src/platform/clock.ts'
import { invariant } from '../src/platform/errors.ts'
import { createLogging } from '../src/platform/logger.ts'
import { createMetricSet } from '../src/platform/metric-set.ts'
import type { Secret } from '../src/platform/secret.ts'
import type { AgentId, Hostname } from '../src/protocol/identifiers.ts'
import { limitsFrom } from '../src/protocol/hub-limits.ts'
import { NO_ISSUERS } from '../test/fakes/issuer-keys.ts'
import { createFakeAuthority } from '../test/fakes/fake-authority.ts'
import { makeCsrPem } from '../test/support/made-csr.ts'
import { sha256OfCertificate } from './planned-fleet.ts'

const THRESHOLD_MS = 7 * 86_400_000
const REQUESTS = 300
/** Far from now. */
const ENDS = new Date('2100-01-01T00:00:00Z')
const PAGE_ROWS = 1000
/** A prime: one agent after the other is far from the one before. */
const STRIDE = 40_507

export interface ComparedAgent {
  readonly id: AgentId
  readonly hostname: Hostname
  readonly sha256: string
}

export interface ComparedVault extends AsyncDisposable {
  readonly store: Store
  readonly clock: typeof systemClock
  readonly services: AgentServices
  readonly agentCount: number
  /** What agents presented when they opened connections that they still hold. */
  readonly keptConnections: readonly PresentedCertificate[]
  readonly polls: PollRecorder
  readonly perform: PerformOperation
  readonly thresholdMs: number
  readonly collectMetrics: () => Promise<void>
  readonly readNews: ReadAgentNews
  /** Another one each time, all over the fleet. */
  readonly nextAgent: () => ComparedAgent
  /** One of a few hundred, with a CSR of its own. */
  readonly nextRequest: () => { readonly agent: ComparedAgent; readonly csrPem: string }
}

export async function openComparedVault(
  root: string,
  passphrase: Secret<string>,
): Promise<ComparedVault> {
  const store = await openVaultStore(await unsealVault(root, passphrase), { clock: systemClock })
  const clock = systemClock
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const agents = await readAgents(store)
  const polls = createPollRecorder(store, clock, logging.forModule('polls'))
  const services = createAgentServices({
    issuerKeys: NO_ISSUERS,
    config: {
      identityMatch: 'identity',
      serverNames: ['localhost'],
      recoveryGraceMs: 0,
      limits: limitsFrom(() => Number.POSITIVE_INFINITY),
    },
    store,
    authority: createFakeAuthority(clock),
    clock,
    logging,
    polls,
    bundle: () => ({}) as never,
    offerRoots: async () => ({}) as never,
    auditLog: showLog(store.reader, () => undefined),
    newestTree: () => undefined,
    restore: undefined,
    enrolmentTrust: async () => ({}),
    findEventRoom: async () => 'enough',
  })
  const set = createMetricSet(HUB_METRICS)
  let turn = 0
  const nextAgent = (): ComparedAgent => {
    turn += 1
    const agent = agents[(turn * STRIDE) % agents.length]
    invariant(agent !== undefined, 'the fleet has agents')
    return agent
  }
  const requests = Array.from({ length: REQUESTS }, () => {
    const agent = nextAgent()
    return { agent, csrPem: makeCsrPem(agent.hostname) }
  })
  return {
    store,
    clock,
    services,
    agentCount: agents.length,
    keptConnections: requests.map(({ agent }) => presentedBy(agent)),
    polls,
    thresholdMs: THRESHOLD_MS,
    perform: createPerformOperation({
      store,
      clock,
      polls,
      addresses: { enrollUrl: '', mtlsUrl: '' },
      hubNames: ['localhost'],
      contentBytesMax: 1,
      renewalThresholdMs: THRESHOLD_MS,
    }),
    // A collector of its own each time: it asks the store once in five seconds.
    collectMetrics: () =>
      createFleetCollector({
        set,
        reader: store.reader,
        clock,
        thresholdMs: THRESHOLD_MS,
        certificatesMax: 100,
      }).collect(),
    readNews: createReadAgentNews(
      store,
      createGiveSelected(store, clock, logging.forModule('hub.cargas')),
    ),
    nextAgent,
    nextRequest: () => {
      turn += 1
      const request = requests[turn % requests.length]
      invariant(request !== undefined, 'there are requests')
      return request
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}

export function presentedBy({ hostname, sha256 }: ComparedAgent): PresentedCertificate {
  return { commonName: hostname, sha256, serial: '00', notBefore: new Date(0), notAfter: ENDS }
}

/** Those that are not revoked, and the certificate that each presents: its identity in use. */
async function readAgents(store: Store): Promise<ComparedAgent[]> {
  const agents: ComparedAgent[] = []
  let after: string | undefined
  for (;;) {
    const page = (await store.reader.pageAgents({ after, limit: PAGE_ROWS })) ?? []
    for (const { id, hostname, revokedAt, activeIdentity } of page) {
      if (revokedAt !== null || activeIdentity === null) continue
      agents.push({ id, hostname, sha256: sha256OfCertificate(activeIdentity.seq) })
    }
    after = page.at(-1)?.id
    if (page.length < PAGE_ROWS) return agents
  }
}
