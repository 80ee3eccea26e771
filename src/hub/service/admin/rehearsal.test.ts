import assert from 'node:assert/strict'
import type { AdminHubRow } from '../../../protocol/admin/hubs.ts'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { HUB } from '../../../../test/cli/fake-hub-row.ts'
import { insertPasskey } from '../../../../test/support/passkey-samples.ts'
import { passkeyIdOf } from '../../domain/passkey.ts'
import { beginSession } from '../../../../test/support/begun-session.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { FLEET_SAMPLE, JOIN_RULE, REFUSED_FLEET } from '../../../../test/support/fleet-samples.ts'
import { makeAgeFile } from '../../../../test/support/made-age-file.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import {
  REFUSED_ROLLOUTS,
  ROLLOUT_REQUESTS,
  startRollouts,
} from '../../../../test/support/rehearsed-rollouts.ts'
import { signLog } from '../../../../test/support/signed-log.ts'
import { TestTrustKey } from '../../../../test/support/trust-keys.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import { insertAgent, newAgent, NOW } from '../../../../test/store/store-samples.ts'
import { insertWebhook } from '../../../../test/support/webhook-samples.ts'
import { Secret } from '../../../platform/secret.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { AdminRehearsal } from '../../../protocol/admin/operation.ts'
import {
  ADMIN_OPERATION_NAMES,
  ADMIN_OPERATIONS,
  type AdminNamesOf,
  type AdminOperationName,
  type AdminOperations,
  type AdminRequest,
} from '../../../protocol/admin/operations.ts'
import { findAdminRequestFault } from '../../../protocol/admin/requests.ts'
import type { DeliveryId, Recipient } from '../../../protocol/identifiers.ts'
import { type AdminRoots, createAdminRoots } from '../roots/bundle-operations.ts'
import { CurrentRootSet } from '../roots/current-root-set.ts'
import { openReader } from '../../store/sqlite/encrypted-database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { createAdminOperations } from './admin-operations.ts'

/** Here neither a token asks (own-token.test.ts) nor a session (admin-passkeys.test.ts). */
type ChangeName = Exclude<AdminNamesOf<'changes' | 'creates'>, 'registerPasskey' | 'revokeOwnToken'>

const FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'
const DAY_MS = 86_400_000
const SITE = { tipo: 'csr_cert', nome: 'site', agentes: [], roles: ['web'], sans: [] }
const OF_SELECTOR = { ...SITE, nome: 'host', roles: [], where: 'role=web' }

/** A vault with one thing of each kind, and all that a rehearsal could have an effect on. */
interface Setting {
  readonly store: Store
  readonly admin: AdminOperations
  readonly operator: AdminOperations
  readonly effects: string[]
  readonly agents: readonly string[]
  readonly cosigned: AdminRequest<'keepCosigned'>
  readonly made: {
    readonly selected: string
    readonly carga: string
    readonly entrega: string
    readonly token: string
    readonly webhook: string
    readonly session: string
    readonly passkey: string
  }
  /** Every row of every table. */
  readonly dump: () => string
}

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }
const SILENT_HUB: AdminHubRow = { ...HUB, host: 'hub-2.example', state: 'silent', is_this: false }

let oldRoot: Certificate
let newRoot: Certificate
/** The hub's own certificate leads to it. */
let ownRoot: Certificate

before(async () => {
  oldRoot = await createSampleRoot('Old', new Date(NOW.getTime() + DAY_MS))
  newRoot = await createSampleRoot('New', new Date(NOW.getTime() + DAY_MS))
  ownRoot = oldRoot
})

/** Of `more` agents besides the two, a slice or several. */
async function withVault(work: (setting: Setting) => Promise<void>, more = 0): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'rehearsal-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const file = { path: join(directory, 'db.enc'), dataKey: new Secret(randomBytes(32)) }
  const store = await openSqliteStore({ ...file, createIfMissing: true })
  stack.defer(() => store.close())
  const effects: string[] = []
  const { roots, insertRoots } = openRoots(store, effects)
  await insertRoots()
  const webhooks = {
    changed: async () => void effects.push('webhooks changed'),
    test: async () => {
      effects.push('sent')
      return { messageId: 'msg', ok: true, status: 200, error: null, durationMs: 1 }
    },
  }
  const cutOff = (id: string) => void effects.push(`cut off ${id}`)
  const remove = async (id: string) => void effects.push(`removed ${id}`)
  const hubs = { list: async () => [SILENT_HUB], remove }
  const hub = openAdmin(store, { roots, webhooks, cutOff, hubs })
  const names = ['web-1', 'web-2', ...Array.from({ length: more }, (_, at) => `more-${at}`)]
  const agents = names.map((name) => newAgent(name))
  const gone = { ...(await insertAgent(store, 'gone')), revokedAt: NOW }
  await store.write(async (writer) => {
    await writer.updateAgent(gone)
    for (const agent of agents) {
      await writer.insertAgent(agent)
      await writer.setRecipient(agent.id, 'age1pq1one' as Recipient)
    }
  })
  const { carga_id: carga, entregas } = await hub.admin.createCargo(SITE)
  const { id: token } = await hub.admin.createToken({ hostname: 'web-8', role: 'web' })
  const { token: text } = await hub.admin.createAccessToken({ name: 'ci', role: 'viewer' })
  const session = await beginSession(store, CLOCK, text)
  const passkey = passkeyIdOf(await insertPasskey(store, 'ci'))
  await hub.admin.setPolicy({ role: 'web', nome: 'web' })
  await hub.admin.setSelectorPolicy({ nome: 'prod', where: 'env=prod' })
  await hub.admin.createJoinRule(JOIN_RULE)
  await startRollouts(hub.admin, SITE)
  const { id: webhook } = await insertWebhook(store)
  const { carga_id: selected } = await hub.admin.createCargo(OF_SELECTOR)
  await hub.admin.selectCargo({ carga: selected, where: 'role=db' })
  const failed = entregas.map(({ id }) => id as DeliveryId)
  await store.write(async (writer) => {
    for (const id of failed) await writer.setDeliveryStatus(id, 'falhou', NOW, 'disk full')
  })
  const cosigned = await signLog(store)
  hub.told.length = 0
  effects.length = 0
  const reader = openReader(file.path, file.dataKey)
  stack.defer(() => void reader.close())
  await work({
    store,
    admin: hub.admin,
    operator: hub.as('operator'),
    get effects() {
      return [...effects, ...hub.told]
    },
    agents: agents.map(({ id }) => id),
    cosigned,
    made: { carga, selected, entrega: failed[0] ?? '', token, webhook, session, passkey },
    dump: () => {
      const sql = `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
      const tables = reader.prepare(sql).all() as { name: string }[]
      assert.ok(tables.length > 20)
      return JSON.stringify(tables.map(({ name }) => reader.prepare(`SELECT * FROM ${name}`).all()))
    },
  })
}

function openRoots(store: Store, effects: string[]) {
  const set = { epoch: 1, number: 1, pem: oldRoot.pem, createdAt: NOW }
  const roots: AdminRoots = createAdminRoots({
    store,
    clock: CLOCK,
    log: collectLog().log,
    current: new CurrentRootSet(set),
    readFileRoots: async () => (ownRoot === oldRoot ? [oldRoot, newRoot] : [newRoot]),
    hub: {
      useForAuthority: () => void effects.push('roots for the CA'),
      serverRoot: (among) => among.find(({ sha256 }) => sha256 === oldRoot.sha256),
      renewServerCertificate: async () => void effects.push('renewed'),
      useForAgents: async () => void effects.push('roots for agents'),
    },
  })
  return { roots, insertRoots: () => store.write((writer) => writer.insertRootSet(set)) }
}

function sealedFor(agents: readonly string[]) {
  const conteudo = makeAgeFile(agents.length, 10).toString('base64')
  const destinatarios = agents.map((agente) => ({ agente, fingerprint: FINGERPRINT }))
  return { conteudo, destinatarios, escrow: [] }
}

type Requests = {
  readonly [Name in ChangeName]: (setting: Setting) => readonly AdminRequest<Name>[]
}

const KEY = new TestTrustKey()
const SEALED = { tipo: 'selado', nome: 'secret', agentes: [], roles: [], sans: [] }

/** One that is done, or several; a new operation that changes something asks the compiler for its own. */
const REQUESTS: Requests = {
  archiveEntries: () => [],
  createToken: () => [{ hostname: 'web-9', role: 'web' }],
  revokeToken: ({ made: { token } }) => [{ token }],
  labelAgents: () => [
    { agente: 'gone', set: { env: 'prod' }, remove: ['zone'] },
    { where: 'role=web', set: { env: 'stage' } },
  ],
  createJoinRule: () => [{ ...JOIN_RULE, name: 'other' }],
  endJoinRule: () => [{ join_rule: JOIN_RULE.name }],
  revokeAgent: () => [{ agente: 'web-1' }, { agente: 'gone' }],
  removeAgent: () => [{ agente: 'gone' }],
  pushToAgent: () => [
    { agente: 'web-1', acao: 'sync' },
    { agente: 'web-1', acao: 'rotate' },
    { agente: 'web-1', nome: 'motd', conteudo: 'the very content' },
  ],
  createCargo: ({ agents }) => [
    { ...SITE, nome: 'other' },
    { ...SEALED, selado: sealedFor(agents) },
  ],
  updateCargo: ({ made: { carga } }) => [{ carga, sans: ['a.example'] }],
  removeCargo: ({ made: { carga } }) => [{ carga }],
  ...ROLLOUT_REQUESTS,
  selectCargo: ({ made: { carga } }) => [{ carga, where: 'role=web' }],
  pruneCargo: ({ made: { selected } }) => [{ carga: selected }],
  cancelDelivery: ({ made: { entrega } }) => [{ entrega }],
  retryDeliveries: ({ made: { entrega } }) => [{ entrega }, {}],
  setPolicy: () => [{ role: 'web', token_ttl_max: 600 }],
  removePolicy: () => [{ role: 'web' }],
  setSelectorPolicy: () => [{ nome: 'prod', where: 'env=stage', token_ttl_max: 600 }],
  removeSelectorPolicy: () => [{ nome: 'prod' }],
  updateBundle: () => [{}],
  signBundle: () => [
    { ...KEY.signSet([oldRoot.sha256, newRoot.sha256], { numero: 2 }), trust_key: KEY.text },
  ],
  keepCosigned: ({ cosigned }) => [cosigned],
  createWebhook: () => [{ url: 'https://receiver.example/other', tipos: [] }],
  testWebhook: ({ made: { webhook } }) => [{ webhook }],
  replayWebhook: ({ made: { webhook } }) => [{ webhook, dead: true }],
  removeWebhook: ({ made: { webhook } }) => [{ webhook }],
  applyFleet: () => [FLEET_SAMPLE],
  createAccessToken: () => [{ name: 'other', role: 'viewer' }],
  revokeAccessToken: () => [{ token: 'ci' }],
  endSession: ({ made: { session } }) => [{ session }],
  removePasskeys: ({ made: { passkey } }) => [{ name: 'ci', passkey }, { name: 'ci' }],
  createSignInLink: () => [{ name: 'ci' }, { name: 'on-call', role: 'viewer', ttl_seconds: 60 }],
  removeHub: () => [{ hub: 'hub-2.example' }],
}

/** Refused by what is in the vault. */
const REFUSED: { readonly [Name in ChangeName]: AdminRequest<Name> } = {
  archiveEntries: { before: '2026-01-01T00:00:00Z' },
  createToken: { hostname: 'web-1', role: 'web' },
  revokeToken: { token: 'nobody' },
  labelAgents: { agente: 'nobody', set: { env: 'prod' } },
  createJoinRule: JOIN_RULE,
  endJoinRule: { join_rule: 'nobody' },
  revokeAgent: { agente: 'nobody' },
  removeAgent: { agente: 'web-1' },
  pushToAgent: { agente: 'gone', acao: 'sync' },
  createCargo: SITE,
  updateCargo: { carga: randomUUID() },
  removeCargo: { carga: randomUUID() },
  ...REFUSED_ROLLOUTS,
  selectCargo: { carga: randomUUID(), where: 'role=web' },
  pruneCargo: { carga: randomUUID() },
  cancelDelivery: { entrega: randomUUID() },
  retryDeliveries: { entrega: randomUUID() },
  setPolicy: { role: 'db', nome: 'web' },
  removePolicy: { role: 'db' },
  setSelectorPolicy: { nome: 'web', where: 'env=prod' },
  removeSelectorPolicy: { nome: 'nobody' },
  updateBundle: { numero: 1 },
  signBundle: { statement: 'set', signature: 'none', trust_key: KEY.text },
  keepCosigned: { checkpoint: 'none', witnesses: ['nobody'] },
  createWebhook: { url: 'http://elsewhere.example', tipos: [] },
  testWebhook: { webhook: randomUUID() },
  replayWebhook: { webhook: randomUUID() },
  removeWebhook: { webhook: randomUUID() },
  applyFleet: REFUSED_FLEET,
  createAccessToken: { name: 'ci', role: 'admin' },
  revokeAccessToken: { token: 'nobody' },
  endSession: { session: 'nobodynobody' },
  removePasskeys: { name: 'nobody' },
  createSignInLink: { name: 'nobody' },
  removeHub: { hub: 'nobody' },
}

function ask(operations: AdminOperations, name: AdminOperationName, request: object) {
  return (operations[name] as (request: object) => Promise<unknown>)(request)
}

async function rehearse(operations: AdminOperations, name: ChangeName, request: object) {
  return (await ask(operations, name, { ...request, dry_run: true })) as AdminRehearsal
}

/** Without what is another one each time: ids, beginnings of hashes, and numbers of entries. */
function normalise(acts: unknown): unknown {
  return JSON.parse(
    JSON.stringify(acts).replaceAll(/"[0-9a-f]{8}-[0-9a-f-]{27}"|"[0-9a-f]{16}"/g, '"<id>"'),
  )
}

const CHANGES = ADMIN_OPERATION_NAMES.filter(
  (name): name is ChangeName =>
    ADMIN_OPERATIONS[name].does !== 'reads' && !/^(registerPasskey|revokeOwnToken)$/.test(name),
)

/** What it answers is what the act then records, and whom it tells; and it leaves nothing. */
async function compare(setting: Setting, name: ChangeName, request: object): Promise<void> {
  const { store, admin, dump } = setting
  const dumped = dump()
  const rehearsed = await rehearse(admin, name, request)
  assert.ok(dump() === dumped, 'the vault is as it was')
  assert.equal(setting.effects.join(', '), '')
  const seq = await lastSeq(store.reader)
  const reply = await ask(admin, name, request)
  assert.deepEqual(
    normalise(rehearsed.acts.map(({ tipo, payload }) => [tipo, payload])),
    normalise(await readActs(store.reader, seq)),
  )
  const told = setting.effects.filter((effect) => effect.startsWith('agent '))
  assert.equal(rehearsed.agentes, new Set(told).size)
  for (const field of ['token', 'secret', 'agent_command'] as const) {
    const secret = (reply as Readonly<Record<string, unknown>>)[field]
    if (typeof secret === 'string') {
      assert.doesNotMatch(JSON.stringify(rehearsed), /svct_|svcj_|svca_|whsec_|"[0-9a-f]{64}"/)
    }
  }
  assert.ok(!JSON.stringify(rehearsed).includes('the very content'))
}

describe('a rehearsal', () => {
  // An archiving is several steps: test/conformance/log-archive.test.ts.
  for (const name of CHANGES.filter((change) => change !== 'archiveEntries')) {
    test(`[API-27] of ${name} answers what the act then records, and leaves nothing`, async () => {
      let requests = 1
      for (let at = 0; at < requests; at += 1) {
        await withVault(async (setting) => {
          const all: readonly object[] = REQUESTS[name](setting)
          requests = all.length
          await compare(setting, name, all[at] ?? {})
        })
      }
    })
  }

  test('[API-27] is refused as the act is, and of no other shape', () =>
    withVault(async ({ admin, dump }) => {
      // While a freeze holds there is nothing to refuse of its end.
      for (const name of CHANGES.filter((change) => change !== 'endFreeze')) {
        const dumped = dump()
        const refusal = async (request: object): Promise<unknown> => {
          const error = await ask(admin, name, request).then(
            () => assert.fail(`${name} is done`),
            (reason: Error & { code?: string }) => reason,
          )
          return [error.name, error.code, error.message]
        }
        const rehearsed = await refusal({ ...REFUSED[name], dry_run: true })
        assert.ok(dump() === dumped)
        assert.deepEqual(rehearsed, await refusal(REFUSED[name]), name)
        assert.deepEqual(findAdminRequestFault(name, { ...REFUSED[name], dry_run: 'yes' }), {
          message: 'dry_run must be boolean',
          fields: { dry_run: 'must be boolean' },
        })
        assert.equal(findAdminRequestFault(name, { ...REFUSED[name], dry_run: false }), undefined)
      }
    }))

  test('[API-27] by an operator is refused what an operator may not do', () =>
    withVault(async ({ operator }) => {
      const request = { hostname: 'web-1', role: 'web', reenroll: true }
      const refused = { code: 'reenroll_forbidden' }
      await assert.rejects(operator.createToken(request), refused)
      await assert.rejects(rehearse(operator, 'createToken', request), refused)
    }))

  test('[API-27] with false in place of true is the act', () =>
    withVault(async ({ admin }) => {
      const { hostname } = (await ask(admin, 'createToken', {
        hostname: 'web-9',
        role: 'web',
        dry_run: false,
      })) as { hostname: string }
      assert.equal(hostname, 'web-9')
    }))

  test('[API-27] keeps no reply for an Idempotency-Key, and is answered by none', () =>
    withVault(async ({ store, dump }) => {
      const operations = createAdminOperations(
        {
          store,
          clock: { now: () => NOW, sleep: () => Promise.resolve() },
          addresses: { enrollUrl: '', mtlsUrl: '' },
          hubNames: [],
          contentBytesMax: 1024,
          renewalThresholdMs: 0,
        },
        'admin',
        'admin',
        { credential: '', key: randomUUID() },
      )
      const request = { hostname: 'web-9', role: 'web' }
      const dumped = dump()
      await rehearse(operations, 'createToken', request)
      assert.ok(dump() === dumped)
      await operations.createToken(request)
      await assert.rejects(rehearse(operations, 'createToken', request), {
        code: 'hostname_has_token',
      })
    }))

  test('[API-29] of what only the CA would tell is refused', () =>
    withVault(async (setting) => {
      ownRoot = newRoot
      try {
        const dumped = setting.dump()
        await assert.rejects(rehearse(setting.admin, 'updateBundle', { force: true }), {
          code: 'dry_run_unsupported',
        })
        assert.ok(setting.dump() === dumped)
        assert.deepEqual(setting.effects, [])
      } finally {
        ownRoot = oldRoot
      }
    }))

  const FLEET: readonly ChangeName[] = ADMIN_OPERATION_NAMES.filter(
    (name): name is ChangeName => ADMIN_OPERATIONS[name].isFleetWide === true,
  )
  for (const name of FLEET) {
    test(`[API-27] [FLT-10] of ${name} for many agents answers what the act then records`, async () => {
      await withVault(async (setting) => {
        const request = REQUESTS[name](setting).findLast((each) => !('selado' in each))
        await compare(setting, name, request ?? {})
      }, 600)
    })
  }
})
