// What an admin token sees and touches that is for some hosts alone: docs/protocol.md LBL-15 to LBL-17.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin, type ToldAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { insertAgent, NOW } from '../../../../test/store/store-samples.ts'
import {
  ADMIN_OPERATION_NAMES,
  ADMIN_OPERATIONS,
  type AdminOperationName,
} from '../../../protocol/admin/operations.ts'
import { hashToken } from '../../domain/hash-token.ts'
import type { Store } from '../../store/store.ts'
import { createLeakedTokens } from '../agent/end-leaked-token.ts'
import { createAuthenticateOperator } from './authenticate-operator.ts'
import { createPerformOperation } from './perform-operation.ts'

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }

let store: Store & AsyncDisposable
let hub: ToldAdmin
/** By hostname; and of each host the entregas of `site`. */
const ids: Record<string, string> = {}

before(async () => {
  store = await openTemporaryStore()
  hub = openAdmin(store)
  for (const [name, env] of [
    ['stage-1', 'stage'],
    ['stage-2', 'stage'],
    ['prod-1', 'prod'],
    ['plain-1', ''],
  ] as const) {
    ids[name] = (await insertAgent(store, name)).id
    if (env !== '') await hub.admin.labelAgents({ agente: name, set: { env } })
  }
  const carga = (nome: string, agentes: string[]) =>
    hub.admin.createCargo({ tipo: 'csr_cert', nome, agentes, roles: [], sans: [] })
  await carga('site', ['stage-1', 'prod-1'])
  await carga('vault-key', ['prod-1'])
})
after(() => store[Symbol.asyncDispose]())

async function ask(name: AdminOperationName, request: object): Promise<unknown> {
  const perform = createPerformOperation({
    store,
    clock: CLOCK,
    addresses: { enrollUrl: '', mtlsUrl: '' },
    hubNames: [],
    contentBytesMax: 1024,
    renewalThresholdMs: 0,
  })
  return perform(name, request, { actor: 'token:stage', role: 'operator', only: 'env=stage' })
}

const hostnamesIn = (reply: unknown): string[] =>
  [...JSON.stringify(reply).matchAll(/"hostname":"([^"]*)"/g)].map(([, name = '']) => name)

describe('[LBL-16] for an admin token of some hosts', () => {
  test('lists have these hosts and nothing else, whatever they are asked', async () => {
    for (const [name, request, expected] of [
      ['listAgents', {}, ['stage-1', 'stage-2']],
      ['listAgents', { where: 'env' }, ['stage-1', 'stage-2']],
      ['listAgents', { where: 'env=prod' }, []],
      ['listAgents', { where: '!env' }, []],
      ['listAgents', { limit: 1 }, ['stage-1']],
      ['listAgents', { after: ids['stage-1'] }, ['stage-2']],
      ['listAgents', { after: ids['plain-1'] }, ['stage-1', 'stage-2']],
      ['findDeliveries', {}, ['stage-1']],
      ['findDeliveries', { all: true, sort: 'created' }, ['stage-1']],
      ['findDeliveries', { status: ['pendente'] }, ['stage-1']],
      ['findDeliveries', { role: 'web', where: 'env=prod' }, []],
      ['findDeliveries', { carga: 'site' }, ['stage-1']],
      ['findDeliveries', { carga: 'vault-key' }, []],
      ['findDeliveries', { carga: 'never-was' }, []],
      ['findDeliveries', { agente: 'stage-1', carga: 'site' }, ['stage-1']],
      ['findDeliveries', { agente: 'stage-2' }, []],
    ] as const) {
      const reply = await ask(name, request)
      assert.deepEqual(hostnamesIn(reply), expected, `${name} ${JSON.stringify(request)}`)
      assert.doesNotMatch(JSON.stringify(reply), /prod-1|plain-1|vault-key/)
    }
  })

  test('no other host is there, and nothing happens to it', async () => {
    const seq = await lastSeq(store.reader)
    for (const host of ['prod-1', 'plain-1', 'never-was']) {
      for (const named of [host, ids[host] ?? 'never-was']) {
        for (const [name, rest] of [
          ['showAgent', {}],
          ['findDeliveries', {}],
          ['revokeAgent', {}],
          ['revokeAgent', { dry_run: true }],
          ['pushToAgent', { acao: 'sync' }],
          ['pushToAgent', { acao: 'rotate' }],
          ['pushToAgent', { nome: 'motd', conteudo: 'x' }],
          ['pushToAgent', { nome: 'motd', conteudo: 'x', dry_run: true }],
        ] as const) {
          await assert.rejects(
            ask(name, { agente: named, ...rest }),
            { code: 'agent_not_found', message: `no agent ${named}` },
            `${name} ${named}`,
          )
        }
      }
    }
    assert.deepEqual(await readActs(store.reader, seq), [])
  })

  test('these hosts are what they are for others, until they no longer match', async () => {
    const shown = (await ask('showAgent', { agente: 'stage-1' })) as { entregas: object[] }
    assert.equal(shown.entregas.length, 1)
    await ask('pushToAgent', { agente: 'stage-2', acao: 'sync' })
    await ask('pushToAgent', { agente: 'stage-2', nome: 'motd', conteudo: 'x' })
    await hub.admin.labelAgents({ agente: 'stage-2', set: { env: 'prod' } })
    await assert.rejects(ask('pushToAgent', { agente: 'stage-2', acao: 'sync' }), {
      code: 'agent_not_found',
    })
    await hub.admin.labelAgents({ agente: 'stage-2', set: { env: 'stage' } })
    await ask('revokeAgent', { agente: 'stage-2' })
    assert.notEqual((await hub.admin.showAgent({ agente: 'stage-2' })).revoked_at, null)
  })

  test('only what looks at its hosts alone is for it', async () => {
    const allowed = ADMIN_OPERATION_NAMES.filter((name) => ADMIN_OPERATIONS[name].isForSomeHosts)
    assert.deepEqual(allowed.toSorted(), [
      'endSession',
      'findDeliveries',
      'listAgents',
      'listCertificates',
      'listPasskeys',
      'listSessions',
      'prepareConfirmation',
      'preparePasskey',
      'pushToAgent',
      'registerPasskey',
      'removePasskeys',
      'revokeAgent',
      'revokeOwnToken',
      'search',
      'showAgent',
      'showFeatures',
      'showOwnToken',
      'showSession',
    ])
    for (const name of ADMIN_OPERATION_NAMES.filter((each) => !allowed.includes(each))) {
      await assert.rejects(ask(name, {}), { name: 'InvariantError' }, name)
    }
  })
})

describe('[LBL-15] an admin token of some hosts', () => {
  const create = (only: string, role: 'viewer' | 'operator' | 'admin' = 'operator') =>
    hub.admin.createAccessToken({ name: `t-${only.length}-${role}`, role, only })

  test('says so in lists and in the log', async () => {
    const seq = await lastSeq(store.reader)
    const { token, ...made } = await create(' env == stage , role in (web)')
    assert.equal(made.only, 'env=stage,role=web')
    const { admin_tokens: tokens } = await hub.admin.listAccessTokens({})
    assert.equal(tokens.find(({ id }) => id === made.id)?.only, 'env=stage,role=web')
    const [[, payload] = []] = await readActs(store.reader, seq)
    assert.equal((payload as { only: string }).only, 'env=stage,role=web')
    const authenticate = createAuthenticateOperator(store, CLOCK, collectLog().log)
    assert.equal((await authenticate(token))?.only, 'env=stage,role=web')
  })

  test('is no token for a hub that knows no bounds', async () => {
    const { token } = await create('env=older')
    assert.equal(await store.reader.findAccessToken(hashToken(token)), undefined)
  })

  test('is none when its bound cannot be read, or is gone', async () => {
    const authenticate = createAuthenticateOperator(store, CLOCK, collectLog().log)
    for (const only of ['env ~ stage', null]) {
      const { token, id } = await create(`env=x${only?.length ?? 0}`)
      const [hash] = (await store.reader.listAccessTokens()).map((each) => each.hash)
      assert.ok(hash !== undefined && hash.startsWith(id))
      const kept = (await store.reader.findAccessToken(hash)) ?? assert.fail()
      await store.write((writer) => writer.updateAccessToken({ ...kept, only }))
      assert.equal(await authenticate(token), undefined)
    }
    const { token } = await hub.admin.createAccessToken({ name: 'whole', role: 'viewer' })
    const kept = (await store.reader.findAccessToken(hashToken(token))) ?? assert.fail()
    await store.write((writer) => writer.updateAccessToken({ ...kept, only: 'env=stage' }))
    assert.equal(await authenticate(token), undefined)
  })

  test('[TOK-10] ends when it was in a URL', async () => {
    const { token } = await create('env=leaked')
    const authenticate = createAuthenticateOperator(store, CLOCK, collectLog().log)
    assert.notEqual(await authenticate(token), undefined)
    const leaked = createLeakedTokens(store, CLOCK, collectLog().log)
    await leaked.endTokenIn(`/v1/x?token=${token}`, { port: 'admin', address: '192.0.2.1' })
    assert.equal(await authenticate(token), undefined)
  })

  test('is none of role admin, and none that agents could widen', async () => {
    await assert.rejects(create('env=stage', 'admin'), { code: 'request_invalid' })
    await assert.rejects(create('host.env=stage'), {
      code: 'selector_reported',
      message: 'only: the agents themselves say what host.env is',
    })
    await assert.rejects(create('env='.repeat(2)), {
      code: 'selector_invalid',
      message: 'only, column 8: "=" where a comma or the end belongs',
    })
  })
})
