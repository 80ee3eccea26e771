import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { NO_POLLS } from '../../../../test/fakes/no-polls.ts'
import { insertAgent, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { makeAgeFile } from '../../../../test/support/made-age-file.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSettableClock } from '../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin, type ToldAdmin } from '../../../../test/support/told-admin.ts'
import { SvcError } from '../../../platform/errors.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { CargoId, DeliveryId, Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { createListManifest } from '../agent/list-manifest.ts'
import { createReadAgentNews } from '../agent/read-agent-news.ts'
import { createGiveSelected } from './give-selected.ts'

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }
const ONE = 'age1pq1one' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'

let store: Store & AsyncDisposable
let hub: ToldAdmin
let web: Agent
let seq: number
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  count += 1
  hub = openAdmin(store)
  web = await insertAgent(store, `web-${count}`)
})

/** Only hosts of this test have it. */
const group = () => `g${count}`
const where = () => `group=${group()}`
const label = (agent: Agent, set: Record<string, string>, remove: string[] = []) =>
  hub.admin.labelAgents({ agente: agent.hostname, set, remove })
const join = (agent: Agent) => label(agent, { group: group() })
const leave = (agent: Agent) => label(agent, {}, ['group'])

async function create(changes: Partial<AdminRequest<'createCargo'>> = {}) {
  const cargo = { tipo: 'csr_cert', nome: 'site', agentes: [], roles: [], sans: [] }
  const { carga_id: id, entregas } = await hub.admin.createCargo({
    ...cargo,
    where: where(),
    ...changes,
  })
  seq = await lastSeq(store.reader)
  hub.told.length = 0
  return { id, hosts: entregas.map(({ hostname }) => hostname) }
}

const give = () => createGiveSelected(store, CLOCK, collectLog().log)

/** The names and versions that the agent is to fetch, as its hub says them after a start. */
async function poll(agent: Agent): Promise<string[]> {
  const current = (await store.reader.findAgentById(agent.id)) ?? assert.fail()
  const { entregas } = await createListManifest(store, NO_POLLS, give())(current)
  return entregas.map(({ nome, versao }) => `${nome} ${versao}`)
}

async function install(agent: Agent): Promise<void> {
  const open = await store.reader.listDeliveries({ agentId: agent.id, statuses: ['pendente'] })
  await store.write(async (writer) => {
    for (const { id } of open) await writer.setDeliveryStatus(id, 'instalada', NOW, null)
  })
}

const sealedFor = (...whom: Agent[]) => {
  const destinatarios = whom.map(({ id }) => ({ agente: id, fingerprint: ONE_FINGERPRINT }))
  return { conteudo: makeAgeFile(whom.length, 10).toString('base64'), destinatarios, escrow: [] }
}
const setRecipient = (agent: Agent) => store.write((writer) => writer.setRecipient(agent.id, ONE))
const selection = (carga: string) => hub.admin.showSelection({ carga })

describe('[LBL-18] a carga that belongs to a selector', () => {
  test('is for those that match when it is made, in its one form', async () => {
    await join(web)
    const { id, hosts } = await create({ where: `group in (${group()}) ` })
    assert.deepEqual(hosts, [web.hostname])
    const shown = await hub.admin.showCargo({ carga: id })
    assert.deepEqual([shown.where, shown.entregas], [where(), 1])
    assert.deepEqual(await poll(web), ['site 1'])
  })

  test('may be for nobody yet', async () => {
    assert.deepEqual((await create()).hosts, [])
  })

  test('is for nobody that is named besides, and takes no selector of what agents say', async () => {
    const cases: [Partial<AdminRequest<'createCargo'>>, string][] = [
      [{ agentes: [web.hostname] }, 'agents_unwanted'],
      [{ roles: ['web'] }, 'agents_unwanted'],
      [{ unassigned: true }, 'unassigned_unwanted'],
      [{ where: 'host.os=linux' }, 'selector_reported'],
      [{ where: 'a=' + ','.repeat(3) }, 'selector_invalid'],
    ]
    for (const [changes, code] of cases) await assert.rejects(create(changes), { code })
  })

  test('[POL-18] is made by an operator with names that the politica of each role names', async () => {
    const sans = [`shop-${count}.example.org`]
    const role = `shop-${count}`
    const request = { tipo: 'csr_cert', nome: 'shop', agentes: [], roles: [], sans }
    const make = (selector: string) =>
      hub.as('operator').createCargo({ ...request, where: selector })
    await assert.rejects(make(where()), { code: 'san_forbidden' })
    await assert.rejects(make(`role=${role}`), { code: 'san_forbidden' })
    await hub.admin.setPolicy({ role, sans_permitidos: sans })
    await make(`role=${role},${where()}`)
    await assert.rejects(make(`role in (${role},web)`), { code: 'san_forbidden' })
  })
})

describe('[LBL-19] a host that comes to match', () => {
  test('is told, gets the carga at its next poll, once, and the log says so', async () => {
    const { id } = await create()
    assert.deepEqual(await poll(web), [])
    await join(web)
    assert.deepEqual(hub.told, [`agent ${web.id}`])
    assert.deepEqual(await Promise.all([poll(web), poll(web)]), [['site 1'], ['site 1']])
    const { entregas } = await hub.admin.findDeliveries({ agente: web.hostname })
    assert.equal(entregas.length, 1)
    const acts = (await readActs(store.reader, seq)).filter(([type]) => type === 'carga_assigned')
    const whom = { agente_id: web.id, hostname: web.hostname }
    const what = { carga_id: id, nome: 'site', versao: 1, where: where() }
    assert.deepEqual(acts, [['carga_assigned', { actor: 'hub', ...what, ...whom }]])
  })

  test('is told by its stream too', async () => {
    await create()
    const readNews = createReadAgentNews(store, give())
    const first = await readNews(web)
    await join(web)
    assert.notEqual((await readNews(web)).manifest, first.manifest)
  })

  test('by another label than the selector names, nobody is told of', async () => {
    await create()
    await label(web, { other: 'x' })
    assert.deepEqual(hub.told, [])
  })

  test('gets at most fifty in one write, and the rest at the next', async () => {
    await join(web)
    await leave(web)
    for (let at = 0; at < 60; at += 1) await create({ nome: `site-${at}` })
    await join(web)
    assert.equal((await poll(web)).length, 50)
    assert.equal((await poll(web)).length, 60)
  })

  test('gets what it has when the hub cannot store the rest, and all once it can', async () => {
    await create()
    await join(web)
    const disk = { isFull: true, refused: 0 }
    const refusing: Store = {
      ...store,
      get version() {
        return store.version
      },
      reader: store.reader,
      versionOf: (id) => store.versionOf(id),
      write: (work) => {
        if (!disk.isFull) return store.write(work)
        disk.refused += 1
        return Promise.reject(new SvcError('store_full', 'the disk is full'))
      },
    }
    const clock = createSettableClock(NOW)
    const { log, lines } = collectLog()
    const giveTo = createGiveSelected(refusing, clock, log)
    const listManifest = createListManifest(refusing, NO_POLLS, giveTo)
    for (let at = 0; at < 20; at += 1) assert.deepEqual((await listManifest(web)).entregas, [])
    assert.deepEqual([disk.refused, lines.length], [1, 1])
    disk.isFull = false
    clock.set(new Date(NOW.getTime() + 5000))
    assert.equal((await listManifest(web)).entregas.length, 1)
  })

  test('gets nothing once it is revoked', async () => {
    await create()
    await join(web)
    await hub.admin.revokeAgent({ agente: web.hostname })
    assert.deepEqual(await poll(web), [])
  })
})

describe('[LBL-20] a host that no longer matches', () => {
  test('keeps what it has, and the next versions of it', async () => {
    await join(web)
    const { id } = await create()
    await install(web)
    await leave(web)
    await hub.admin.updateCargo({ carga: id, sans: ['a.example'] })
    assert.deepEqual(await poll(web), ['site 2'])
  })

  test('gets a version that was only set, as each host does, at its next poll', async () => {
    await join(web)
    const { id } = await create()
    await install(web)
    await store.write(async (writer) => {
      const cargo = (await writer.findCargo(id as CargoId)) ?? assert.fail()
      await writer.updateCargo({ ...cargo, version: 2, sans: ['b.example'] })
    })
    assert.deepEqual(await poll(web), ['site 2'])
    const [old] = await store.reader.listDeliveries({ agentId: web.id, statuses: ['instalada'] })
    const [[, payload] = assert.fail()] = (await readActs(store.reader, seq)).slice(-1)
    assert.equal((payload as { entrega_anterior?: string }).entrega_anterior, old?.id)
  })
})

describe('[LBL-21] who lacks it and who has it without matching', () => {
  test('is shown, with what it waits for', async () => {
    const blocked = await insertAgent(store, `blocked-${count}`)
    await hub.admin.createCargo({
      tipo: 'csr_cert',
      nome: 'SITE',
      agentes: [blocked.hostname],
      roles: [],
      sans: [],
    })
    const old = await insertAgent(store, `old-${count}`)
    await join(old)
    const { id } = await create()
    await leave(old)
    await join(web)
    await join(blocked)
    const { entregas } = await hub.admin.findDeliveries({ agente: old.hostname })
    const host = ({ id: agente_id, hostname }: Agent) => ({ agente_id, hostname })
    assert.deepEqual(await selection(id), {
      carga_id: id,
      nome: 'site',
      where: where(),
      matching: 2,
      waiting_total: 2,
      waiting: [
        { ...host(blocked), reason: 'nome_taken', detail: 'SITE' },
        { ...host(web), reason: 'next_poll', detail: null },
      ],
      unmatched_total: 1,
      unmatched: [{ id: entregas[0]?.id, ...host(old) }],
    })
    assert.deepEqual(await poll(blocked), ['SITE 1'])
  })

  test('an obstacle that goes lets it through', async () => {
    const { entregas } = await hub.admin.createCargo({
      tipo: 'csr_cert',
      nome: 'site',
      agentes: [web.hostname],
      roles: [],
      sans: [],
    })
    await create()
    await join(web)
    assert.deepEqual(await poll(web), ['site 1'])
    await hub.admin.cancelDelivery({ entrega: entregas[0]?.id ?? '' })
    assert.deepEqual(await poll(web), ['site 1'])
    assert.equal((await hub.admin.findDeliveries({ agente: web.hostname })).entregas.length, 1)
  })
})

describe('[LBL-22] the selector of a carga', () => {
  test('is set and taken away in one commit, and everybody is told', async () => {
    const { id } = await create({ where: 'nobody' })
    const select = (to: string | null, versao?: number) =>
      hub.admin.selectCargo({ carga: id, where: to, ...(versao !== undefined && { versao }) })
    await join(web)
    hub.told.length = 0
    seq = await lastSeq(store.reader)
    assert.deepEqual(await select(`group = ${group()}`), {
      carga_id: id,
      nome: 'site',
      where: where(),
    })
    await select(where())
    assert.deepEqual(hub.told, ['all agents'])
    assert.deepEqual(await poll(web), ['site 1'])
    await select(null)
    const types = (await readActs(store.reader, seq)).map(([type, payload]) => [
      type,
      (payload as { where: unknown }).where,
    ])
    assert.deepEqual(types, [
      ['carga_selected', where()],
      ['carga_assigned', where()],
      ['carga_selected', null],
    ])
    await assert.rejects(select(where(), 7), { code: 'versao_changed' })
    assert.deepEqual(await poll(web), ['site 1'])
  })

  test('a push has none', async () => {
    const { entrega_id } = await hub.admin.pushToAgent({
      agente: web.hostname,
      nome: 'motd',
      conteudo: 'x',
    })
    const delivery = await store.reader.findDelivery(entrega_id as DeliveryId)
    const request = { carga: delivery?.cargoId ?? '', where: where() }
    await assert.rejects(hub.admin.selectCargo(request), { code: 'selector_unwanted' })
  })
})

describe('[LBL-23] --prune', () => {
  test('cancels the entregas of those that do not match, and of no other', async () => {
    const old = await insertAgent(store, `old-${count}`)
    await join(web)
    await join(old)
    const { id } = await create()
    await leave(old)
    hub.told.length = 0
    const { nome, entregas } = await hub.as('operator').pruneCargo({ carga: id })
    assert.deepEqual([nome, entregas.map(({ hostname }) => hostname)], ['site', [old.hostname]])
    assert.deepEqual(hub.told, [`agent ${old.id}`])
    assert.deepEqual([await poll(web), await poll(old)], [['site 1'], []])
    assert.deepEqual((await hub.admin.pruneCargo({ carga: id })).entregas, [])
    await join(old)
    assert.deepEqual(await poll(old), ['site 1'])
  })

  test('is for cargas of a selector', async () => {
    const { id } = await create()
    await hub.admin.selectCargo({ carga: id, where: null })
    await assert.rejects(hub.admin.pruneCargo({ carga: id }), { code: 'selector_missing' })
  })

  test('[LBL-24] is the way for one host too: what still matches is not cancelled', async () => {
    await join(web)
    await create()
    const { entregas } = await hub.admin.findDeliveries({ agente: web.hostname })
    const entrega = entregas[0]?.id ?? ''
    await assert.rejects(hub.admin.cancelDelivery({ entrega }), { code: 'still_selected' })
    await leave(web)
    await hub.admin.cancelDelivery({ entrega })
    assert.deepEqual(await poll(web), [])
  })
})

describe('[LBL-25] a sealed carga of a selector', () => {
  test('waits for each host until it is sealed for that too', async () => {
    const late = await insertAgent(store, `late-${count}`)
    for (const agent of [web, late]) await setRecipient(agent)
    await join(web)
    const sealed = { tipo: 'selado', nome: 'secret' }
    const { id, hosts } = await create({ ...sealed, selado: sealedFor(web) })
    assert.deepEqual(hosts, [web.hostname])
    await join(late)
    assert.deepEqual(await poll(late), [])
    const { waiting } = await selection(id)
    const row = { agente_id: late.id, hostname: late.hostname, detail: null }
    assert.deepEqual(waiting, [{ ...row, reason: 'not_sealed' }])
    const { agentes } = await hub.admin.listRecipients({ carga: id, agentes: [], roles: [] })
    assert.deepEqual(
      agentes.map(({ hostname, waits }) => [hostname, waits]),
      [
        [web.hostname, undefined],
        [late.hostname, true],
      ],
    )
    const { entregas } = await hub.admin.updateCargo({ carga: id, selado: sealedFor(web, late) })
    const named = entregas.map(({ hostname }) => hostname).toSorted()
    assert.deepEqual(named, [late.hostname, web.hostname].toSorted())
    assert.deepEqual([await poll(web), await poll(late)], [['secret 2'], ['secret 2']])
    assert.equal((await selection(id)).waiting_total, 0)
  })

  test('is sealed for nobody that does not match, and for all that have it', async () => {
    const other = await insertAgent(store, `other-${count}`)
    for (const agent of [web, other]) await setRecipient(agent)
    await join(web)
    const sealed = { tipo: 'selado', nome: 'secret' }
    const code = 'recipients_incomplete'
    await assert.rejects(create({ ...sealed, selado: sealedFor(web, other) }), { code })
    const { id } = await create({ ...sealed, selado: sealedFor(web) })
    const update = (...whom: Agent[]) =>
      hub.admin.updateCargo({ carga: id, selado: sealedFor(...whom) })
    await assert.rejects(update(web, other), { code })
    await join(other)
    await assert.rejects(update(other), { code })
    await update(web)
    assert.deepEqual([await poll(web), await poll(other)], [['secret 2'], []])
  })
})
