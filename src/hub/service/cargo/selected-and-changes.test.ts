// What a host gets by a selector while an act on many entregas is under way: docs/protocol.md FLT, LBL-19, LBL-25.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newAgent, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { makeAgeFile } from '../../../../test/support/made-age-file.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { createFleetChanges } from './fleet-changes.ts'
import { createGiveSelected } from './give-selected.ts'

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }
const ONE = 'age1pq1one' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'
const NOBODY = { agentes: [], roles: [], sans: [] }

interface Fleet {
  readonly store: Store
  readonly admin: AdminOperations
  readonly agents: readonly Agent[]
  /** Its acts on many entregas do something else before that write. */
  readonly interrupted: (beforeWrite: number, work: () => Promise<unknown>) => AdminOperations
}

/** 300 hosts, of which one write takes 250. */
async function withFleet(work: (fleet: Fleet) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  const agents = Array.from({ length: 300 }, (_, at) => newAgent(`web-${100 + at}`))
  await store.write(async (writer) => {
    for (const agent of agents) {
      await writer.insertAgent(agent)
      await writer.setRecipient(agent.id, ONE)
    }
  })
  const interrupted: Fleet['interrupted'] = (beforeWrite, interruption) => {
    let writes = 0
    const busy: Store = {
      reader: store.reader,
      get version() {
        return store.version
      },
      versionOf: (id) => store.versionOf(id),
      close: () => store.close(),
      write: async (write) => {
        writes += 1
        if (writes === beforeWrite) await interruption()
        return store.write(write)
      },
    }
    return openAdmin(store, { changes: createFleetChanges(busy) }).admin
  }
  await work({ store, agents, admin: openAdmin(store).admin, interrupted })
}

async function filesOf({ reader }: Store, { id }: Agent): Promise<string[]> {
  const live = await reader.listLiveDeliveries([id])
  return live.map(({ cargo, version }) => `${cargo.where ?? 'named'} ${version}`)
}

const sealedFor = (agents: readonly Agent[]) => ({
  conteudo: makeAgeFile(agents.length, 10).toString('base64'),
  destinatarios: agents.map(({ id }) => ({ agente: id, fingerprint: ONE_FINGERPRINT })),
  escrow: [],
})

describe('while an act on many entregas is under way', () => {
  test('[LBL-19] [LBL-21] a host gets no file that the act is about to give it', () =>
    withFleet(async ({ store, admin, agents, interrupted }) => {
      // Those of a role are walked by their ids.
      const [first = assert.fail()] = agents.toSorted((one, other) => (one.id < other.id ? -1 : 1))
      const give = createGiveSelected(store, CLOCK, collectLog().log)
      const site = { ...NOBODY, tipo: 'csr_cert', nome: 'site' }
      await admin.createCargo({ ...site, where: 'group=x' })
      const seen: string[][] = []
      // Its carga, the change, the first 250, and then the others.
      const busy = interrupted(4, async () => {
        await admin.labelAgents({ agente: first.hostname, set: { group: 'x' } })
        assert.equal(await give(first), true)
        seen.push(await filesOf(store, first))
      })
      await busy.createCargo({ ...site, roles: ['web'] })
      assert.deepEqual(seen, [[]])
      assert.deepEqual(await filesOf(store, first), ['named 1'])
      assert.equal(await give(first), true)
      assert.deepEqual(await filesOf(store, first), ['named 1'])
    }))

  const changes: [what: string, change: (admin: AdminOperations, agente: string) => unknown][] = [
    ['is revoked', (admin, agente) => admin.revokeAgent({ agente })],
    ['no longer matches', (admin, agente) => admin.labelAgents({ agente, set: { group: 'y' } })],
    [
      'gets another file of that name',
      (admin, agente) => admin.pushToAgent({ agente, nome: 'secret', conteudo: 'x' }),
    ],
  ]
  for (const [what, change] of changes) {
    test(`[LBL-25] the next file is refused when a host ${what} for which it is the first`, () =>
      withFleet(async ({ store, admin, agents, interrupted }) => {
        const [newcomer = assert.fail()] = agents
        await admin.labelAgents({ where: 'role=web', set: { group: 'x' } })
        const made = { ...NOBODY, tipo: 'selado', nome: 'secret', where: 'group=x' }
        const selado = sealedFor(agents.slice(1))
        const { carga_id: carga } = await admin.createCargo({ ...made, selado })
        // After the one that makes the change.
        const busy = interrupted(2, async () => change(admin, newcomer.hostname))
        const update = busy.updateCargo({ carga, selado: sealedFor(agents) })
        await assert.rejects(update, { name: 'AdminRefusal' })
        assert.equal((await admin.showCargo({ carga })).versao, 1)
        const had = await filesOf(store, newcomer)
        assert.equal(had.includes('group=x 2'), false)
      }))
  }
})
