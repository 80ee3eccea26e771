import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import {
  ADMIN_OPERATION_NAMES,
  ADMIN_OPERATIONS,
  type AdminNamesOf,
  type AdminOperations,
} from '../../../protocol/admin/operations.ts'
import { insertAgent, insertCargo, insertDelivery } from '../../../../test/store/store-samples.ts'
import type { Store } from '../../store/store.ts'
import type { IdempotencySecret } from './admin-context.ts'
import { createAdminOperations } from './admin-operations.ts'
import { createReplySeal } from './sealed-replies.ts'

const HOUR_MS = 3_600_000
const SECRET: IdempotencySecret = { credential: 'svca_one', key: randomUUID() }

type AdminCreateName = AdminNamesOf<'creates'>

const REQUESTS: { readonly [Name in AdminCreateName]: Parameters<AdminOperations[Name]>[0] } = {
  createToken: { hostname: 'web-2', role: 'web' },
  createJoinRule: {
    name: 'web',
    method: 'token',
    pattern: 'web-*.example.org',
    role: 'web',
    hosts_max: 2,
  },
  createCargo: { tipo: 'csr_cert', nome: 'site', agentes: ['web-1'], roles: [], sans: [] },
  applyFleet: {
    manager: 'default',
    files_sha256: '0'.repeat(64),
    webhooks: [{ url: 'https://receiver.example/in' }],
  },
  startRollout: { carga: 'rolled', waves: ['1', '100%'], soak_seconds: 0, max_failed: '0' },
  startRotation: { waves: ['1', '100%'], soak_seconds: 0, max_failed: '0' },
  startUpdate: { programa: '0.5.0', waves: ['1', '100%'], soak_seconds: 0, max_failed: '0' },
  createAccessToken: { name: 'ci', role: 'viewer' },
  createSignInLink: { name: 'on-call', role: 'viewer' },
  createWebhook: { url: 'https://receiver.example/in', tipos: ['agent_enrolled'] },
  pushToAgent: { agente: 'web-1', nome: 'motd', conteudo: 'hello' },
}

interface Setting {
  readonly store: Store
  readonly operationsOf: (secret: IdempotencySecret) => AdminOperations
  readonly advance: (ms: number) => void
}

async function withStore(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  let nowMs = Date.parse('2026-11-21T10:00:00Z')
  const clock = { now: () => new Date(nowMs), sleep: () => Promise.resolve() }
  const addresses = { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' }
  const { id } = await insertAgent(store, 'web-1')
  await insertDelivery(store, id, await insertCargo(store, 'rolled'))
  await work({
    store,
    operationsOf: (secret) =>
      createAdminOperations(
        {
          store,
          clock,
          addresses,
          hubNames: [],
          contentBytesMax: 1024,
          renewalThresholdMs: 1000,
        },
        'admin',
        'admin',
        secret,
      ),
    advance: (ms) => {
      nowMs += ms
    },
  })
}

function create(operations: AdminOperations, name: AdminCreateName): Promise<object> {
  return (operations[name] as (request: object) => Promise<object>)(REQUESTS[name])
}

const isCreate = (name: string): name is AdminCreateName => name in REQUESTS

test('[API-16] these make something', () => {
  const creates = ADMIN_OPERATION_NAMES.filter((name) => ADMIN_OPERATIONS[name].does === 'creates')
  assert.deepEqual(creates.toSorted(), Object.keys(REQUESTS).toSorted())
})

for (const name of ADMIN_OPERATION_NAMES.filter(isCreate)) {
  test(`[API-16] ${name} is done once for a day, and answered alike`, () =>
    withStore(async ({ store, operationsOf, advance }) => {
      const operations = operationsOf(SECRET)
      const replies = await Promise.all([1, 2, 3].map(() => create(operations, name)))
      advance(24 * HOUR_MS - 1)
      replies.push(await create(operationsOf({ ...SECRET }), name))
      for (const reply of replies) assert.deepEqual(reply, replies[0])
      // A link of a role comes with its token.
      const entries = name === 'createSignInLink' ? 2 : 1
      assert.equal((await store.reader.listEntries({ afterSeq: 0, limit: 9 })).length, entries)
      advance(1)
      const again = await create(operations, name).catch((error: unknown) => error)
      assert.notDeepEqual(again, replies[0])
    }))
}

test('[API-16] a create that was refused is not remembered', () =>
  withStore(async ({ operationsOf, store }) => {
    const operations = operationsOf(SECRET)
    const request = { ...REQUESTS.createCargo, agentes: ['web-9'] }
    await assert.rejects(operations.createCargo(request), { code: 'agent_not_found' })
    await insertAgent(store, 'web-9')
    assert.equal((await operations.createCargo(request)).entregas.length, 1)
    await assert.rejects(operations.createCargo({ ...request, nome: 'other' }), {
      code: 'idempotency_key_reused',
    })
  }))

test('[API-17] what is kept opens only with the key and the token that it was asked with', () =>
  withStore(async ({ store, operationsOf }) => {
    const { token } = await operationsOf(SECRET).createAccessToken(REQUESTS.createAccessToken)
    const seal = createReplySeal(SECRET)
    const kept = await store.reader.findReply(seal.id, new Date('2026-11-21T11:00:00Z'))
    assert.ok(kept !== undefined)
    assert.ok(!Buffer.from(kept.sealed).includes(token))
    assert.match(JSON.stringify(seal.open(kept.sealed)), new RegExp(token))
    for (const other of [
      { ...SECRET, key: randomUUID() },
      { ...SECRET, credential: 'svca_two' },
      { credential: '', key: `${SECRET.credential}${SECRET.key}` },
    ]) {
      const wrong = createReplySeal(other)
      assert.notEqual(wrong.id, seal.id)
      assert.throws(() => wrong.open(kept.sealed))
    }
  }))
