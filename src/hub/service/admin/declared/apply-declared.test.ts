import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  actionsOf,
  FILES,
  FLEET,
  type FleetHub,
  openFleetHub,
} from '../../../../../test/support/fleet-hub.ts'
import { readActs } from '../../../../../test/support/recorded-acts.ts'
import { openAdmin } from '../../../../../test/support/told-admin.ts'
import type { FleetDeclaration } from '../../../../protocol/admin/declared.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'

let open: FleetHub

before(async () => {
  open = await openFleetHub()
})
after(() => open.store[Symbol.asyncDispose]())
beforeEach(() => open.restart())

describe('a declared fleet', () => {
  test('[DCL-4] [DCL-8] is made by one commit and one entry, and is then as declared', async () => {
    assert.deepEqual(actionsOf(await open.plan(FLEET)), [
      ['politica', 'web', 'create'],
      ['join_rule', 'images', 'create'],
      ['webhook', 'https://receiver.example/in?key=abc', 'create'],
      ['agente', 'web-1', 'update'],
    ])
    const { join_tokens, webhook_secrets } = await open.apply(FLEET)
    const [join] = join_tokens
    assert.match(join?.token ?? '', /^svcj_[A-Za-z0-9_-]{43}$/)
    const rule = await open.store.reader.findJoinRuleByToken(hashToken(join?.token ?? ''))
    assert.match(webhook_secrets[0]?.secret ?? '', /^whsec_/)
    assert.deepEqual(open.tried, [7200])
    const [webhook] = await open.store.reader.webhooks.list()
    const acts = await readActs(open.store.reader, open.seq)
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
              agente_id: (await open.store.reader.findAgentByHostname('web-1'))?.id,
            },
          ],
          trials: [{ cert_ttl: 7200, serial: '0a', revoked: true }],
        },
      ],
    ])
    const again = await open.apply(FLEET)
    assert.deepEqual([again.changes, again.unlisted, again.join_tokens], [[], [], []])
    assert.equal((await readActs(open.store.reader, open.seq)).length, 1)
    assert.deepEqual(await open.hub.as('viewer').planFleet({ manager: 'x', politicas: [] }), {
      etag: (await open.plan({}, { manager: 'x' })).etag,
      changes: [],
      unlisted: [],
    })
  })

  test('[DCL-5] a field that somebody changed by hand is a difference; others are left alone', async () => {
    await open.apply(FLEET)
    await open.hub.admin.setPolicy({ role: 'web', cert_ttl: 3600, reenroll: true })
    await open.hub.admin.labelAgents({ agente: 'web-1', set: { rack: 'r1', mine: '' } })
    const { changes } = await open.plan(FLEET)
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
    await open.apply(FLEET)
    const { reenroll, cert_ttl } = await open.hub.admin.showPolicy({ role: 'web' })
    assert.deepEqual({ reenroll, cert_ttl }, { reenroll: true, cert_ttl: 7200 })
    const { labels } = await open.hub.admin.showAgent({ agente: 'web-1' })
    assert.deepEqual(labels, ['env=prod', 'mine=', 'rack=r7'])
    await open.hub.admin.labelAgents({ agente: 'web-1', remove: ['mine'] })
  })

  test('[DCL-6] what is no longer declared stays without prune, and goes with it; nothing of others does', async () => {
    await open.apply(FLEET)
    await open.hub.admin.setPolicy({ role: 'db' })
    await open.hub.admin.labelAgents({ agente: 'web-1', set: { mine: '1' } })
    const rest: FleetDeclaration = { agentes: [{ hostname: 'web-1', labels: { env: 'prod' } }] }
    const kept = await open.plan(rest)
    assert.deepEqual(kept.changes, [])
    assert.deepEqual(kept.unlisted.map(({ kind, field }) => `${kind} ${field}`).toSorted(), [
      'agente rack',
      'join_rule null',
      'politica null',
      'webhook null',
    ])
    const pruned = await open.apply(rest, { prune: true })
    assert.deepEqual(pruned.changes.map(({ kind, action }) => `${kind} ${action}`).toSorted(), [
      'agente update',
      'join_rule remove',
      'politica remove',
      'webhook remove',
    ])
    assert.deepEqual(
      (await open.hub.admin.listPolicies({})).politicas.map(({ role }) => role),
      ['db'],
    )
    assert.equal((await open.hub.admin.showJoinRule({ join_rule: 'images' })).state, 'ended')
    assert.deepEqual(await open.store.reader.webhooks.list(), [])
    assert.deepEqual((await open.hub.admin.showAgent({ agente: 'web-1' })).labels, [
      'env=prod',
      'mine=1',
    ])
    await open.hub.admin.labelAgents({ agente: 'web-1', remove: ['mine'] })
    await open.hub.admin.removePolicy({ role: 'db' })
  })

  test('[DCL-6] what somebody removed and made again by hand is not owned', async () => {
    await open.apply({ politicas: [{ role: 'web' }] })
    await open.hub.admin.removePolicy({ role: 'web' })
    await open.hub.admin.setPolicy({ role: 'web' })
    assert.deepEqual((await open.plan({}, { prune: true })).changes, [])
    await open.hub.admin.removePolicy({ role: 'web' })
  })

  test('[DCL-7] a field has one manager; another one is refused, and takes it over if it says so', async () => {
    await open.apply({ politicas: [{ role: 'web', reenroll: true }] })
    const theirs: FleetDeclaration = {
      politicas: [{ role: 'web', reenroll: false, cert_ttl: 7200 }],
    }
    const other = { manager: 'other' }
    const [change] = (await open.plan(theirs, other)).changes
    assert.deepEqual(
      change?.fields.map(({ field, owner }) => [field, owner]),
      [
        ['cert_ttl', null],
        ['reenroll', 'default'],
      ],
    )
    await assert.rejects(open.apply(theirs, other), {
      code: 'declared_owned',
      message: 'manager default owns reenroll of politica web',
    })
    // The same value is no quarrel.
    await open.apply({ politicas: [{ role: 'web', reenroll: true, cert_ttl: 7200 }] }, other)
    const { owners } = await open.hub.admin.listOwnedFields({})
    assert.deepEqual(
      owners.map(({ name, field, manager }) => [name, field, manager]),
      [
        ['web', null, 'default'],
        ['web', 'reenroll', 'default'],
        ['web', 'cert_ttl', 'other'],
      ],
    )
    await assert.rejects(open.apply({}, { prune: true }), {
      message: 'manager other owns cert_ttl of politica web',
    })
    await open.apply(theirs, { ...other, take_over: true })
    assert.deepEqual((await open.plan({}, { prune: true })).changes, [])
  })

  test('[DCL-9] an apply whose plan is no longer true is refused', async () => {
    const { etag } = await open.plan(FLEET)
    await open.hub.admin.createJoinRule({
      name: 'images',
      method: 'token',
      role: 'db',
      pattern: 'web-*.example.org',
      hosts_max: 1,
    })
    const changed = { code: 'fleet_changed' }
    await assert.rejects(
      open.hub.admin.applyFleet({ manager: 'default', ...FILES, ...FLEET, etag }),
      changed,
    )
    assert.deepEqual(open.tried, [])
    const two = await Promise.allSettled([open.apply(FLEET), open.apply(FLEET)])
    const refused = two.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 1)
    assert.equal((refused[0] as PromiseRejectedResult).reason.code, 'fleet_changed')
  })

  test('[DCL-9] what was not tried at the CA is not applied, also without an etag', async () => {
    const fleet = {
      politicas: [
        { role: 'web', cert_ttl: 7200 },
        { role: 'db', cert_ttl: 3600 },
      ],
    }
    await open.apply({ politicas: fleet.politicas.slice(0, 1) })
    const tried: number[] = []
    const changing = openAdmin(open.store, {
      tryLifetime: async (seconds) => {
        tried.push(seconds)
        if (tried.length === 1) await open.hub.admin.setPolicy({ role: 'web', cert_ttl: 1800 })
        return { serial: '0a', revoked: true }
      },
    })
    const request = { manager: 'default', ...FILES, ...fleet }
    await assert.rejects(changing.admin.applyFleet(request), { code: 'fleet_changed' })
    assert.deepEqual(tried, [3600])
    assert.equal((await open.hub.admin.showPolicy({ role: 'web' })).cert_ttl, 1800)
    await changing.admin.applyFleet(request)
    assert.deepEqual(tried, [3600, 7200, 3600])
    assert.equal((await open.hub.admin.showPolicy({ role: 'web' })).cert_ttl, 7200)
  })

  test('[DCL-9] a politica with a selector that the plan had not is not applied, also without an etag', async () => {
    const seletor = { nome: 'stage', where: 'env=stage', cert_ttl: 3600 }
    await open.apply({ politicas_seletor: [seletor] })
    const fleet = {
      politicas: [{ role: 'db', cert_ttl: 3600 }],
      politicas_seletor: [seletor],
    }
    let isChanged = false
    const changing = openAdmin(open.store, {
      tryLifetime: async () => {
        if (!isChanged) await open.hub.admin.removeSelectorPolicy({ nome: 'stage' })
        isChanged = true
        return { serial: '0a', revoked: true }
      },
    })
    const request = { manager: 'default', ...FILES, ...fleet }
    await assert.rejects(changing.admin.applyFleet(request), { code: 'fleet_changed' })
    await changing.admin.applyFleet(request)
  })

  test('[DCL-8] whatever fails in between leaves nothing', async () => {
    const { etag } = await open.plan(FLEET)
    const owners = await open.hub.admin.listOwnedFields({})
    for (const method of [
      'setPolicy',
      'insertJoinRule',
      'changeLabels',
      'insertEntries',
    ] as const) {
      const failing = openAdmin(failingAt(open.store, method), {
        tryLifetime: async () => ({ serial: '0a', revoked: true }),
      })
      const request = { manager: 'default', ...FILES, ...FLEET, etag }
      await assert.rejects(failing.admin.applyFleet(request), { message: `no ${method}` })
      assert.equal((await open.plan(FLEET)).etag, etag)
      assert.deepEqual(await open.hub.admin.listOwnedFields({}), owners)
    }
    assert.deepEqual(await readActs(open.store.reader, open.seq), [])
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
