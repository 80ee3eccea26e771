// What a hub does all day, one operation at a time.

import { randomUUID } from 'node:crypto'
import { requestIdAt } from './filled-log.ts'
import type { Agent } from '../src/hub/domain/agent.ts'
import { listNewlyLate } from '../src/hub/service/upkeep/late-renewals.ts'
import { invariant } from '../src/platform/errors.ts'
import type { AdminOperationName } from '../src/protocol/admin/operations.ts'
import { type ComparedAgent, type ComparedVault, presentedBy } from './compared-vault.ts'
import { SMALL_ROLE } from './planned-fleet.ts'

export interface ComparedOperation {
  readonly name: string
  /** Does it once or more; how often. */
  readonly run: (vault: ComparedVault) => Promise<number>
}

const CONCURRENT = 16
const ADMIN = { actor: 'admin', role: 'admin' } as const
const DAY_MS = 86_400_000

export const POLL: ComparedOperation = {
  name: 'manifest',
  run: once(async (vault) => {
    const agent = await authenticate(vault, vault.nextAgent())
    await vault.services.listManifest(agent)
  }),
}

export const COMPARED_OPERATIONS: readonly ComparedOperation[] = [
  POLL,
  {
    name: 'manifest, kept connections, a renewal in between',
    run: async ({ store, clock, services, nextAgent, keptConnections }) => {
      const now = clock.now()
      await store.write((writer) => writer.setAgentCertificate(nextAgent().id, now.toISOString()))
      for (const presented of keptConnections) {
        const outcome = await services.authenticateAgent(presented)
        invariant(outcome.ok, 'an agent of a filled vault is known')
        await services.listManifest(outcome.agent)
      }
      return keptConnections.length
    },
  },
  {
    name: `event, ${CONCURRENT} at once`,
    run: atOnce(async (vault) => {
      const agent = await authenticate(vault, vault.nextAgent())
      const event = { tipo_evento: 'agent_started', payload: { hostname: agent.hostname } }
      const outcome = await vault.services.recordEvent(agent, {
        ...event,
        request_id: requestIdAt(vault.clock.now().getTime()),
      })
      invariant(outcome.ok, 'an event is recorded')
    }),
  },
  {
    name: `issue, ${CONCURRENT} at once`,
    run: atOnce(async (vault) => {
      const { agent: planned, csrPem } = vault.nextRequest()
      const agent = await authenticate(vault, planned)
      const outcome = await vault.services.issueCertificate(
        agent,
        { csr_pem: csrPem },
        planned.sha256,
      )
      invariant(outcome.ok, 'a certificate is issued')
    }),
  },
  admin('agente show', 'showAgent', (vault) => ({ agente: vault.nextAgent().hostname })),
  admin('agente list --limit 20', 'listAgents', () => ({ limit: 20 })),
  admin('evento list --limit 20', 'listEntries', () => ({ last: 20 })),
  admin('evento list --limit 20 --tipo (common)', 'listEntries', () => ({
    last: 20,
    tipo: 'manifest_pulled',
  })),
  admin('evento list --limit 20 --tipo (rare)', 'listEntries', () => ({
    last: 20,
    tipo: 'carga_created',
  })),
  admin('evento list --limit 20 --agente', 'listEntries', (vault) => ({
    last: 20,
    agente: vault.nextAgent().id,
  })),
  admin('evento list --limit 20 --agente --tipo', 'listEntries', (vault) => ({
    last: 20,
    agente: vault.nextAgent().id,
    tipo: 'cert_renewed',
  })),
  admin('evento list --limit 20 --since 24h', 'listEntries', ({ clock }) => ({
    last: 20,
    since: new Date(clock.now().getTime() - DAY_MS).toISOString(),
  })),
  admin('evento list --limit 20 --tipo --since 60d', 'listEntries', ({ clock }) => ({
    last: 20,
    tipo: 'cert_renewed',
    since: new Date(clock.now().getTime() - 60 * DAY_MS).toISOString(),
  })),
  admin('token list, 20', 'listTokens', () => ({ limit: 20 })),
  admin('entrega list, 20', 'listDeliveries', () => ({ limit: 20 })),
  admin('agente revocations, 20', 'listCaRevocations', () => ({ limit: 20 })),
  admin('status', 'showStatus', () => ({})),
  { name: 'metrics', run: once(({ collectMetrics }) => collectMetrics()) },
  {
    name: 'carga create and remove, a role of 10',
    run: once(async ({ perform }) => {
      const nome = `made-${randomUUID()}`
      const request = { tipo: 'csr_cert', nome, agentes: [], roles: [SMALL_ROLE], sans: [] }
      const created = (await perform('createCargo', request, ADMIN)) as { carga_id: string }
      await perform('removeCargo', { carga: created.carga_id }, ADMIN)
    }),
  },
  {
    name: 'task: late renewals',
    run: once(async ({ store, clock, thresholdMs }) => {
      const until = clock.now()
      const since = new Date(until.getTime() - 30_000)
      await listNewlyLate({ store, clock, thresholdMs }, { since, until })
    }),
  },
  {
    name: 'task: revocations at the CA',
    run: once(async ({ store, clock }) => {
      const page = { now: clock.now(), limit: 50, isRefusedIncluded: false }
      await store.reader.listCaRevocations(page)
    }),
  },
  {
    name: 'task: expired tokens',
    run: once(({ store, clock }) => store.write((writer) => writer.endExpiredTokens(clock.now()))),
  },
  {
    // What comes between two writes when 100,000 agents poll every 30 s.
    name: 'task: polls, an agent of 16,000',
    run: async ({ nextAgent, polls }) => {
      const ids = new Set(Array.from({ length: 16_000 }, () => nextAgent().id))
      for (const id of ids) polls.record(id)
      await polls.flush()
      return ids.size
    },
  },
  {
    name: 'task: news of a stream',
    run: once(async (vault) => {
      await vault.readNews(await authenticate(vault, vault.nextAgent()))
    }),
  },
  {
    name: 'task: the next entries for a webhook',
    run: once(async ({ store: { reader } }) => {
      const last = (await reader.findChainEnd())?.seq ?? 0
      await reader.listEntries({ eventType: 'cert_renewed', afterSeq: last - 1000, limit: 16 })
    }),
  },
]

function once(work: (vault: ComparedVault) => Promise<void>): ComparedOperation['run'] {
  return async (vault) => {
    await work(vault)
    return 1
  }
}

function atOnce(work: (vault: ComparedVault) => Promise<void>): ComparedOperation['run'] {
  return async (vault) => {
    await Promise.all(Array.from({ length: CONCURRENT }, () => work(vault)))
    return CONCURRENT
  }
}

function admin(
  name: string,
  operation: AdminOperationName,
  requestOf: (vault: ComparedVault) => object,
): ComparedOperation {
  return {
    name,
    run: once(async (vault) => void (await vault.perform(operation, requestOf(vault), ADMIN))),
  }
}

/** As for each request over a connection of its own. */
async function authenticate(vault: ComparedVault, planned: ComparedAgent): Promise<Agent> {
  const outcome = await vault.services.authenticateAgent(presentedBy(planned))
  invariant(outcome.ok, 'an agent of a filled vault is known')
  return outcome.agent
}
