import { NO_ISSUERS } from '../../../../test/fakes/issuer-keys.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyAndCsr } from '../../../../test/support/enrolled-host.ts'
import { createGate } from '../../../../test/support/scripted-ca.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createLogging } from '../../../platform/logger.ts'
import type { SignedCertificate } from '../../ca/certificate-authority.ts'
import { insertAgent, NOW } from '../../../../test/store/store-samples.ts'
import type { Store } from '../../store/store.ts'
import { createAdminOperations } from './admin-operations.ts'
import { createEnrollAgent } from '../agent/enroll-agent.ts'

const HOUR_MS = 3_600_000
const AGAIN = { hostname: 'web-1', role: 'web', reenroll: true }

interface Setting {
  readonly store: Store
  readonly admin: ReturnType<typeof createAdminOperations>
  readonly enrol: (token: string) => Promise<string>
  readonly setClock: (time: Date) => void
  /** What the CA waits for before it signs. */
  readonly holdCa: (until: Promise<void>) => void
  readonly signCalls: () => number
}

async function inSetting(work: (setting: Setting) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  let now = NOW
  let held = Promise.resolve()
  let signCalls = 0
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const admin = createAdminOperations(
    {
      store,
      clock,
      addresses: { enrollUrl: '', mtlsUrl: '' },
      hubNames: ['hub.test'],
      contentBytesMax: 1024,
      renewalThresholdMs: 0,
    },
    'admin',
    'admin',
  )
  const { csrPem } = await createKeyAndCsr('web-1')
  const enrollAgent = createEnrollAgent({
    keys: NO_ISSUERS,
    store,
    clock,
    authority: {
      rootPem: '',
      sign: async () => {
        signCalls += 1
        await held
        return signedNumber(signCalls)
      },
      revoke: () => assert.fail('nothing is revoked'),
    },
    log: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test'),
    hubNames: ['hub.test'],
  })
  const enrol = async (token: string): Promise<string> => {
    const request = { token, hostname: 'web-1', role: 'web', csr_pem: csrPem }
    const outcome = await enrollAgent(request, undefined)
    return outcome.ok ? 'enrolled' : outcome.refusal
  }
  await work({
    store,
    admin,
    enrol,
    setClock: (time) => void (now = time),
    holdCa: (until) => void (held = until),
    signCalls: () => signCalls,
  })
}

/** What of it the hub records; nobody looks at the rest here. */
function signedNumber(count: number): SignedCertificate {
  const leaf = { sha256: `${count}`.padStart(64, '0'), serial: `${count}` }
  const validity = { notBefore: NOW, notAfter: new Date(NOW.getTime() + 24 * HOUR_MS) }
  return { leaf: { ...leaf, ...validity }, chainPem: '', rootSha256: undefined } as never
}

test('[TOK-9] revoking a host ends every open token that names it, whatever it was made for', () =>
  inSetting(async ({ store, admin, enrol }) => {
    const first = await admin.createToken({ hostname: 'web-1', role: 'web' })
    const second = await admin.createToken(AGAIN)
    const other = await admin.createToken({ hostname: 'web-2', role: 'web' })
    await insertAgent(store, 'web-1')
    const revoked = await admin.revokeAgent({ agente: 'web-1' })
    assert.equal(revoked.tokens_ended, 2)
    for (const { token } of [first, second]) assert.equal(await enrol(token), 'token_expired')
    assert.equal(await enrol(other.token), 'hostname_mismatch')
    const { eventos } = await admin.listEntries({ tipo: 'agent_revoked' })
    assert.deepEqual(
      eventos.map(({ payload }) => payload['tokens_ended']),
      [2],
    )
  }))

test('[TOK-9] a token that is made after the revocation brings the host back', () =>
  inSetting(async ({ store, admin, enrol }) => {
    await insertAgent(store, 'web-1')
    await admin.revokeAgent({ agente: 'web-1' })
    const { token } = await admin.createToken(AGAIN)
    assert.equal(await enrol(token), 'enrolled')
  }))

test('[TOK-9] which came first is told by the log, whatever the clock did between', () =>
  inSetting(async ({ store, admin, enrol, setClock }) => {
    await insertAgent(store, 'web-1')
    setClock(new Date(NOW.getTime() + HOUR_MS))
    const before = await admin.createToken({ ...AGAIN, ttl_seconds: 7 * 86_400 })
    setClock(NOW)
    await admin.revokeAgent({ agente: 'web-1' })
    assert.equal(await enrol(before.token), 'token_expired')
    setClock(new Date(NOW.getTime() - HOUR_MS))
    const after = await admin.createToken(AGAIN)
    assert.equal(await enrol(after.token), 'enrolled')
  }))

test('[TOK-9] an enrolment that the CA has not answered ends with its token', () =>
  inSetting(async ({ store, admin, enrol, holdCa, signCalls }) => {
    const { id } = await insertAgent(store, 'web-1')
    const { token } = await admin.createToken(AGAIN)
    const { opened, open } = createGate()
    holdCa(opened)
    const underWay = enrol(token)
    while (signCalls() === 0) await new Promise((resolve) => setImmediate(resolve))
    await admin.revokeAgent({ agente: 'web-1' })
    open()
    assert.equal(await underWay, 'token_expired')
    const agent = await store.reader.findAgentById(id)
    assert.notEqual(agent?.revokedAt, null)
    assert.equal(await store.reader.findNewestIdentity(id), undefined)
  }))

test('[TOK-9] revoking once more ends what was made since, and nothing of a host that has the name by now', () =>
  inSetting(async ({ store, admin, enrol }) => {
    const { id } = await insertAgent(store, 'web-1')
    const { revoked_at } = await admin.revokeAgent({ agente: id })
    const { token } = await admin.createToken(AGAIN)
    const again = await admin.revokeAgent({ agente: id })
    assert.deepEqual([again.revoked_at, again.tokens_ended], [revoked_at, 1])
    assert.equal(await enrol(token), 'token_expired')
    await admin.removeAgent({ agente: id })
    const successor = await admin.createToken({ hostname: 'web-1', role: 'web' })
    assert.equal((await admin.revokeAgent({ agente: id })).tokens_ended, 0)
    assert.equal(await enrol(successor.token), 'enrolled')
  }))
