// What a politica with a selector does wherever the hub asks what holds for a host.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { NO_ISSUERS } from '../../../test/fakes/issuer-keys.ts'
import { createFakeAuthority, type FakeAuthority } from '../../../test/fakes/fake-authority.ts'
import {
  insertAgent,
  insertCargo,
  insertCertificate,
  insertDelivery,
  newAgent,
  newCargo,
  NOW,
} from '../../../test/store/store-samples.ts'
import { collectLog, type LoggedLine } from '../../../test/support/collected-log.ts'
import { makeCsrPem } from '../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { openAdmin, type ToldAdmin } from '../../../test/support/told-admin.ts'
import type { AdminRequest } from '../../protocol/admin/operations.ts'
import type { Agent } from '../domain/agent.ts'
import type { Store } from '../store/store.ts'
import { createEnrollAgent } from './agent/enroll-agent.ts'
import { createIssueCertificate } from './agent/issue-certificate.ts'
import { createGiveSelected } from './cargo/give-selected.ts'
import { refuseForbiddenSans } from './cargo/refuse-agents.ts'
import { groupByRules } from './find-rules.ts'
import { createWaitingReasons } from './waiting-reasons.ts'

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }
const PROD = { env: 'prod' }

let store: Store & AsyncDisposable
let hub: ToldAdmin
let authority: FakeAuthority
let lines: LoggedLine[]

before(async () => {
  store = await openTemporaryStore()
  hub = openAdmin(store)
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  authority = createFakeAuthority(CLOCK)
  for (const { role } of await store.reader.listPolicies()) await hub.admin.removePolicy({ role })
  for (const { name: nome } of await store.reader.listSelectorPolicies()) {
    await hub.admin.removeSelectorPolicy({ nome })
  }
})

function narrow(rest: Partial<AdminRequest<'setSelectorPolicy'>>): Promise<unknown> {
  return hub.admin.setSelectorPolicy({ nome: 'prod', where: 'env=prod', untested: true, ...rest })
}

function dependencies() {
  const { log, lines: logged } = collectLog()
  lines = logged
  return { keys: NO_ISSUERS, store, authority, clock: CLOCK, log, hubNames: ['hub.example'] }
}

async function labelled(hostname: string, set: Record<string, string>): Promise<Agent> {
  const agent = await insertAgent(store, hostname)
  await hub.admin.labelAgents({ agente: hostname, set })
  return agent
}

describe('[POL-22] before there is a host', () => {
  const tokenLife = async (
    request: Partial<AdminRequest<'createToken'>>,
    by: 'admin' | 'operator' = 'admin',
  ) => {
    const asked = { hostname: 'new-1', role: 'web', ...request }
    const { id, expires_at } = await hub.as(by).createToken(asked)
    await hub.admin.revokeToken({ token: id })
    return (Date.parse(expires_at) - NOW.getTime()) / 1000
  }

  test('[POL-5] a token goes by its hostname, its role and its labels', async () => {
    await narrow({ token_ttl_max: 600 })
    await narrow({ nome: 'one', where: 'name=new-2', token_ttl_max: 60 })
    await narrow({ nome: 'db', where: 'role=db', token_ttl_max: 120 })
    assert.deepEqual(
      [
        await tokenLife({}),
        await tokenLife({ labels: PROD }),
        await tokenLife({ hostname: 'new-2', labels: PROD }),
        await tokenLife({ role: 'db', labels: PROD }),
        await tokenLife({ labels: { env: 'stage' }, ttl_seconds: 604_800 }),
      ],
      [3600, 600, 60, 120, 604_800],
    )
    await assert.rejects(tokenLife({ labels: PROD, ttl_seconds: 601 }), {
      code: 'ttl_too_long',
      message: 'a token for new-1 lives 10m at most: policy prod',
    })
    await hub.admin.setPolicy({ role: 'web', nome: 'shop', token_ttl_max: 300 })
    await assert.rejects(tokenLife({ labels: PROD, ttl_seconds: 601 }), {
      message: 'a token for role web lives 5m at most: policy shop',
    })
  })

  test('[LBL-4] a host that is to enrol again keeps its labels, but for those that the token brings', async () => {
    await labelled('again-1', PROD)
    await narrow({ token_ttl_max: 600 })
    const life = (labels?: Record<string, string>) =>
      tokenLife({ hostname: 'again-1', reenroll: true, ...(labels && { labels }) })
    assert.deepEqual([await life(), await life({ env: 'stage' })], [600, 3600])
  })

  test('[JNR-5] a join rule lives no longer than any politica allows that may match a host of its', async () => {
    let count = 0
    const ruleLife = async (rest: Partial<AdminRequest<'createJoinRule'>>) => {
      const rule = { method: 'token', pattern: 'web-*.example', role: 'web', hosts_max: 5 } as const
      const name = `rule-${(count += 1)}`
      const { expires_at } = await hub.admin.createJoinRule({ name, ...rule, ...rest })
      return (Date.parse(expires_at) - NOW.getTime()) / 1000
    }
    await hub.admin.setPolicy({ role: 'web', token_ttl_max: 14_400 })
    await narrow({ token_ttl_max: 7200 })
    await narrow({ nome: 'one', where: 'name=web-7.example,!canary', token_ttl_max: 3600 })
    assert.deepEqual(
      [
        await ruleLife({ labels: { canary: 'yes' } }),
        await ruleLife({ labels: { ...PROD, canary: 'yes' } }),
        await ruleLife({ labels: PROD }),
        await ruleLife({ pattern: 'db-*.example', labels: PROD }),
      ],
      [14_400, 7200, 3600, 7200],
    )
    await assert.rejects(ruleLife({ labels: PROD, ttl_seconds: 3601 }), {
      code: 'ttl_too_long',
      message: 'a join rule for role web lives 1h at most: policy one',
    })
  })
})

describe('[POL-26] an operator has a host enrolled again', () => {
  test('where its role leaves it to operators, and no politica takes it away from the host as it is, or as it gets', async () => {
    await labelled('back-1', PROD)
    await hub.admin.setPolicy({ role: 'web', reenroll: true })
    const operator = hub.as('operator')
    const ask = async (labels?: Record<string, string>) => {
      const request = { hostname: 'back-1', role: 'web', reenroll: true, ...(labels && { labels }) }
      const { id } = await operator.createToken(request)
      await hub.admin.revokeToken({ token: id })
    }
    await narrow({ reenroll: true })
    await ask()
    await narrow({ reenroll: false })
    const refused = {
      code: 'reenroll_forbidden',
      message:
        'a token of role operator may not enrol back-1 again: policy prod, of hosts env=prod, does not let operators do it',
      details: { nome: 'prod' },
    }
    await assert.rejects(ask(), refused)
    await assert.rejects(ask({ env: 'stage' }), refused)
    await narrow({ where: 'env=stage' })
    await ask()
    await assert.rejects(ask({ env: 'stage' }), { code: 'reenroll_forbidden' })
    await hub.admin.removePolicy({ role: 'web' })
    await assert.rejects(ask({ env: 'stage' }), {
      message: 'a token of role operator may not enrol back-1 again: role web has no policy',
    })
  })

  test('[ENR-8] and the hub asks again when the host uses the token', async () => {
    await insertAgent(store, 'back-2')
    await hub.admin.setPolicy({ role: 'web', reenroll: true })
    await narrow({ reenroll: false })
    const request = { hostname: 'back-2', role: 'web', reenroll: true }
    const { token } = await hub.as('operator').createToken(request)
    await hub.admin.labelAgents({ agente: 'back-2', set: PROD })
    const enrol = createEnrollAgent(dependencies())
    const body = { token, hostname: 'back-2', role: 'web', csr_pem: makeCsrPem('back-2') }
    assert.deepEqual(await enrol(body, undefined), { ok: false, refusal: 'agent_already_enrolled' })
    await hub.admin.labelAgents({ agente: 'back-2', remove: ['env'] })
    assert.equal((await enrol(body, undefined)).ok, true)
  })
})

describe('[POL-22] [POL-23] a host that enrols', () => {
  test('is judged by the labels of its token; the log names the politicas, and who shortened its certificate', async () => {
    const cargo = await insertCargo(store, 'node')
    await hub.admin.setPolicy({ role: 'web', nome: 'shop', cert_ttl: 86_400, untested: true })
    await narrow({ cert_ttl: 3600, cargas_automaticas: [cargo.id] })
    await narrow({ nome: 'all', where: 'role=web' })
    const { token } = await hub.admin.createToken({
      hostname: 'fresh-1',
      role: 'web',
      labels: PROD,
    })
    const seq = await lastSeq(store.reader)
    const enrol = createEnrollAgent(dependencies())
    const body = { token, hostname: 'fresh-1', role: 'web', csr_pem: makeCsrPem('fresh-1') }
    assert.equal((await enrol(body, undefined)).ok, true)
    assert.equal(authority.asked[0]?.lifetimeSeconds, 3600)
    const [[, enrolled] = [], [, issued] = []] = await readActs(store.reader, seq)
    const { politica, narrowed_by, cargas_automaticas } = enrolled as Record<string, unknown>
    assert.deepEqual(
      [politica, narrowed_by, cargas_automaticas],
      ['shop', ['all', 'prod'], [cargo.id]],
    )
    const { cert_ttl_by, ...certificate } = issued as Record<string, unknown>
    assert.deepEqual(
      [certificate['politica'], certificate['narrowed_by'], cert_ttl_by],
      ['shop', ['all', 'prod'], 'prod'],
    )
    const shown = await hub.admin.showAgent({ agente: 'fresh-1' })
    assert.deepEqual(shown.politicas, ['shop', 'all', 'prod'])
    assert.deepEqual(
      shown.entregas.map(({ carga_id }) => carga_id),
      [cargo.id],
    )
  })

  test('[POL-14] has only those politicas in the log when its role has none', async () => {
    await narrow({ where: 'role=lone' })
    const { token } = await hub.admin.createToken({ hostname: 'lone-1', role: 'lone' })
    const seq = await lastSeq(store.reader)
    const enrol = createEnrollAgent(dependencies())
    await enrol({ token, hostname: 'lone-1', role: 'lone', csr_pem: makeCsrPem('x') }, undefined)
    const [[, enrolled] = [], [, issued] = []] = await readActs(store.reader, seq)
    const { narrowed_by, cargas_automaticas, ...others } = enrolled as Record<string, unknown>
    assert.deepEqual([narrowed_by, cargas_automaticas, 'politica' in others], [['prod'], [], false])
    assert.equal((issued as { politica: unknown }).politica, null)
  })
})

describe('[POL-10] [POL-21] a certificate for an entrega', () => {
  test('is refused as soon as labels bring a politica that forbids a name, and comes again when they go', async () => {
    const agent = await labelled('site-1', { env: 'stage' })
    const identity = await insertCertificate(store, agent.id)
    const cargo = await insertCargo(store, 'site')
    const delivery = await insertDelivery(store, agent.id, cargo)
    await hub.admin.setPolicy({ role: 'web', nome: 'shop', sans_permitidos: [...cargo.sans] })
    await narrow({ sans_permitidos: ['*.example.org'] })
    const waiting = createWaitingReasons()
    const issue = createIssueCertificate({ ...dependencies(), waiting })
    const ask = async (): Promise<string> => {
      const body = { csr_pem: makeCsrPem('site-1'), entrega_id: delivery.id }
      const outcome = await issue(agent, body, identity.sha256)
      return outcome.ok ? 'issued' : outcome.refusal
    }
    assert.equal(await ask(), 'issued')
    await hub.admin.labelAgents({ agente: 'site-1', set: PROD })
    lines.length = 0
    assert.equal(await ask(), 'csr_cn_mismatch')
    assert.deepEqual(lines, [
      {
        level: 'warn',
        message: 'Names not permitted by a politica with a selector',
        fields: { hostname: 'site-1', role: 'web', politica: 'prod', sans: ['192.0.2.1'] },
      },
    ])
    assert.equal(
      waiting.find(delivery.id)?.text,
      'csr_cn_mismatch: policy prod does not permit 192.0.2.1',
    )
    await hub.admin.setPolicy({ role: 'web', sans_permitidos: ['192.0.2.1'] })
    assert.equal(await ask(), 'csr_cn_mismatch')
    assert.equal(
      waiting.find(delivery.id)?.text,
      'csr_cn_mismatch: policy shop does not permit www.example.org; policy prod does not permit 192.0.2.1',
    )
    await hub.admin.setPolicy({ role: 'web', sans_permitidos: ['*'] })
    await hub.admin.labelAgents({ agente: 'site-1', remove: ['env'] })
    assert.equal(await ask(), 'issued')
  })
})

describe('a carga for many hosts', () => {
  test('[POL-11] is refused for a name that a politica forbids one of them, by create and by update', async () => {
    await labelled('many-1', { env: 'stage' })
    await labelled('many-2', PROD)
    await narrow({ sans_permitidos: ['*.prod.example'] })
    const create = (nome: string, sans: readonly string[]) =>
      hub.admin.createCargo({
        tipo: 'csr_cert',
        nome,
        agentes: ['many-1', 'many-2'],
        roles: [],
        sans: [...sans],
      })
    const refused = {
      code: 'san_forbidden',
      message: 'agent many-2 of role web may not have the name a.example: policy prod',
    }
    await assert.rejects(create('refused', ['a.example']), refused)
    const { carga_id: carga } = await create('made', ['a.prod.example'])
    await assert.rejects(hub.admin.updateCargo({ carga, sans: ['a.example'] }), refused)
  })

  test('[LBL-21] that belongs to a selector waits for a host whose politica forbids a name', async () => {
    const agent = await labelled('waits-1', PROD)
    await narrow({ sans_permitidos: ['*.prod.example'] })
    const cargo = { ...newCargo('of-prod'), sans: ['a.example'], where: 'env=prod' }
    await store.write((writer) => writer.insertCargo(cargo))
    const { clock, log } = dependencies()
    const give = createGiveSelected(store, clock, log)
    const had = async () =>
      (await store.reader.listDeliveries({ agentId: agent.id })).map(({ cargoId }) => cargoId)
    await give(agent)
    assert.deepEqual(await had(), [])
    await hub.admin.labelAgents({ agente: 'waits-1', set: { rack: 'r7' } })
    await narrow({ where: 'env=prod,!rack' })
    await give(agent)
    assert.deepEqual(await had(), [cargo.id])
  })

  test('[POL-18] [POL-26] an operator gives an automatic one only names that its politica names', async () => {
    const cargo = await insertCargo(store, 'given')
    await narrow({ cargas_automaticas: [cargo.id] })
    const operator = hub.as('operator')
    await assert.rejects(operator.updateCargo({ carga: cargo.id, sans: ['x.example'] }), {
      code: 'san_forbidden',
      message:
        'a token of role operator may not give the automatic load given the name x.example: policy prod, of hosts env=prod, does not name it',
      details: { nome: 'prod', san: 'x.example' },
    })
    await narrow({ sans_permitidos: [...cargo.sans, 'x.example'] })
    await operator.updateCargo({ carga: cargo.id, sans: ['x.example'] })
  })

  test('[FLT-7] asks the store as often for 500 hosts as for one', async () => {
    await hub.admin.setPolicy({ role: 'web', sans_permitidos: ['*.example'] })
    await narrow({ sans_permitidos: ['*.prod.example'] })
    await narrow({ nome: 'rack', where: 'rack=r7' })
    const agents = Array.from({ length: 500 }, (_, at) => newAgent(`fleet-${at}`))
    await store.write(async (writer) => {
      for (const agent of agents) await writer.insertAgent(agent)
      await writer.changeLabels(
        agents
          .filter((_, at) => at % 2 === 0)
          .map(({ id }) => ({ agentId: id, set: new Map(Object.entries(PROD)), removed: [] })),
      )
    })
    const asked: string[] = []
    const reader = new Proxy(store.reader, {
      get: (target, name) => {
        asked.push(String(name))
        return Reflect.get(target, name, target) as unknown
      },
    })
    const countOf = async (some: readonly Agent[]): Promise<number> => {
      asked.length = 0
      await refuseForbiddenSans(reader, some, ['a.prod.example'])
      return asked.length
    }
    assert.equal(await countOf(agents), await countOf(agents.slice(0, 1)))
    const groups = await groupByRules(reader, agents)
    assert.deepEqual(
      groups.map(({ rules, hosts }) => [rules.narrowing.map(({ name }) => name), hosts.length]),
      [
        [['prod'], 250],
        [[], 250],
      ],
    )
  })
})
