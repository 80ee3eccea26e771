import assert from 'node:assert/strict'
import { before, after, describe, test } from 'node:test'
import { insertAgent, newCertificate, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminOperations, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { Store } from '../../store/store.ts'
import { createPerformOperation } from './perform-operation.ts'

const HOUR_MS = 3_600_000
const THRESHOLD_MS = 8 * HOUR_MS

/** Of lives of a day: when it ends, from now. */
const HOSTS: readonly (readonly [string, number])[] = [
  ['web-1', -1],
  ['web-2', 1],
  ['web-3', 6],
  ['web-4', 6],
  ['web-5', 20],
]

describe('the certificates in use are listed', () => {
  let store: Store & AsyncDisposable
  let admin: AdminOperations
  const insert = async (name: string, hours: number): Promise<void> => {
    const { id } = await insertAgent(store, name)
    const endMs = NOW.getTime() + hours * HOUR_MS
    await store.write((writer) =>
      writer.insertCertificate({
        ...newCertificate(id),
        notBefore: new Date(endMs - 24 * HOUR_MS),
        notAfter: new Date(endMs),
      }),
    )
  }
  before(async () => {
    store = await openTemporaryStore()
    admin = openAdmin(store, { renewalThresholdMs: THRESHOLD_MS }).admin
    for (const [name, hours] of HOSTS) await insert(name, hours)
  })
  after(() => store[Symbol.asyncDispose]())

  const inHours = (hours: number): string => new Date(NOW.getTime() + hours * HOUR_MS).toISOString()
  const cases: readonly (readonly [AdminRequest<'listCertificates'>, readonly string[]])[] = [
    [{}, ['web-1', 'web-2', 'web-3', 'web-4', 'web-5']],
    [{ state: 'expired' }, ['web-1']],
    [{ state: 'late' }, ['web-2']],
    [{ state: 'renewing' }, ['web-3', 'web-4']],
    [{ state: 'fresh' }, ['web-5']],
    [{ ends_before: inHours(6) }, ['web-1', 'web-2']],
    [{ ends_before: inHours(7), state: 'renewing' }, ['web-3', 'web-4']],
    [{ agente: 'web-4' }, ['web-4']],
    [{ agente: 'web-4', state: 'late' }, []],
  ]
  for (const [request, expected] of cases) {
    test(`[API-121] of ${JSON.stringify(request)}, whole and in pages of one`, async () => {
      const whole = await admin.listCertificates(request)
      const names = whole.certificados.map(({ hostname }) => hostname)
      assert.deepEqual(names.toSorted(), expected)
      assert.equal(whole.total, expected.length)
      const paged: string[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = { ...request, limit: 1, ...(cursor !== undefined && { after: cursor }) }
        const { certificados, next } = await admin.listCertificates(page)
        paged.push(...certificados.map(({ hostname }) => hostname))
        cursor = next
      }
      assert.deepEqual(paged, names)
    })
  }

  test('[API-121] each says when its renewal is expected', async () => {
    const { certificados } = await admin.listCertificates({ agente: 'web-5' })
    const [shown] = certificados
    assert.equal(shown?.renewal_expected_at, inHours(12))
    assert.deepEqual(
      (await admin.showAgent({ agente: 'web-5', details: true })).certificados,
      certificados,
    )
  })

  test('[API-120] svc up to 0.4.0 prints each field of a host, so that objects come to who asks for them alone', async () => {
    const shown = await admin.showAgent({ agente: 'web-5' })
    assert.deepEqual(
      ['certificados', 'roots', 'refusals'].filter((field) => field in shown),
      [],
    )
  })

  test('[API-121] a page goes on where the one before ended, whatever came or went meanwhile', async () => {
    const first = await admin.listCertificates({ limit: 2 })
    // The one that the page ends with is replaced, and others come before and behind it.
    const place = first.certificados[1]?.hostname ?? ''
    const { id } = await admin.showAgent({ agente: place })
    await store.write(async (writer) => {
      const agent = await writer.findAgentByHostname(place)
      assert.ok(agent)
      const renewed = await writer.insertCertificate({
        ...newCertificate(agent.id),
        notBefore: NOW,
        notAfter: new Date(NOW.getTime() + 24 * HOUR_MS),
      })
      await writer.setCertificateFirstUsed(renewed.sha256, NOW)
    })
    await insert('web-6', -2)
    await insert('web-7', 10)
    const { certificados } = await admin.listCertificates({ after: first.next ?? '' })
    const rest = certificados.map(({ hostname }) => hostname)
    assert.deepEqual(rest.toSorted(), ['web-2', 'web-3', 'web-4', 'web-5', 'web-7'])
    assert.equal(certificados.at(-1)?.agente_id, id)
    await assert.rejects(admin.listCertificates({ after: 'f'.repeat(64) }), {
      code: 'cursor_unknown',
    })
  })

  test('[LBL-16] a token of some hosts sees their certificates alone, and counts nothing', async () => {
    await admin.labelAgents({ agente: 'web-3', set: { env: 'stage' } })
    const perform = createPerformOperation({
      store,
      clock: { now: () => NOW, sleep: () => Promise.resolve() },
      addresses: { enrollUrl: '', mtlsUrl: '' },
      hubNames: [],
      contentBytesMax: 1024,
      renewalThresholdMs: THRESHOLD_MS,
    })
    const ask = (request: object): Promise<object> =>
      perform('listCertificates', request, {
        actor: 'token:stage',
        role: 'viewer',
        only: 'env=stage',
      })
    for (const [request, expected] of [
      [{}, 1],
      [{ limit: 1 }, 1],
      [{ state: 'renewing' }, 1],
      [{ state: 'expired' }, 0],
      [{ ends_before: inHours(100) }, 1],
    ] as const) {
      const text = JSON.stringify(await ask(request))
      assert.equal(text.match(/web-/g)?.length ?? 0, expected, text)
      assert.match(text, /"next":null,"total":null/)
      assert.doesNotMatch(text, /web-[124567]/)
    }
    await assert.rejects(ask({ agente: 'web-1' }), { code: 'agent_not_found' })
  })
})
