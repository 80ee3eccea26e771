import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent, NOW } from '../../../../../test/store/store-samples.ts'
import { lastSeq, readActs } from '../../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../../test/support/temporary-store.ts'
import { openAdmin, type ToldAdmin } from '../../../../../test/support/told-admin.ts'
import type { FleetDeclaration } from '../../../../protocol/admin/declared.ts'
import type { AdminRequest } from '../../../../protocol/admin/operations.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'

const FILES = { files_sha256: 'f'.repeat(64) }
const FLEET: FleetDeclaration = {
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

let store: Store & AsyncDisposable
let hub: ToldAdmin
let now: Date
let tried: number[]
let seq: number

before(async () => {
  store = await openTemporaryStore()
  await insertAgent(store, 'web-1')
  hub = openAdmin(store, {
    clock: { now: () => now, sleep: () => Promise.resolve() },
    tryLifetime: async (seconds) => {
      tried.push(seconds)
      return { serial: '0a', revoked: true }
    },
  })
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  now = NOW
  await apply({}, { prune: true })
  await apply({}, { prune: true, manager: 'other' })
  tried = []
  seq = await lastSeq(store.reader)
})

type Options = Partial<AdminRequest<'applyFleet'>>

const plan = (fleet: FleetDeclaration, options: Options = {}) =>
  hub.admin.planFleet({ manager: 'default', ...fleet, ...options })

async function apply(fleet: FleetDeclaration, options: Options = {}) {
  const { etag } = await plan(fleet, options)
  return hub.admin.applyFleet({ manager: 'default', ...FILES, ...fleet, etag, ...options })
}

const actionsOf = ({ changes }: Awaited<ReturnType<typeof plan>>) =>
  changes.map(({ kind, name, action }) => [kind, name, action])

describe('a declared fleet', () => {
  test('[DCL-4] [DCL-8] is made by one commit and one entry, and is then as declared', async () => {
    assert.deepEqual(actionsOf(await plan(FLEET)), [
      ['politica', 'web', 'create'],
      ['join_rule', 'images', 'create'],
      ['webhook', 'https://receiver.example/in?key=abc', 'create'],
      ['agente', 'web-1', 'update'],
    ])
    const { join_tokens, webhook_secrets } = await apply(FLEET)
    const [join] = join_tokens
    assert.match(join?.token ?? '', /^svcj_[A-Za-z0-9_-]{43}$/)
    const rule = await store.reader.findJoinRuleByToken(hashToken(join?.token ?? ''))
    assert.match(webhook_secrets[0]?.secret ?? '', /^whsec_/)
    assert.deepEqual(tried, [7200])
    const [webhook] = await store.reader.webhooks.list()
    const acts = await readActs(store.reader, seq)
    assert.deepEqual(acts, [
      [
        'fleet_applied',
        {
          actor: 'admin',
          manager: 'default',
          files_sha256: 'f'.repeat(64),
          prune: false,
          created: 3,
          updated: 1,
          removed: 0,
          owned: 0,
          changes: [
            {
              kind: 'politica',
              action: 'create',
              fields: ['cert_ttl', 'sans_permitidos'],
              name: 'web',
              nome: 'web',
            },
            {
              kind: 'join_rule',
              action: 'create',
              fields: ['role', 'pattern', 'hosts_max', 'labels'],
              name: 'images',
              join_rule_id: rule?.id,
            },
            {
              kind: 'webhook',
              action: 'create',
              fields: ['tipos'],
              webhook_id: webhook?.id,
              origin: 'https://receiver.example',
            },
            {
              kind: 'agente',
              action: 'update',
              fields: ['env', 'rack'],
              name: 'web-1',
              agente_id: (await store.reader.findAgentByHostname('web-1'))?.id,
            },
          ],
          trials: [{ cert_ttl: 7200, serial: '0a', revoked: true }],
        },
      ],
    ])
    const again = await apply(FLEET)
    assert.deepEqual([again.changes, again.unlisted, again.join_tokens], [[], [], []])
    assert.equal((await readActs(store.reader, seq)).length, 1)
    assert.deepEqual(await hub.as('viewer').planFleet({ manager: 'x', politicas: [] }), {
      etag: (await plan({}, { manager: 'x' })).etag,
      changes: [],
      unlisted: [],
    })
  })

  test('[DCL-5] a field that somebody changed by hand is a difference; others are left alone', async () => {
    await apply(FLEET)
    await hub.admin.setPolicy({ role: 'web', cert_ttl: 3600, reenroll: true })
    await hub.admin.labelAgents({ agente: 'web-1', set: { rack: 'r1', mine: '' } })
    const { changes } = await plan(FLEET)
    assert.deepEqual(
      changes.map(({ name, action, fields }) => [name, action, ...fields]),
      [
        [
          'web',
          'update',
          { field: 'cert_ttl', before: 3600, after: 7200, owner: null, todo: null },
        ],
        ['web-1', 'update', { field: 'rack', before: 'r1', after: 'r7', owner: null, todo: null }],
      ],
    )
    await apply(FLEET)
    const { reenroll, cert_ttl } = await hub.admin.showPolicy({ role: 'web' })
    assert.deepEqual({ reenroll, cert_ttl }, { reenroll: true, cert_ttl: 7200 })
    const { labels } = await hub.admin.showAgent({ agente: 'web-1' })
    assert.deepEqual(labels, ['env=prod', 'mine=', 'rack=r7'])
    await hub.admin.labelAgents({ agente: 'web-1', remove: ['mine'] })
  })

  test('[DCL-6] what is no longer declared stays without prune, and goes with it; nothing of others does', async () => {
    await apply(FLEET)
    await hub.admin.setPolicy({ role: 'db' })
    await hub.admin.labelAgents({ agente: 'web-1', set: { mine: '1' } })
    const rest: FleetDeclaration = { agentes: [{ hostname: 'web-1', labels: { env: 'prod' } }] }
    const kept = await plan(rest)
    assert.deepEqual(kept.changes, [])
    assert.deepEqual(kept.unlisted.map(({ kind, field }) => `${kind} ${field}`).toSorted(), [
      'agente rack',
      'join_rule null',
      'politica null',
      'webhook null',
    ])
    const pruned = await apply(rest, { prune: true })
    assert.deepEqual(pruned.changes.map(({ kind, action }) => `${kind} ${action}`).toSorted(), [
      'agente update',
      'join_rule remove',
      'politica remove',
      'webhook remove',
    ])
    assert.deepEqual(
      (await hub.admin.listPolicies({})).politicas.map(({ role }) => role),
      ['db'],
    )
    assert.equal((await hub.admin.showJoinRule({ join_rule: 'images' })).state, 'ended')
    assert.deepEqual(await store.reader.webhooks.list(), [])
    assert.deepEqual((await hub.admin.showAgent({ agente: 'web-1' })).labels, [
      'env=prod',
      'mine=1',
    ])
    await hub.admin.labelAgents({ agente: 'web-1', remove: ['mine'] })
    await hub.admin.removePolicy({ role: 'db' })
  })

  test('[DCL-6] what somebody removed and made again by hand is not owned', async () => {
    await apply({ politicas: [{ role: 'web' }] })
    await hub.admin.removePolicy({ role: 'web' })
    await hub.admin.setPolicy({ role: 'web' })
    assert.deepEqual((await plan({}, { prune: true })).changes, [])
    await hub.admin.removePolicy({ role: 'web' })
  })

  test('[DCL-7] a field has one manager; another one is refused, and takes it over if it says so', async () => {
    await apply({ politicas: [{ role: 'web', reenroll: true }] })
    const theirs: FleetDeclaration = {
      politicas: [{ role: 'web', reenroll: false, cert_ttl: 7200 }],
    }
    const other = { manager: 'other' }
    const [change] = (await plan(theirs, other)).changes
    assert.deepEqual(
      change?.fields.map(({ field, owner }) => [field, owner]),
      [
        ['cert_ttl', null],
        ['reenroll', 'default'],
      ],
    )
    await assert.rejects(apply(theirs, other), {
      code: 'declared_owned',
      message: 'manager default owns reenroll of politica web',
    })
    // The same value is no quarrel.
    await apply({ politicas: [{ role: 'web', reenroll: true, cert_ttl: 7200 }] }, other)
    const { owners } = await hub.admin.listOwnedFields({})
    assert.deepEqual(
      owners.map(({ name, field, manager }) => [name, field, manager]),
      [
        ['web', null, 'default'],
        ['web', 'reenroll', 'default'],
        ['web', 'cert_ttl', 'other'],
      ],
    )
    await assert.rejects(apply({}, { prune: true }), {
      message: 'manager other owns cert_ttl of politica web',
    })
    await apply(theirs, { ...other, take_over: true })
    assert.deepEqual((await plan({}, { prune: true })).changes, [])
  })

  test('[DCL-9] an apply whose plan is no longer true is refused', async () => {
    const { etag } = await plan(FLEET)
    await hub.admin.createJoinRule({
      name: 'images',
      method: 'token',
      role: 'db',
      pattern: 'web-*.example.org',
      hosts_max: 1,
    })
    const changed = { code: 'fleet_changed' }
    await assert.rejects(
      hub.admin.applyFleet({ manager: 'default', ...FILES, ...FLEET, etag }),
      changed,
    )
    assert.deepEqual(tried, [])
    const two = await Promise.allSettled([apply(FLEET), apply(FLEET)])
    const refused = two.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 1)
    assert.equal((refused[0] as PromiseRejectedResult).reason.code, 'fleet_changed')
  })

  test('[DCL-8] whatever fails in between leaves nothing', async () => {
    const { etag } = await plan(FLEET)
    const owners = await hub.admin.listOwnedFields({})
    for (const method of [
      'setPolicy',
      'insertJoinRule',
      'changeLabels',
      'insertEntries',
    ] as const) {
      const failing = openAdmin(failingAt(store, method), {
        tryLifetime: async () => ({ serial: '0a', revoked: true }),
      })
      const request = { manager: 'default', ...FILES, ...FLEET, etag }
      await assert.rejects(failing.admin.applyFleet(request), { message: `no ${method}` })
      assert.equal((await plan(FLEET)).etag, etag)
      assert.deepEqual(await hub.admin.listOwnedFields({}), owners)
    }
    assert.deepEqual(await readActs(store.reader, seq), [])
  })

  test('[DCL-12] a join rule keeps its token when its bounds change, and is made again when it has expired', async () => {
    await apply(FLEET)
    const { id } = await hub.admin.showJoinRule({ join_rule: 'images' })
    const [rule] = FLEET.join_rules ?? []
    assert.ok(rule)
    const wider = { ...FLEET, join_rules: [{ ...rule, hosts_max: 50, silent_seconds: 7200 }] }
    const { join_tokens } = await apply(wider)
    assert.deepEqual(join_tokens, [])
    const changed = await hub.admin.showJoinRule({ join_rule: 'images' })
    assert.deepEqual([changed.id, changed.hosts_max, changed.silent_seconds], [id, 50, 7200])
    now = new Date(NOW.getTime() + 8 * 86_400_000)
    const again = await apply(wider)
    assert.deepEqual(actionsOf(again), [['join_rule', 'images', 'create']])
    assert.equal(again.join_tokens.length, 1)
    await assert.rejects(plan({ join_rules: [{ name: 'new', role: 'web' }] }), {
      code: 'declared_incomplete',
      message: 'join rule new is new, and has no pattern',
    })
  })

  test('[DCL-12] what the politica of a role allows its join rules, it also allows declared ones', async () => {
    const strict = { politicas: [{ role: 'web', token_ttl_max: 3600 }] }
    const rule = { name: 'short', role: 'web', pattern: 'a-*.example.org', hosts_max: 1 }
    await assert.rejects(plan({ ...strict, join_rules: [{ ...rule, ttl_seconds: 7200 }] }), {
      code: 'ttl_too_long',
    })
    await apply({ ...strict, join_rules: [rule] })
    const { created_at, expires_at } = await hub.admin.showJoinRule({ join_rule: 'short' })
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 3_600_000)
  })

  test('[DCL-11] politicas may trade names, and none has another’s', async () => {
    const named = (one: string, other: string) => ({
      politicas: [
        { role: 'web', nome: one },
        { role: 'db', nome: other },
      ],
    })
    await apply(named('a', 'b'))
    await apply(named('b', 'a'))
    assert.equal((await hub.admin.showPolicy({ role: 'web' })).nome, 'b')
    await assert.rejects(plan(named('c', 'c')), { code: 'nome_taken' })
    assert.deepEqual((await plan(named('b', 'a'))).changes, [])
  })

  test('[DCL-14] a carga of a selector is one row, which its hosts get at their next polls', async () => {
    const site: FleetDeclaration = {
      cargas: [
        { nome: 'site', tipo: 'csr_cert', where: 'env = prod', sans: ['b.example.org'] },
        { nome: 'key', tipo: 'selado', where: 'env=prod', sha256: '0'.repeat(64) },
      ],
      politicas: [
        { role: 'web', cargas_automaticas: ['site'], sans_permitidos: ['*.example.org'] },
      ],
    }
    const made = await apply(site)
    assert.deepEqual(actionsOf(made), [
      ['carga', 'site', 'create'],
      ['carga', 'key', 'todo'],
      ['politica', 'web', 'create'],
    ])
    assert.match(made.changes[1]?.todo ?? '', /^seal it: svc load create --type sealed --name key/)
    const cargo = await hub.admin.showCargo({ carga: 'site' })
    assert.deepEqual([cargo.where, cargo.versao, cargo.entregas], ['env=prod', 1, 0])
    const policy = await hub.admin.showPolicy({ role: 'web' })
    assert.deepEqual(policy.cargas_automaticas, [cargo.id])
    assert.ok(hub.told.includes('all agents'))
    const [, payload] = (await readActs(store.reader, seq))[0] ?? []
    const { changes } = payload as { changes: readonly object[] }
    assert.deepEqual(changes[0], {
      kind: 'carga',
      action: 'create',
      fields: ['tipo', 'where', 'sans'],
      name: 'site',
      carga_id: cargo.id,
      versao: 1,
    })
    assert.deepEqual(actionsOf(await apply(site)), [['carga', 'key', 'todo']])
    const other: FleetDeclaration = {
      cargas: [{ nome: 'site', where: 'env=stage', sans: ['a.example.org'] }],
      politicas: [{ role: 'web' }],
    }
    await apply(other)
    const next = await hub.admin.showCargo({ carga: 'site' })
    assert.deepEqual([next.where, next.versao, next.sans], ['env=stage', 2, ['a.example.org']])
    const gone = await plan({ politicas: [{ role: 'web' }] }, { prune: true })
    assert.equal(gone.changes[0]?.todo, 'svc load remove site takes it from its hosts')
    await hub.admin.removeCargo({ carga: 'site' })
    assert.deepEqual((await plan({ politicas: [{ role: 'web' }] }, { prune: true })).changes, [])
    await assert.rejects(plan({ cargas: [{ nome: 'new' }] }), { code: 'declared_incomplete' })
    await hub.admin.createCargo({
      tipo: 'csr_cert',
      nome: 'named',
      agentes: ['web-1'],
      roles: [],
      sans: [],
    })
    await assert.rejects(plan({ cargas: [{ nome: 'named', sans: ['c.example.org'] }] }), {
      code: 'declared_incomplete',
      message: 'load named belongs to no selector: its files have to name one',
    })
  })

  test('[DCL-13] an admin token gets another bound, and none that it cannot have', async () => {
    await hub.admin.createAccessToken({ name: 'stage', role: 'viewer', only: 'env=stage' })
    await hub.admin.createAccessToken({ name: 'ci', role: 'viewer' })
    const fleet: FleetDeclaration = {
      admin_tokens: [
        { name: 'stage', only: 'env in (stage, test)' },
        { name: 'ci', only: 'env=stage' },
        { name: 'gone', only: 'env=stage' },
      ],
    }
    await assert.rejects(hub.as('operator').planFleet({ manager: 'default', ...fleet }), {
      code: 'plan_needs_admin',
    })
    assert.deepEqual(actionsOf(await apply(fleet)), [
      ['admin_token', 'stage', 'update'],
      ['admin_token', 'ci', 'todo'],
      ['admin_token', 'gone', 'todo'],
    ])
    const { admin_tokens } = await hub.admin.listAccessTokens({})
    assert.deepEqual(
      admin_tokens.map(({ name, only }) => [name, only]),
      [
        ['ci', null],
        ['stage', 'env in (stage,test)'],
      ],
    )
    assert.deepEqual(actionsOf(await apply(fleet)), [
      ['admin_token', 'ci', 'todo'],
      ['admin_token', 'gone', 'todo'],
    ])
    assert.equal((await readActs(store.reader, seq)).length, 3)
  })

  test('[DCL-10] labels of a host that has yet to enrol wait, and a host has no more than it may have', async () => {
    const many = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`k${at}`, '']))
    const early = await apply({ agentes: [{ hostname: 'web-2', labels: { env: 'x' } }] })
    assert.deepEqual(actionsOf(early), [['agente', 'web-2', 'todo']])
    assert.deepEqual(await readActs(store.reader, seq), [])
    await hub.admin.labelAgents({ agente: 'web-1', set: { mine: '1' } })
    await assert.rejects(plan({ agentes: [{ hostname: 'web-1', labels: many }] }), {
      code: 'labels_too_many',
    })
    await hub.admin.labelAgents({ agente: 'web-1', remove: ['mine'] })
  })
})

/** Whose writer fails at one method. */
function failingAt(whole: Store, method: keyof StoreWriter): Store {
  const failing = (writer: StoreWriter): StoreWriter =>
    new Proxy(writer, {
      get: (target, name) => {
        if (name === method) return () => Promise.reject(new Error(`no ${method}`))
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  return {
    reader: whole.reader,
    version: whole.version,
    versionOf: (id) => whole.versionOf(id),
    write: (work, company) => whole.write((writer) => work(failing(writer)), company),
    close: () => whole.close(),
  }
}
