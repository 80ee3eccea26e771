// Acts on a whole fleet, each while an agent polls, in a process that can be killed: told what to do by its parent, which it
// tells what came of it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { measureCost } from '../../../src/hub/http/connections/measure-cost.ts'
import { createAdminOperations } from '../../../src/hub/service/admin/admin-operations.ts'
import { describeBundle } from '../../../src/hub/service/roots/bundle-status.ts'
import { readManifest } from '../../../src/hub/service/agent/list-manifest.ts'
import type { Store } from '../../../src/hub/store/store.ts'
import { createFleetChanges } from '../../../src/hub/service/cargo/fleet-changes.ts'
import { createRolloutKeeper } from '../../../src/hub/service/rollout/rollout-keeper.ts'
import { createLogging } from '../../../src/platform/logger.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { invariant } from '../../../src/platform/errors.ts'
import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import { measureSlowness } from '../../../test/support/machine-slowness.ts'
import { type FleetDatabase, openFleet, POLLING_HOSTNAME, ROLE } from './fleet-database.ts'

export type FleetAct =
  | 'create'
  | 'update'
  | 'retry'
  | 'politica'
  | 'bundle'
  | 'revoke'
  | 'remove'
  | 'label'
  | 'narrow'
  | 'select'
  | 'declare'
  | 'wave'
  | 'undo'

export interface FleetOrder {
  readonly database: FleetDatabase
  readonly acts: readonly FleetAct[]
  /** Of the carga. */
  readonly name: string
}

export type FleetNews =
  | { readonly kind: 'begins'; readonly act: FleetAct }
  | {
      readonly kind: 'done'
      readonly act: FleetAct
      /** The most CPU of the loop between two polls, and of the process in all. */
      readonly longestMs: number
      readonly cpuMs: number
      /** Of the machine, before and after; see `measureSlowness`. */
      readonly slowness: number
      readonly polls: number
      /** What the agent was told, in the order in which it changed. */
      readonly manifests: readonly string[]
    }

process.on('message', (order: FleetOrder) => void obey(order))

async function obey({ database, acts, name }: FleetOrder): Promise<void> {
  const store = await openFleet(database)
  const admin = createAdminOperations(
    {
      store,
      clock: systemClock,
      addresses: { enrollUrl: '', mtlsUrl: '' },
      hubNames: [],
      contentBytesMax: 1024,
      renewalThresholdMs: 1000,
    },
    'admin',
    'admin',
  )
  let before = measureSlowness()
  for (const act of acts) {
    tell({ kind: 'begins', act })
    const watched = await whilePolling(store, perform(store, admin, act, name))
    const after = measureSlowness()
    tell({ kind: 'done', act, ...watched, slowness: Math.max(before, after) })
    before = after
  }
  await store.close()
  process.disconnect()
}

function tell(news: FleetNews): void {
  process.send?.(news)
}

function perform(
  store: Store,
  admin: AdminOperations,
  act: FleetAct,
  nome: string,
): Promise<unknown> {
  const { reader } = store
  const carga = async (): Promise<string> => {
    const found = (await reader.pageCargoes({ limit: 1000 }))?.find(({ name }) => name === nome)
    invariant(found !== undefined, 'the carga was made before')
    return found.id
  }
  const whom = { agentes: [], roles: [ROLE] }
  const performing: Record<FleetAct, () => Promise<unknown>> = {
    create: () => admin.createCargo({ tipo: 'csr_cert', nome, sans: [], ...whom }),
    update: async () => admin.updateCargo({ carga: await carga() }),
    retry: () => admin.retryDeliveries({}),
    politica: () => admin.setPolicy({ role: ROLE, nome: ROLE, sans_permitidos: [] }),
    bundle: () => describeBundle(reader, systemClock.now(), undefined),
    revoke: () => admin.revokeAgent({ agente: 'host-9.example' }),
    remove: async () => admin.removeCargo({ carga: await carga() }),
    label: () => admin.labelAgents({ where: `role=${ROLE}`, set: { env: 'prod' } }),
    narrow: () => admin.setSelectorPolicy({ nome: 'prod', where: 'env=prod', sans_permitidos: [] }),
    select: async () => {
      const nobody = { agentes: [], roles: [], sans: [] }
      const where = 'env=prod'
      await admin.createCargo({ tipo: 'csr_cert', nome: 'chosen', ...nobody, where })
      await admin.showSelection({ carga: 'chosen' })
    },
    declare: () => declareLargest(store, admin),
    wave: async () => {
      const waves = { waves: ['100%'], soak_seconds: 0, max_failed: '0%' }
      await admin.startRollout({ carga: await carga(), ...waves })
      await keepRollouts(store)
    },
    undo: async () => {
      await admin.undoRollout({ rollout: await carga() })
      await keepRollouts(store)
    },
  }
  return performing[act]()
}

/** As much as one declaration may have, of what is about hosts and of what each host is held to. */
async function declareLargest({ reader }: Store, admin: AdminOperations): Promise<void> {
  const hosts = (await reader.pageHosts({ by: 'all' }, { limit: 1000 })) ?? []
  const many = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, at) => `${prefix}${at}`)
  await admin.applyFleet({
    manager: 'default',
    files_sha256: '0'.repeat(64),
    agentes: hosts.map(({ hostname }) => ({ hostname, labels: { rack: 'r1', zone: 'a' } })),
    politicas: many(100, 'role-').map((role) => ({ role, sans_permitidos: ['*.example.org'] })),
    politicas_seletor: many(99, 'narrow-').map((nome) => ({ nome, where: `${nome}=yes` })),
    cargas: many(199, 'load-').map((nome) => ({ nome, where: `${nome}=yes`, tipo: 'csr_cert' })),
  })
}

/** Until nothing is left to be given or taken back. */
async function keepRollouts(store: Store): Promise<void> {
  const keeper = createRolloutKeeper({
    store,
    changes: createFleetChanges(store),
    clock: systemClock,
    log: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('fleet'),
  })
  while (await keeper.look()) await nextTurn()
}

type Watched = Omit<Extract<FleetNews, { kind: 'done' }>, 'kind' | 'act' | 'slowness'>

/** Time says nothing on a machine that does other work: what the loop is busy with between two polls, it is as CPU. */
async function whilePolling({ reader }: Store, act: Promise<unknown>): Promise<Watched> {
  const agent = await reader.findAgentByHostname(POLLING_HOSTNAME)
  invariant(agent !== undefined, 'the agent that polls is enrolled')
  const start = process.cpuUsage()
  const progress = { hasEnded: false }
  const ended = act.finally(() => {
    progress.hasEnded = true
  })
  const manifests: string[] = []
  let longestMs = 0
  let polls = 0
  let cost = measureCost()
  while (!progress.hasEnded) {
    await systemClock.sleep(1)
    longestMs = Math.max(longestMs, cost())
    cost = measureCost()
    polls += 1
    const { entregas } = await readManifest(reader, agent, {})
    const manifest = entregas.map(({ nome, versao }) => `${nome} ${versao}`).join(' and ')
    if (manifests.at(-1) !== manifest) manifests.push(manifest)
  }
  await ended
  const { user, system } = process.cpuUsage(start)
  return { longestMs, cpuMs: (user + system) / 1000, polls, manifests }
}
