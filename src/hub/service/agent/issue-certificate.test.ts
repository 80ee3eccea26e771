import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  createFakeAuthority,
  FAKE_ROOT_SHA256,
  type FakeAuthority,
} from '../../../../test/fakes/fake-authority.ts'
import {
  insertAgent,
  insertCertificate,
  insertDelivery,
  LATER,
  newCargo,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { collectLog, type LoggedLine } from '../../../../test/support/collected-log.ts'
import { makeCsrPem } from '../../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { parseCsrPem } from '../../../pki/csr.ts'
import type { IssueRequestBody } from '../../../protocol/schemas.ts'
import type { DeliveryStatus } from '../../../protocol/words.ts'
import { CaError } from '../../ca/certificate-authority.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import type { Policy } from '../../domain/policy.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { createIssueCertificate, type IssueCertificate } from './issue-certificate.ts'

const SITE = { name: 'site' as Cargo['name'], sans: ['www.example.org'] }

let store: Store & AsyncDisposable
let authority: FakeAuthority
let lines: LoggedLine[]
let issueCertificate: IssueCertificate
let now = NOW
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(() => {
  now = NOW
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const collected = collectLog()
  ;({ lines } = collected)
  authority = createFakeAuthority(clock)
  const hubNames = ['hub.example']
  issueCertificate = createIssueCertificate({
    store,
    authority,
    clock,
    log: collected.log,
    hubNames,
  })
})

interface Host {
  readonly agent: Agent
  readonly identity: IssuedCertificate
  readonly csrPem: string
  /** Its answer: the chain, or the refusal. */
  readonly ask: (
    request?: Partial<IssueRequestBody>,
    presented?: IssuedCertificate,
  ) => Promise<string>
}

/** A host of its own for each test, with an identity that it shows. */
async function host(): Promise<Host> {
  const agent = await insertAgent(store, `host-${(count += 1)}`)
  const identity = await insertCertificate(store, agent.id)
  const csrPem = makeCsrPem(agent.hostname)
  const ask: Host['ask'] = async (request = {}, presented = identity) => {
    const body = { csr_pem: csrPem, ...request }
    const outcome = await issueCertificate(agent, body, presented.sha256)
    return outcome.ok ? outcome.certificatePem : outcome.refusal
  }
  return { agent, identity, csrPem, ask }
}

async function deliver(
  { agent }: Host,
  changes: Partial<Cargo> = {},
  status?: DeliveryStatus,
): Promise<Delivery> {
  const cargo = { ...newCargo('site'), ...SITE, ...changes }
  await store.write((writer) => writer.insertCargo(cargo))
  const delivery = await insertDelivery(store, agent.id, cargo)
  if (status !== undefined) {
    await store.write((writer) => writer.setDeliveryStatus(delivery.id, status, NOW, 'why'))
  }
  return delivery
}

async function statusOf({ id }: Delivery): Promise<string | undefined> {
  return (await store.reader.findDelivery(id))?.status
}

/** The answer to what was asked for just before that was written. */
async function whileSigning(
  ask: () => Promise<string>,
  work: (writer: StoreWriter) => Promise<void>,
): Promise<string> {
  const release = authority.hold()
  const answer = ask()
  await authority.untilAsked(1)
  await store.write(work)
  release()
  return answer
}

const POLICY: Policy = {
  role: 'web',
  name: 'shop',
  tokenTtlSecondsMax: null,
  certTtlSeconds: null,
  permittedSans: [],
  areSansNamed: true,
  mayOperatorsReenroll: false,
  automaticCargoes: [],
}

async function withPolicy(changes: Partial<Policy>, work: () => Promise<void>): Promise<void> {
  await store.write((writer) => writer.setPolicy({ ...POLICY, ...changes }))
  await work()
  await store.write((writer) => writer.removePolicy('web'))
}

describe('a certificate that an agent asks for', () => {
  test('[ISS-2] [ISS-7] [ISS-10] is its next identity, recorded before the reply', async () => {
    const { agent, csrPem, identity } = await host()
    const seq = await lastSeq(store.reader)
    const outcome = await issueCertificate(agent, { csr_pem: csrPem }, identity.sha256)
    assert.deepEqual(outcome, { ok: true, certificatePem: 'chain 1', rootPem: 'the roots' })
    const [{ sans, commonName } = {}] = authority.asked
    assert.deepEqual([commonName, sans], [agent.hostname, [agent.hostname]])
    const newest = await store.reader.findNewestIdentity(agent.id)
    const { serial, rootSha256, notBefore, deliveryId } = newest ?? {}
    assert.deepEqual(
      [serial, rootSha256, notBefore, deliveryId],
      ['1', FAKE_ROOT_SHA256, NOW, null],
    )
    assert.equal(await store.reader.findAgentCertificate(agent.id), 'chain 1')
    const payload = {
      actor: 'hub',
      agente_id: agent.id,
      hostname: agent.hostname,
      serial: '1',
      sha256: newest?.sha256,
      csr_sha256: parseCsrPem(csrPem)?.sha256,
      not_after: '2026-11-22T10:00:00.123Z',
      purpose: 'identity',
      request: 'renewal',
      politica: null,
    }
    assert.deepEqual(await readActs(store.reader, seq), [['certificate_issued', payload]])
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [['info', 'Certificate issued']],
    )
  })

  test('[ISS-8] [DEL-5] for an entrega has the names of its carga, is no identity, and moves it', async () => {
    const web = await host()
    const delivery = await deliver(web)
    const seq = await lastSeq(store.reader)
    assert.equal(await web.ask({ entrega_id: delivery.id }), 'chain 1')
    assert.deepEqual(authority.asked[0]?.sans, [web.agent.hostname, 'www.example.org'])
    assert.equal(await statusOf(delivery), 'em_andamento')
    assert.equal(await store.reader.hasCertificateForDelivery(delivery.id), true)
    assert.equal((await store.reader.findNewestIdentity(web.agent.id))?.seq, web.identity.seq)
    assert.equal(await store.reader.findAgentCertificate(web.agent.id), undefined)
    const [[, payload] = []] = await readActs(store.reader, seq)
    assert.equal((payload as { purpose: string }).purpose, 'delivery')
  })

  test('[ISS-8] [DEL-5] [DEL-11] renews what is installed, and tries what failed again, without moving it', async () => {
    const web = await host()
    for (const status of ['instalada', 'falhou'] as const) {
      const delivery = await deliver(web, { name: status as never }, status)
      assert.match(await web.ask({ entrega_id: delivery.id }), /^chain/)
      assert.equal(await statusOf(delivery), status)
    }
  })

  test('[POL-7] has the life of the politica of its role', async () => {
    const { ask } = await host()
    await withPolicy({ certTtlSeconds: 3600 }, async () => {
      await ask()
      assert.equal(authority.asked[0]?.lifetimeSeconds, 3600)
    })
    await ask()
    assert.equal(authority.asked[1]?.lifetimeSeconds, undefined)
  })

  test('[REC-7] may be recorded with something else, in one commit or not at all', async () => {
    const { agent, csrPem, identity } = await host()
    const seq = await lastSeq(store.reader)
    const failing = (_writer: StoreWriter, at: Date): never => assert.fail(at.toISOString())
    const body = { csr_pem: csrPem }
    await assert.rejects(issueCertificate(agent, body, identity.sha256, failing), {
      message: '2026-11-21T10:00:00.123Z',
    })
    assert.deepEqual(await readActs(store.reader, seq), [])
    assert.equal((await store.reader.findNewestIdentity(agent.id))?.seq, identity.seq)
  })
})

describe('a certificate is refused', () => {
  test('[ISS-3] [ISS-4] [ISS-6] [ISS-9] for the first of all that is wrong, and the CA is not asked', async () => {
    const web = await host()
    const { hostname } = web.agent
    const delivery = await deliver(web)
    const unknown = '00000000-0000-4000-8000-000000000000'
    const strange = makeCsrPem(hostname, ['strange'])
    for (const [request, refusal] of [
      [{ csr_pem: 'none', entrega_id: unknown }, 'csr_invalid'],
      [{ csr_pem: makeCsrPem('other', ['strange']), entrega_id: unknown }, 'csr_cn_mismatch'],
      [{ csr_pem: strange, entrega_id: unknown }, 'entrega_not_found'],
      [{ csr_pem: strange, entrega_id: delivery.id }, 'csr_cn_mismatch'],
      [{ csr_pem: strange }, 'csr_cn_mismatch'],
    ] as const) {
      assert.equal(await web.ask(request), refusal)
    }
    assert.equal(authority.asked.length, 0)
    assert.equal(await statusOf(delivery), 'pendente')
    const names = makeCsrPem(hostname, ['www.example.org', hostname])
    assert.equal(await web.ask({ csr_pem: names, entrega_id: delivery.id }), 'chain 1')
  })

  test('[ISS-9] [BLB-12] for an entrega that is over, another agent’s or no csr_cert', async () => {
    const web = await host()
    const wrong = [
      await deliver(web, {}, 'cancelada'),
      await deliver(web, {}, 'substituida'),
      await deliver(web, { kind: 'selado' }),
      await deliver(await host()),
    ]
    for (const { id } of wrong) assert.equal(await web.ask({ entrega_id: id }), 'entrega_not_found')
    assert.equal(authority.asked.length, 0)
  })

  test('[DEL-17] for a carga with a name that the hub has by now', async () => {
    const web = await host()
    const { id } = await deliver(web, { sans: ['*.example'] })
    assert.equal(await web.ask({ entrega_id: id }), 'csr_cn_mismatch')
    assert.equal(authority.asked.length, 0)
  })

  test('[POL-10] for a name that the politica forbids: the log has name and politica, an identity is never refused so', async () => {
    const web = await host()
    const { id } = await deliver(web)
    await withPolicy({}, async () => {
      assert.equal(await web.ask({ entrega_id: id }), 'csr_cn_mismatch')
      assert.deepEqual(lines, [
        {
          level: 'warn',
          message: 'Names not permitted by the politica of the role',
          fields: {
            hostname: web.agent.hostname,
            role: 'web',
            politica: 'shop',
            sans: ['www.example.org'],
          },
        },
      ])
      assert.equal(await web.ask(), 'chain 1')
    })
    assert.equal(await web.ask({ entrega_id: id }), 'chain 2')
  })

  test('[ISS-5] when the CA does not sign; nothing is recorded, and the log says why', async () => {
    const web = await host()
    const delivery = await deliver(web)
    const { version } = store
    authority.failWith(new CaError('overloaded', 'later'))
    assert.equal(await web.ask({ entrega_id: delivery.id }), 'ca_failed')
    assert.equal(store.version, version)
    const [{ level, message, fields } = {}] = lines
    assert.deepEqual(
      [level, message, fields?.['reason']],
      ['warn', 'Certificate not obtained', 'overloaded'],
    )
    authority.failWith(new TypeError('a bug'))
    await assert.rejects(web.ask(), { name: 'TypeError' })
  })
})

describe('while the CA signs', () => {
  test('[AUT-16] [ISS-12] [EVD-16] the agent is revoked, or is gone: nobody gets the certificate', async () => {
    const { agent, ask } = await host()
    const seq = await lastSeq(store.reader)
    const revoke = (writer: StoreWriter): Promise<void> =>
      writer.updateAgent({ ...agent, revokedAt: NOW })
    assert.equal(await whileSigning(ask, revoke), 'agent_revoked')
    const [[type, payload] = assert.fail(), ...others] = await readActs(store.reader, seq)
    assert.deepEqual([type, others], ['certificate_discarded', []])
    assert.partialDeepStrictEqual(payload, { request: 'renewal', reason: 'agent_revoked' })
    const stranger = { ...agent, id: '00000000-0000-4000-8000-000000000000' as Agent['id'] }
    const body = { csr_pem: makeCsrPem(agent.hostname) }
    const outcome = await issueCertificate(stranger, body, 'x')
    assert.deepEqual(outcome, { ok: false, refusal: 'agent_not_registered' })
  })

  test('[ISS-9] the entrega is cancelled', async () => {
    const web = await host()
    const { id } = await deliver(web)
    const ask = (): Promise<string> => web.ask({ entrega_id: id })
    const cancel = (writer: StoreWriter): Promise<void> => writer.cancelDeliveries([id], NOW)
    assert.equal(await whileSigning(ask, cancel), 'entrega_not_found')
    assert.equal(await store.reader.hasCertificateForDelivery(id), false)
  })

  test('[POL-10] a politica comes that forbids the names', async () => {
    const web = await host()
    const { id } = await deliver(web)
    const release = authority.hold()
    const answer = web.ask({ entrega_id: id })
    await authority.untilAsked(1)
    await withPolicy({}, async () => {
      release()
      assert.equal(await answer, 'csr_cn_mismatch')
    })
  })

  test('[ISS-12] [AUT-8] a newer identity is used: the older one makes none any more, but renews an entrega', async () => {
    const web = await host()
    const { id } = await deliver(web)
    const newer = await insertCertificate(store, web.agent.id)
    const release = authority.hold()
    const answers = Promise.all([web.ask(), web.ask({ entrega_id: id }), web.ask({}, newer)])
    await authority.untilAsked(3)
    await store.write((writer) => writer.setActiveIdentity(web.agent.id, newer.seq, NOW))
    release()
    const [older, forDelivery, byNewer] = await answers
    assert.equal(older, 'certificate_superseded')
    assert.match(forDelivery, /^chain/)
    assert.match(byNewer, /^chain/)
  })

  test('[AUT-5] [ISS-12] the identity that it showed is revoked', async () => {
    const { agent, ask } = await host()
    const revoke = (writer: StoreWriter): Promise<void> => writer.revokeCertificates(agent.id, NOW)
    assert.equal(await whileSigning(ask, revoke), 'agent_revoked')
  })

  test('[ISS-10] time passes: what is recorded is of the time of the commit', async () => {
    const web = await host()
    const delivery = await deliver(web)
    await whileSigning(
      () => web.ask({ entrega_id: delivery.id }),
      async () => {
        now = LATER
      },
    )
    assert.deepEqual((await store.reader.findDelivery(delivery.id))?.updatedAt, LATER)
  })

  test('[ISS-7] the same is asked for twice: both are identities, the newest is the one that was written down last', async () => {
    const { agent, ask } = await host()
    const release = authority.hold()
    const answers = [ask(), ask()]
    await authority.untilAsked(2)
    release()
    assert.deepEqual((await Promise.all(answers)).toSorted(), ['chain 1', 'chain 2'])
    const newest = await store.reader.findNewestIdentity(agent.id)
    assert.equal(await store.reader.findAgentCertificate(agent.id), `chain ${newest?.serial}`)
  })
})
