import { NO_ISSUERS } from '../../../test/fakes/issuer-keys.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import type { AdminRole } from '../../protocol/admin/roles.ts'
import { createLogging } from '../../platform/logger.ts'
import { insertAgent, newAgent, NOW } from '../../../test/store/store-samples.ts'
import type { Store } from '../store/store.ts'
import { createAdminOperations } from './admin/admin-operations.ts'
import { createEnrollAgent } from './agent/enroll-agent.ts'

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }
const AGAIN = { hostname: 'web-1', role: 'web', reenroll: true }
const CARGO = { tipo: 'csr_cert', agentes: ['web-1'], roles: [] as string[] }

type Operations = ReturnType<typeof createAdminOperations>

interface Setting {
  readonly store: Store
  readonly admin: Operations
  readonly operator: Operations
}

/** With web-1, of the role web. */
async function inSetting(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  await insertAgent(store, 'web-1')
  const of = (role: AdminRole): Operations =>
    createAdminOperations(
      {
        store,
        clock: CLOCK,
        addresses: { enrollUrl: '', mtlsUrl: '' },
        hubNames: ['hub.test'],
        contentBytesMax: 1024,
        renewalThresholdMs: 0,
      },
      role === 'admin' ? 'admin' : 'token:ci',
      role,
    )
  await work({ store, admin: of('admin'), operator: of('operator') })
}

describe('[POL-17] an operator has a host enrolled again', () => {
  test('only where the politica of its role says so, and is told which and by whom', () =>
    inSetting(async ({ admin, operator }) => {
      await assert.rejects(operator.createToken(AGAIN), {
        code: 'reenroll_forbidden',
        message: 'a token of role operator may not enrol web-1 again: role web has no policy',
        details: { politica: 'web' },
      })
      await admin.setPolicy({ role: '*', nome: 'everybody', token_ttl_max: 60 })
      await assert.rejects(operator.createToken(AGAIN), {
        message:
          'a token of role operator may not enrol web-1 again: policy everybody, of role *, does not let operators do it',
        details: { politica: '*' },
      })
      await admin.createToken(AGAIN)
      await admin.setPolicy({ role: 'web', reenroll: true })
      await operator.createToken(AGAIN)
      await admin.setPolicy({ role: 'web', reenroll: false })
      await assert.rejects(operator.createToken(AGAIN), { code: 'reenroll_forbidden' })
    }))

  test('of the role that it has as well as of the role that it gets', () =>
    inSetting(async ({ admin, operator }) => {
      await admin.setPolicy({ role: 'db', reenroll: true })
      await assert.rejects(operator.createToken({ ...AGAIN, role: 'db' }), {
        code: 'reenroll_forbidden',
      })
      await admin.setPolicy({ role: 'web', reenroll: true })
      await operator.createToken({ ...AGAIN, role: 'db' })
    }))

  test('[ENR-8] and by the politicas and the role of the moment of its enrolment', () =>
    inSetting(async ({ store, admin, operator }) => {
      const enrollAgent = createEnrollAgent({
        keys: NO_ISSUERS,
        store,
        clock: CLOCK,
        authority: {
          rootPem: '',
          sign: () => assert.fail('nothing is signed'),
          revoke: () => assert.fail('nothing is revoked'),
        },
        log: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test'),
        hubNames: ['hub.test'],
      })
      const refusalOf = async (token: string, hostname: string): Promise<string> => {
        const outcome = await enrollAgent(
          { token, hostname, role: 'web', csr_pem: 'no' },
          undefined,
        )
        return outcome.ok ? 'enrolled' : outcome.refusal
      }
      await admin.setPolicy({ role: 'web', reenroll: true })
      const { token } = await operator.createToken(AGAIN)
      const ofAdmin = await admin.createToken(AGAIN)
      // The CSR is what is looked at next.
      assert.equal(await refusalOf(token, 'web-1'), 'csr_invalid')
      await admin.setPolicy({ role: 'web', reenroll: false })
      assert.equal(await refusalOf(token, 'web-1'), 'agent_already_enrolled')
      assert.equal(await refusalOf(ofAdmin.token, 'web-1'), 'csr_invalid')

      await admin.setPolicy({ role: 'web', reenroll: true })
      const early = await operator.createToken({ ...AGAIN, hostname: 'web-2' })
      assert.equal(await refusalOf(early.token, 'web-2'), 'csr_invalid')
      await store.write((writer) => writer.insertAgent({ ...newAgent('web-2'), role: 'db' }))
      assert.equal(await refusalOf(early.token, 'web-2'), 'agent_already_enrolled')
    }))
})

describe('[POL-18] an operator gives a name besides the host’s own', () => {
  test('only where --san of the politica names it: to permit all by default is no such word', () =>
    inSetting(async ({ admin, operator }) => {
      const create = (nome: string, ...sans: string[]) =>
        operator.createCargo({ ...CARGO, nome, sans })
      await create('own', 'web-1')
      await assert.rejects(create('site', 'a.shop.example'), {
        code: 'san_forbidden',
        message:
          'a token of role operator may not give agent web-1 the name a.shop.example: role web has no policy',
        details: { politica: 'web', san: 'a.shop.example' },
      })
      const { sans_permitidos, sans_nomeados } = await admin.setPolicy({
        role: 'web',
        token_ttl_max: 60,
      })
      assert.deepEqual([sans_permitidos, sans_nomeados], [['*'], false])
      await assert.rejects(create('site', 'a.shop.example'), {
        message:
          'a token of role operator may not give agent web-1 the name a.shop.example: policy web, of role web, does not name it',
      })
      await admin.setPolicy({ role: 'web', sans_permitidos: ['*.shop.example'] })
      await create('site', 'a.shop.example')
      await admin.setPolicy({ role: 'web', sans_permitidos: ['*'] })
      await create('any', 'b.example')
      await admin.createCargo({ ...CARGO, nome: 'admins', sans: ['c.example'] })
    }))

  test('an update may keep the names that are there, and is asked for those that are new', () =>
    inSetting(async ({ admin, operator }) => {
      const { carga_id: carga } = await admin.createCargo({
        ...CARGO,
        nome: 'site',
        sans: ['a.example', 'b.example'],
      })
      await operator.updateCargo({ carga })
      await operator.updateCargo({ carga, sans: ['a.example', 'web-1'] })
      await assert.rejects(operator.updateCargo({ carga, sans: ['a.example', 'b.example'] }), {
        code: 'san_forbidden',
      })
      await admin.updateCargo({ carga, sans: ['a.example', 'b.example'] })
    }))

  test('nor through a carga that a politica gives to hosts that are yet to come', () =>
    inSetting(async ({ admin, operator }) => {
      const nobody = { tipo: 'csr_cert', agentes: [], roles: [], unassigned: true }
      const { carga_id: carga } = await operator.createCargo({ ...nobody, nome: 'node', sans: [] })
      await admin.setPolicy({ role: 'web', cargas_automaticas: [carga] })
      await assert.rejects(operator.updateCargo({ carga, sans: ['a.example'] }), {
        code: 'san_forbidden',
        message:
          'a token of role operator may not give the automatic load node the name a.example: policy web, of role web, does not name it',
      })
      await admin.setPolicy({ role: 'web', sans_permitidos: ['a.example'] })
      await operator.updateCargo({ carga, sans: ['a.example'] })
    }))

  test('[LBL-18] nor through a carga of a selector, which hosts get that are yet to match', () =>
    inSetting(async ({ admin, operator }) => {
      const make = (nome: string, where: string) =>
        operator.createCargo({ tipo: 'csr_cert', nome, agentes: [], roles: [], sans: [], where })
      const { carga_id: any } = await make('any', 'group=x')
      await assert.rejects(operator.updateCargo({ carga: any, sans: ['a.example'] }), {
        code: 'san_forbidden',
        message:
          'a token of role operator gives names only by a selector that says which roles match, as in role=web',
      })
      const { carga_id: carga } = await make('shop', 'role=shop')
      await assert.rejects(operator.updateCargo({ carga, sans: ['a.example'] }), {
        code: 'san_forbidden',
        message:
          'a token of role operator may not give hosts of role shop the name a.example: role shop has no policy',
      })
      await admin.setPolicy({ role: 'shop', sans_permitidos: ['a.example'] })
      await operator.updateCargo({ carga, sans: ['a.example'] })
      await admin.updateCargo({ carga: any, sans: ['b.example'] })
      await operator.updateCargo({ carga: any, sans: ['b.example'] })
    }))

  test('[LBL-18] [RLO-1] nor through a rollout of it, whichever of the two comes first', () =>
    inSetting(async ({ admin, operator }) => {
      const waves = { waves: ['1', '100%'], max_failed: '0', soak_seconds: 60 }
      await admin.setPolicy({ role: 'web', sans_permitidos: ['a.example'] })
      const code = 'san_forbidden'
      const { carga_id: first } = await operator.createCargo({ ...CARGO, nome: 'a', sans: [] })
      await operator.startRollout({ carga: first, sans: ['a.example'], ...waves })
      await assert.rejects(operator.selectCargo({ carga: first, where: 'group=x' }), { code })
      await operator.selectCargo({ carga: first, where: 'role=web' })
      const { carga_id: other } = await operator.createCargo({ ...CARGO, nome: 'b', sans: [] })
      await operator.selectCargo({ carga: other, where: 'group=x' })
      const rollout = { carga: other, sans: ['a.example'], ...waves }
      await assert.rejects(operator.startRollout(rollout), { code })
      await admin.startRollout(rollout)
    }))
})
