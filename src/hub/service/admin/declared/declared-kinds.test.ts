import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  actionsOf,
  FILES,
  FLEET,
  type FleetHub,
  openFleetHub,
} from '../../../../../test/support/fleet-hub.ts'
import type { AdminHubRow } from '../../../../protocol/admin/hubs.ts'
import { NOW } from '../../../../../test/store/store-samples.ts'
import { readActs } from '../../../../../test/support/recorded-acts.ts'
import { openAdmin } from '../../../../../test/support/told-admin.ts'
import type { FleetDeclaration } from '../../../../protocol/admin/declared.ts'

let open: FleetHub

before(async () => {
  open = await openFleetHub()
})
after(() => open.store[Symbol.asyncDispose]())
beforeEach(() => open.restart())

describe('each kind of a declared fleet', () => {
  test('[DCL-12] a join rule keeps its token when its bounds change, and is made again when it has expired', async () => {
    await open.apply(FLEET)
    const { id } = await open.hub.admin.showJoinRule({ join_rule: 'images' })
    const [rule] = FLEET.join_rules ?? []
    assert.ok(rule)
    const wider = { ...FLEET, join_rules: [{ ...rule, hosts_max: 50, silent_seconds: 7200 }] }
    const { join_tokens } = await open.apply(wider)
    assert.deepEqual(join_tokens, [])
    const changed = await open.hub.admin.showJoinRule({ join_rule: 'images' })
    assert.deepEqual([changed.id, changed.hosts_max, changed.silent_seconds], [id, 50, 7200])
    open.now = new Date(NOW.getTime() + 8 * 86_400_000)
    const again = await open.apply(wider)
    assert.deepEqual(actionsOf(again), [['join_rule', 'images', 'create']])
    assert.equal(again.join_tokens.length, 1)
    await assert.rejects(open.plan({ join_rules: [{ name: 'new', role: 'web' }] }), {
      code: 'declared_incomplete',
      message: 'join rule new is new, and has no pattern',
    })
  })

  test('[DCL-12] a rule of another method is made by hand, and its bounds are declared', async () => {
    const rule = { name: 'cloud', method: 'jwt', role: 'web', hosts_max: 9 } as const
    const declared: FleetDeclaration = { join_rules: [{ ...rule, pattern: 'c-*.example.org' }] }
    const [todo] = (await open.apply(declared)).changes
    assert.deepEqual([todo?.action, todo?.todo?.slice(0, 8)], ['todo', 'make it:'])
    const jwt = {
      issuer: 'https://issuer.example',
      audience: 'cartorio',
      claims: [{ claim: 'sub', values: ['a'] }],
    }
    const made = { ...rule, hosts_max: 3, pattern: 'c-*.example.org', jwt }
    const { id } = await open.hub.admin.createJoinRule(made)
    assert.deepEqual((await open.apply(declared)).join_tokens, [])
    const shown = await open.hub.admin.showJoinRule({ join_rule: 'cloud' })
    assert.deepEqual([shown.id, shown.hosts_max, shown.jwt?.issuer], [id, 9, jwt.issuer])
    const [other] = (await open.plan({ join_rules: [{ name: 'cloud', method: 'token' }] })).changes
    assert.equal(other?.action, 'todo')
  })

  test('[DCL-12] what the politica of a role allows its join rules, it also allows declared ones', async () => {
    const strict = { politicas: [{ role: 'web', token_ttl_max: 3600 }] }
    const rule = { name: 'short', role: 'web', pattern: 'a-*.example.org', hosts_max: 1 }
    await assert.rejects(open.plan({ ...strict, join_rules: [{ ...rule, ttl_seconds: 7200 }] }), {
      code: 'ttl_too_long',
    })
    await open.apply({ ...strict, join_rules: [rule] })
    const { created_at, expires_at } = await open.hub.admin.showJoinRule({ join_rule: 'short' })
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 3_600_000)
  })

  test('[DCL-11] politicas may trade names, and none has another’s', async () => {
    const named = (one: string, other: string) => ({
      politicas: [
        { role: 'web', nome: one },
        { role: 'db', nome: other },
      ],
    })
    await open.apply(named('a', 'b'))
    await open.apply(named('b', 'a'))
    assert.equal((await open.hub.admin.showPolicy({ role: 'web' })).nome, 'b')
    await assert.rejects(open.plan(named('c', 'c')), { code: 'nome_taken' })
    assert.deepEqual((await open.plan(named('b', 'a'))).changes, [])
  })

  test('[DCL-11] [POL-20] a politica with a selector narrows what it narrows, and its name is nobody else’s', async () => {
    const stage = { nome: 'stage', where: 'env = stage', cert_ttl: 3600, reenroll: false }
    const fleet: FleetDeclaration = {
      cargas: [{ nome: 'probe', tipo: 'csr_cert', where: 'env=stage' }],
      politicas: [{ role: 'web', cert_ttl: 7200 }],
      politicas_seletor: [{ ...stage, cargas_automaticas: ['probe'] }],
    }
    assert.deepEqual(actionsOf(await open.apply(fleet)), [
      ['carga', 'probe', 'create'],
      ['politica', 'web', 'create'],
      ['politica_seletor', 'stage', 'create'],
    ])
    assert.deepEqual(open.tried, [7200, 3600])
    const { id } = await open.hub.admin.showCargo({ carga: 'probe' })
    const {
      agentes: _agentes,
      cargas_afetadas: _affected,
      ...made
    } = await open.hub.admin.showSelectorPolicy({ nome: 'stage' })
    assert.deepEqual(made, {
      nome: 'stage',
      where: 'env=stage',
      token_ttl_max: null,
      cert_ttl: 3600,
      sans_permitidos: ['*'],
      sans_nomeados: false,
      cargas_automaticas: [id],
      reenroll: false,
    })
    assert.deepEqual((await open.plan(fleet)).changes, [])
    const other = { ...fleet, politicas_seletor: [{ nome: 'stage', where: 'env in (stage,test)' }] }
    const [change] = (await open.apply(other)).changes
    assert.deepEqual(
      change?.fields.map((each) => [each.field, each.before, each.after]),
      [['where', 'env=stage', 'env in (stage,test)']],
    )
    assert.equal((await open.hub.admin.showSelectorPolicy({ nome: 'stage' })).cert_ttl, 3600)
    const [, payload] = (await readActs(open.store.reader, open.seq)).at(-1) ?? []
    assert.deepEqual((payload as { changes: readonly object[] }).changes, [
      {
        kind: 'politica_seletor',
        action: 'update',
        fields: ['where'],
        name: 'stage',
        nome: 'stage',
      },
    ])
    await open.hub.admin.removeSelectorPolicy({ nome: 'stage' })
    assert.deepEqual(
      (await open.hub.admin.listOwnedFields({})).owners.filter(({ name }) => name === 'stage'),
      [],
    )
    await open.apply(fleet)
    const pruned = await open.apply({ ...fleet, politicas_seletor: [] }, { prune: true })
    assert.deepEqual(actionsOf(pruned), [['politica_seletor', 'stage', 'remove']])
    await assert.rejects(open.hub.admin.showSelectorPolicy({ nome: 'stage' }), {
      code: 'politica_not_found',
    })
    await open.hub.admin.removeCargo({ carga: 'probe' })
  })

  test('[DCL-11] what no politica with a selector can be, no plan makes of it', async () => {
    const refused = (fleet: FleetDeclaration, code: string): Promise<void> =>
      assert.rejects(open.plan(fleet), { code })
    const stage = { nome: 'stage', where: 'env=stage' }
    await refused({ politicas_seletor: [{ nome: 'stage' }] }, 'declared_incomplete')
    await refused(
      { politicas_seletor: [{ ...stage, where: 'host.os=linux' }] },
      'selector_reported',
    )
    await refused({ politicas_seletor: [{ ...stage, where: 'env in (' }] }, 'selector_invalid')
    await refused({ politicas_seletor: [{ ...stage, cert_ttl: 60 }] }, 'cert_ttl_too_short')
    await refused(
      { politicas_seletor: [{ ...stage, sans_permitidos: ['x.hub.test'] }] },
      'san_reserved',
    )
    await refused({ politicas_seletor: [stage, stage] }, 'declared_ambiguous')
    const taken = { politicas: [{ role: 'web', nome: 'stage' }], politicas_seletor: [stage] }
    await refused(taken, 'nome_taken')
    await open.hub.admin.setPolicy({ role: 'db', nome: 'taken' })
    await refused({ politicas_seletor: [{ ...stage, nome: 'taken' }] }, 'nome_taken')
    await open.hub.admin.removePolicy({ role: 'db' })
    await open.hub.admin.setSelectorPolicy({ nome: 'another', where: 'env=test' })
    const many = Array.from({ length: 100 }, (_, at) => ({ nome: `p${at}`, where: 'env=stage' }))
    await refused({ politicas_seletor: many }, 'too_many_politicas')
    await open.hub.admin.removeSelectorPolicy({ nome: 'another' })
    const bounded = { politicas_seletor: [{ ...stage, token_ttl_max: 3600 }] }
    const rule = {
      name: 'long',
      role: 'web',
      pattern: 'a-*.example.org',
      hosts_max: 1,
      labels: { env: 'stage' },
      ttl_seconds: 7200,
    }
    await refused({ ...bounded, join_rules: [rule] }, 'ttl_too_long')
    const elsewhere = { ...rule, labels: { env: 'prod' } }
    assert.equal((await open.plan({ ...bounded, join_rules: [elsewhere] })).changes.length, 2)
  })

  test('[DCL-11] [POL-27] a politica with a selector waits for hubs of an earlier version', async () => {
    const row: AdminHubRow = {
      id: 'own',
      host: 'own.example',
      version: '0.5.0',
      tables: 60,
      started_at: null,
      state: 'running',
      last_beat_at: NOW.toISOString(),
      silent_ms: 0,
      behind: 0,
      clock_ahead_ms: 0,
      leases: [],
      is_this: true,
    }
    const older = { ...row, id: 'one', host: 'one.example', version: '0.4.0', tables: 40 }
    const hubs = { list: async () => [row, { ...older, is_this: false }], remove: async () => {} }
    const { admin } = openAdmin(open.store, { hubs })
    const fleet = {
      manager: 'default',
      ...FILES,
      politicas_seletor: [{ nome: 'stage', where: 'env=stage' }],
    }
    await assert.rejects(admin.applyFleet(fleet), { code: 'hubs_older' })
    await admin.applyFleet({ ...fleet, politicas_seletor: [] })
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
    const made = await open.apply(site)
    assert.deepEqual(actionsOf(made), [
      ['carga', 'site', 'create'],
      ['carga', 'key', 'todo'],
      ['politica', 'web', 'create'],
    ])
    assert.match(made.changes[1]?.todo ?? '', /^seal it: svc load create --type sealed --name key/)
    const cargo = await open.hub.admin.showCargo({ carga: 'site' })
    assert.deepEqual([cargo.where, cargo.versao, cargo.entregas], ['env=prod', 1, 0])
    const policy = await open.hub.admin.showPolicy({ role: 'web' })
    assert.deepEqual(policy.cargas_automaticas, [cargo.id])
    assert.ok(open.hub.told.includes('all agents'))
    const [, payload] = (await readActs(open.store.reader, open.seq))[0] ?? []
    const { changes } = payload as { changes: readonly object[] }
    assert.deepEqual(changes[0], {
      kind: 'carga',
      action: 'create',
      fields: ['tipo', 'where', 'sans'],
      name: 'site',
      carga_id: cargo.id,
      versao: 1,
    })
    assert.deepEqual(actionsOf(await open.apply(site)), [['carga', 'key', 'todo']])
    const other: FleetDeclaration = {
      cargas: [{ nome: 'site', where: 'env=stage', sans: ['a.example.org'] }],
      politicas: [{ role: 'web' }],
    }
    await open.apply(other)
    const next = await open.hub.admin.showCargo({ carga: 'site' })
    assert.deepEqual([next.where, next.versao, next.sans], ['env=stage', 2, ['a.example.org']])
    const gone = await open.plan({ politicas: [{ role: 'web' }] }, { prune: true })
    assert.equal(gone.changes[0]?.todo, 'svc load remove site takes it from its hosts')
    await open.hub.admin.removeCargo({ carga: 'site' })
    assert.deepEqual(
      (await open.plan({ politicas: [{ role: 'web' }] }, { prune: true })).changes,
      [],
    )
    await assert.rejects(open.plan({ cargas: [{ nome: 'new' }] }), { code: 'declared_incomplete' })
    await open.hub.admin.createCargo({
      tipo: 'csr_cert',
      nome: 'named',
      agentes: ['web-1'],
      roles: [],
      sans: [],
    })
    await assert.rejects(open.plan({ cargas: [{ nome: 'named', sans: ['c.example.org'] }] }), {
      code: 'declared_incomplete',
      message: 'load named belongs to no selector: its files have to name one',
    })
  })

  test('[DCL-13] an admin token gets another bound, and none that it cannot have', async () => {
    await open.hub.admin.createAccessToken({ name: 'stage', role: 'viewer', only: 'env=stage' })
    await open.hub.admin.createAccessToken({ name: 'ci', role: 'viewer' })
    const fleet: FleetDeclaration = {
      admin_tokens: [
        { name: 'stage', only: 'env in (stage, test)' },
        { name: 'ci', only: 'env=stage' },
        { name: 'gone', only: 'env=stage' },
      ],
    }
    await assert.rejects(open.hub.as('operator').planFleet({ manager: 'default', ...fleet }), {
      code: 'plan_needs_admin',
    })
    assert.deepEqual(actionsOf(await open.apply(fleet)), [
      ['admin_token', 'stage', 'update'],
      ['admin_token', 'ci', 'todo'],
      ['admin_token', 'gone', 'todo'],
    ])
    const { admin_tokens } = await open.hub.admin.listAccessTokens({})
    assert.deepEqual(
      admin_tokens.map(({ name, only }) => [name, only]),
      [
        ['ci', null],
        ['stage', 'env in (stage,test)'],
      ],
    )
    assert.deepEqual(actionsOf(await open.apply(fleet)), [
      ['admin_token', 'ci', 'todo'],
      ['admin_token', 'gone', 'todo'],
    ])
    assert.equal((await readActs(open.store.reader, open.seq)).length, 3)
  })

  test('[DCL-10] labels of a host that has yet to enrol wait, and a host has no more than it may have', async () => {
    const many = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`k${at}`, '']))
    const early = await open.apply({ agentes: [{ hostname: 'web-2', labels: { env: 'x' } }] })
    assert.deepEqual(actionsOf(early), [['agente', 'web-2', 'todo']])
    assert.deepEqual(await readActs(open.store.reader, open.seq), [])
    await open.hub.admin.labelAgents({ agente: 'web-1', set: { mine: '1' } })
    await assert.rejects(open.plan({ agentes: [{ hostname: 'web-1', labels: many }] }), {
      code: 'labels_too_many',
    })
    await open.hub.admin.labelAgents({ agente: 'web-1', remove: ['mine'] })
  })

  test('[DCL-19] a webhook goes on where it is when its types change, and one URL is one webhook', async () => {
    const url = 'https://receiver.example/in'
    await open.apply({ webhooks: [{ url, tipos: ['agent_revoked'] }] })
    const [old] = await open.store.reader.webhooks.list()
    const changed = await open.apply({ webhooks: [{ url, tipos: [] }] })
    assert.deepEqual(changed.webhook_secrets, [])
    const [now] = await open.store.reader.webhooks.list()
    assert.deepEqual([now?.id, now?.types], [old?.id, []])
    assert.equal(now?.progress.cursorSeq, old?.progress.cursorSeq)
    await open.apply({ webhooks: [{ url, where: 'env = prod' }] })
    assert.deepEqual(
      (await open.hub.admin.listWebhooks({})).webhooks.map(({ where, state }) => [where, state]),
      [['env=prod', 'active']],
    )
    assert.deepEqual((await open.plan({ webhooks: [{ url, where: 'env=prod' }] })).changes, [])
    await open.apply({ webhooks: [{ url, where: null }] })
    assert.equal((await open.store.reader.webhooks.list())[0]?.where, null)
    await open.hub.admin.createWebhook({ url, tipos: [] })
    await assert.rejects(open.plan({ webhooks: [{ url }] }), { code: 'declared_ambiguous' })
    for (const { id } of await open.store.reader.webhooks.list()) {
      await open.hub.admin.removeWebhook({ webhook: id })
    }
  })

  test('[DCL-18] who owns what is listed, a webhook by its origin for those who may not see it', async () => {
    await open.apply({ webhooks: [{ url: 'https://receiver.example/in?key=abc' }] })
    const { owners, next } = await open.hub.as('viewer').listOwnedFields({ limit: 1 })
    assert.deepEqual(
      owners.map(({ kind, name, field, manager }) => [kind, name, field, manager]),
      [['webhook', 'https://receiver.example', null, 'default']],
    )
    assert.equal(next, null)
    const [owned] = (await open.hub.admin.listOwnedFields({})).owners
    assert.equal(owned?.name, 'https://receiver.example/in?key=abc')
    await assert.rejects(open.hub.admin.listOwnedFields({ after: 'x' }), { code: 'cursor_unknown' })
  })
})
