// What the politica of a role does to tokens, enrolments, certificates and deliveries: docs/protocol.md POL.

import assert from 'node:assert/strict'
import { createHash, createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import { CompactSign } from 'jose'
import { readEvents } from '../support/audit-log.ts'
import { createDelivery } from '../support/deliveries.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { HUB_NAME, type LogEntry } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { createSealedCargo, enrollSealed, sealForHosts } from '../support/sealed-files.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send, type WireReply } from '../support/wire-client.ts'

const { hub } = useHub()

interface Policy {
  readonly nome: string
  readonly agentes: readonly string[]
  readonly cargas_automaticas: readonly string[]
  readonly cargas_afetadas: readonly {
    readonly carga_id: string
    readonly nome: string
    readonly sans: readonly string[]
    readonly agentes: readonly string[]
  }[]
}
interface Entry {
  readonly carga_id: string
  readonly nome: string
}

const setPolicy = (role: string, rest: object): Promise<Policy> =>
  hub.admin('POST', '/v1/admin/politicas', { role, ...rest })
const removePolicy = (role: string): Promise<Policy> =>
  hub.admin('POST', '/v1/admin/politicas/remove', { role })
const showPolicy = (role: string): Promise<Policy> =>
  hub.admin('POST', '/v1/admin/politicas/show', { role })

const createToken = (
  role: string,
  ttl_seconds?: number,
): Promise<{ readonly expires_at: string; readonly created_at: string; readonly token: string }> =>
  hub.admin('POST', '/v1/admin/tokens', { hostname: `h-${randomUUID()}`, role, ttl_seconds })

async function ttlOf(made: ReturnType<typeof createToken>): Promise<number> {
  const { expires_at, created_at } = await made
  return (Date.parse(expires_at) - Date.parse(created_at)) / 1000
}

/** A carga that no agent has. */
async function createUnassigned(nome: string, sans: readonly string[] = []): Promise<string> {
  const cargo = { tipo: 'csr_cert', nome, agentes: [], roles: [], sans, unassigned: true }
  const made = await hub.admin<{ carga_id: string }>('POST', '/v1/admin/cargas', cargo)
  return made.carga_id
}

async function manifestOf(host: EnrolledHost): Promise<readonly Entry[]> {
  const reply = await send(host.mtls, { path: '/v1/manifest' })
  assertOk(reply)
  return reply.json['entregas'] as Entry[]
}

async function issue(host: EnrolledHost, entrega_id?: string): Promise<WireReply> {
  const { csrPem } = await createKeyAndCsr(host.hostname)
  return post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem, entrega_id })
}

/** Seconds, without the minute by which both CAs date back. */
function lifeOf(certPem: unknown): number {
  const { validFromDate, validToDate } = new X509Certificate(certPem as string)
  return (validToDate.getTime() - validFromDate.getTime()) / 1000 - 60
}

async function recover(host: EnrolledHost): Promise<WireReply> {
  const { csrPem } = await createKeyAndCsr(host.hostname)
  const der = Buffer.from(csrPem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
  const payload = {
    csr_sha256: createHash('sha256').update(der).digest('base64url'),
    aud: HUB_NAME,
    iat: Math.floor(Date.now() / 1000),
    jti: randomUUID(),
  }
  const proof = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256' })
    .sign(createPrivateKey(host.keyPem))
  const body = { cert_pem: host.certPem, csr_pem: csrPem, proof }
  return post({ port: hub.ports.enroll }, '/v1/recover', body)
}

async function enrolledPayload(host: EnrolledHost): Promise<Readonly<Record<string, unknown>>> {
  const events = await readEvents(hub, 'agent_enrolled')
  return events.findLast(({ payload }) => payload['agente_id'] === host.agentId)?.payload ?? {}
}

/** The hub's newest such line, which comes by another way than its answers. */
const logged = (message: string): Promise<LogEntry> =>
  waitUntil(message, () => hub.logEntries().findLast(({ msg }) => msg === message))

describe('a token', () => {
  test('[POL-5] beyond the maximum of its role is refused, and the message says whose word that is', async () => {
    await setPolicy('short', { nome: 'short tokens', token_ttl_max: 1800 })
    await assert.rejects(createToken('short', 1801), /ttl_too_long.*role short.*30m.*short tokens/)
    assert.equal(await ttlOf(createToken('short', 1800)), 1800)
    assert.equal(await ttlOf(createToken('other', 1801)), 1801)
  })

  test('[POL-6] without a life of its own gets the hour, or what its role may have', async () => {
    await setPolicy('minutes', { token_ttl_max: 600 })
    await setPolicy('hours', { token_ttl_max: 7200 })
    assert.equal(await ttlOf(createToken('minutes')), 600)
    assert.equal(await ttlOf(createToken('hours')), 3600)
    assert.equal(await ttlOf(createToken('nothing-said')), 3600)
  })

  test('[POL-5] that is there already is not shortened', async () => {
    const hostname = 'patient.example'
    const token = await hub.createToken({ hostname, role: 'patient', ttl_seconds: 86_400 })
    await setPolicy('patient', { token_ttl_max: 1 })
    const { tokens } = await hub.admin<{ tokens: { hostname: string; expires_at: string }[] }>(
      'GET',
      '/v1/admin/tokens',
    )
    const listed = tokens.find((each) => each.hostname === hostname)
    assert.ok(Date.parse(listed?.expires_at ?? '') > Date.now() + 80_000_000)
    const { csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'patient', csr_pem: csrPem }
    assertOk(await post({ port: hub.ports.enroll }, '/v1/enroll', body))
  })
})

describe('cert_ttl', () => {
  test('[POL-7] is the life of each certificate: enrolled, renewed, delivered, recovered', async () => {
    await setPolicy('brief', { cert_ttl: 1200 })
    const host = await enrollHost(hub, 'brief.example', { role: 'brief' })
    assert.equal(lifeOf(host.certPem), 1200)
    const { id } = await createDelivery(hub, host.hostname, 'brief')
    for (const reply of [await recover(host), await issue(host), await issue(host, id)]) {
      assertOk(reply)
      assert.equal(lifeOf(reply.json['cert_pem']), 1200)
    }
    // From the next one on.
    await setPolicy('brief', { cert_ttl: 3600 })
    assert.equal(lifeOf((await issue(host)).json['cert_pem']), 3600)
    await setPolicy('brief', { cert_ttl: null })
    assert.equal(lifeOf((await issue(host)).json['cert_pem']), 86_400)
  })

  test('[POL-7] beyond what the CA allows is ca_failed, the log says why, and nothing is lost', async () => {
    await setPolicy('greedy', { cert_ttl: 400 * 86_400, untested: true })
    const hostname = 'greedy.example'
    const token = await hub.createToken({ hostname, role: 'greedy' })
    const { keyPem, csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'greedy', csr_pem: csrPem }
    const enroll = (): Promise<WireReply> => post({ port: hub.ports.enroll }, '/v1/enroll', body)
    assertRefused(await enroll(), 502, 'ca_failed')
    const entry = await logged('Certificate for enrolment not obtained')
    assert.deepEqual(
      [entry['reason'], entry['politica'], entry['cert_ttl'], entry['hint']],
      [
        'refused',
        'greedy',
        '400d',
        'the claims of the CA’s provisioner bound the cert_ttl of a politica',
      ],
    )
    assert.match(JSON.stringify(entry), /more than the authorized maximum/)
    await removePolicy('greedy')
    const reply = await enroll()
    assertOk(reply)
    const target = withIdentity(hub, readIdentity(reply, keyPem))
    await setPolicy('greedy', { cert_ttl: 400 * 86_400, untested: true })
    const again = await createKeyAndCsr(hostname)
    const renewal = await post(target, '/v1/certs/issue', { csr_pem: again.csrPem })
    assertRefused(renewal, 502, 'ca_failed')
    assert.equal((await logged('Certificate not obtained'))['cert_ttl'], '400d')
    assertOk(await send(target, { path: '/v1/manifest' }))
  })

  test('[POL-19] is tried at the CA first: a life that it refuses is not set, and svc has the words of the CA', async () => {
    const before = (await readEvents(hub, 'politica_set')).length
    await assert.rejects(
      setPolicy('tried', { cert_ttl: 400 * 86_400 }),
      /cert_ttl_refused.*signs no certificate of 400d: .*more than the authorized maximum/,
    )
    await assert.rejects(showPolicy('tried'), /politica_not_found/)
    assert.equal((await readEvents(hub, 'politica_set')).length, before)
    await setPolicy('tried', { cert_ttl: 3600 })
    const [entry] = (await readEvents(hub, 'politica_set')).slice(before)
    const { serial, revoked } = { ...(entry?.payload['trial'] as object) } as Record<
      string,
      unknown
    >
    assert.match(String(serial), /^[0-9a-f]+$/)
    assert.equal(revoked, true)
    // What does not name the life asks the CA nothing.
    await setPolicy('tried', { reenroll: true })
    const last = (await readEvents(hub, 'politica_set')).at(-1)
    assert.equal('trial' in (last?.payload ?? {}), false)
  })

  test('[POL-8] is never so short that an agent could not renew in time', async () => {
    await assert.rejects(setPolicy('hasty', { cert_ttl: 899 }), /cert_ttl_too_short.*15m at least/)
    await assert.rejects(setPolicy('hasty', { cert_ttl: 3651 * 86_400 }), /cert_ttl_too_long/)
    await assert.rejects(showPolicy('hasty'), /politica_not_found/)
  })
})

describe('sans_permitidos', () => {
  test('[POL-10] [ERR-11] [API-70] what is forbidden by now is refused for good, the identity never, and it passes when permitted again', async () => {
    const host = await enrollHost(hub, 'named.example', { role: 'named' })
    const sans = ['www.shop.example', 'named.example', '192.0.2.7']
    const { id, cargaId } = await createDelivery(hub, host.hostname, 'named', sans)
    assertOk(await issue(host, id))

    const { cargas_afetadas } = await setPolicy('named', { sans_permitidos: ['*.shop.example'] })
    const affected = { carga_id: cargaId, nome: 'named', sans: ['192.0.2.7'] }
    assert.deepEqual(cargas_afetadas, [{ ...affected, agentes: ['named.example'] }])
    assert.deepEqual((await showPolicy('named')).cargas_afetadas, cargas_afetadas)
    assertRefused(await issue(host, id), 403, 'csr_cn_mismatch')
    const waitingFor = async (): Promise<unknown> => {
      const { entregas } = await hub.admin<{ entregas: Record<string, unknown>[] }>(
        'POST',
        '/v1/admin/agentes/show',
        { agente: host.hostname },
      )
      return entregas.find((each) => each['id'] === id)?.['waiting_reason']
    }
    assert.equal(await waitingFor(), 'csr_cn_mismatch: policy named does not permit 192.0.2.7')
    const entry = await logged('Names not permitted by the politica of the role')
    assert.deepEqual(
      [entry['hostname'], entry['role'], entry['politica'], entry['sans']],
      ['named.example', 'named', 'named', ['192.0.2.7']],
    )
    assertOk(await issue(host))
    assertOk(await recover(host))

    const permitted = { sans_permitidos: ['*.shop.example', '192.0.2.7'] }
    assert.deepEqual((await setPolicy('named', permitted)).cargas_afetadas, [])
    assertOk(await issue(host, id))
    assert.equal(await waitingFor(), null)
  })

  test('[POL-11] a carga with a forbidden name is not made, nor updated to one', async () => {
    await setPolicy('kept', { sans_permitidos: ['kept.shop.example'] })
    const host = await enrollHost(hub, 'kept.example', { role: 'kept' })
    const refused = createDelivery(hub, host.hostname, 'kept', [
      'kept.shop.example',
      'more.example',
    ])
    await assert.rejects(refused, /san_forbidden.*kept\.example.*more\.example.*policy kept/)
    const { cargaId } = await createDelivery(hub, host.hostname, 'kept', ['kept.shop.example'])
    const update = (sans: readonly string[]): Promise<unknown> =>
      hub.admin('POST', '/v1/admin/cargas/update', { carga: cargaId, sans })
    await assert.rejects(update(['*.shop.example']), /san_forbidden/)
    // The names that it has, no longer permitted, are no names for a next versao either.
    await setPolicy('kept', { sans_permitidos: [] })
    await assert.rejects(update(['kept.shop.example']), /san_forbidden/)
    await assert.rejects(
      hub.admin('POST', '/v1/admin/cargas/update', { carga: cargaId }),
      /san_forbidden/,
    )
    await update([])
  })

  test('[POL-9] never names the hub, and a suffix that reaches over it gives nobody its name', async () => {
    const set = (name: string): Promise<Policy> => setPolicy('tricky', { sans_permitidos: [name] })
    await assert.rejects(set(HUB_NAME), /san_reserved/)
    for (const bad of ['a b', 'Shop.example', 'x.*', '**.example', '*.', 'https://a']) {
      await assert.rejects(set(bad), /san_invalid/, bad)
    }
    await set('*.test')
    const host = await enrollHost(hub, 'tricky.example', { role: 'tricky' })
    await assert.rejects(createDelivery(hub, host.hostname, 'tricky', [HUB_NAME]), /san_reserved/)
    await assert.rejects(createDelivery(hub, host.hostname, 'tricky', ['*.test']), /san_reserved/)
    await createDelivery(hub, host.hostname, 'tricky', ['other.test'])
  })

  test('[POL-2] [POL-4] the row of a role counts as a whole, and when it is removed that of * is shown to hold', async () => {
    const host = await enrollHost(hub, 'passes.example', { role: 'passes' })
    const { id } = await createDelivery(hub, host.hostname, 'passes', ['passes.shop.example'])
    await setPolicy('passes', { token_ttl_max: 60 })
    const everybody = await setPolicy('*', { sans_permitidos: [] })
    try {
      assert.ok(everybody.cargas_afetadas.every(({ nome }) => nome !== 'passes'))
      assertOk(await issue(host, id))
      const { cargas_afetadas } = await removePolicy('passes')
      assert.deepEqual(
        cargas_afetadas.map(({ nome, agentes }) => [nome, agentes]),
        [['passes', ['passes.example']]],
      )
      assert.ok((await showPolicy('*')).agentes.includes('passes.example'))
      assertRefused(await issue(host, id), 403, 'csr_cn_mismatch')
    } finally {
      await removePolicy('*')
    }
    assertOk(await issue(host, id))
  })
})

describe('cargas_automaticas', () => {
  test('[POL-12] [POL-13] are the new agent’s when it is enrolled, with the names of the carga', async () => {
    const ids = [
      await createUnassigned('auto-a', ['a.shop.example']),
      await createUnassigned('auto-b'),
    ]
    const before = await enrollHost(hub, 'auto-0.example', { role: 'auto' })
    await setPolicy('auto', { cargas_automaticas: ids })
    const host = await enrollHost(hub, 'auto-1.example', { role: 'auto' })
    const entries = await manifestOf(host)
    assert.deepEqual(
      entries.map(({ carga_id }) => carga_id),
      ids,
    )
    const reply = await issue(host, (entries[0] as Entry & { id: string }).id)
    assertOk(reply)
    const names = new X509Certificate(reply.json['cert_pem'] as string).subjectAltName
    assert.match(names ?? '', /DNS:a\.shop\.example/)
    const { politica, cargas_automaticas, cargas_omitidas } = await enrolledPayload(host)
    assert.deepEqual([politica, cargas_automaticas, cargas_omitidas], ['auto', ids, []])
    // For those that come; who was there gets none.
    assert.deepEqual(await manifestOf(before), [])
    const stranger = await enrollHost(hub, 'auto-2.example', { role: 'auto-not' })
    assert.deepEqual(await manifestOf(stranger), [])
    assert.equal('politica' in (await enrolledPayload(stranger)), false)
  })

  test('[POL-13] are there once after another enrolment, and one that was cancelled is there again', async () => {
    const ids = [await createUnassigned('again-a'), await createUnassigned('again-b')]
    await setPolicy('again', { cargas_automaticas: ids })
    const first = await enrollHost(hub, 'again.example', { role: 'again' })
    const [one] = (await manifestOf(first)) as (Entry & { id: string })[]
    await hub.admin('POST', '/v1/admin/entregas/cancel', { entrega: one?.id })
    const host = await enrollHost(hub, 'again.example', { role: 'again', reenroll: true })
    const entries = await manifestOf(host)
    assert.deepEqual(entries.map(({ carga_id }) => carga_id).sort(), [...ids].sort())
  })

  test('[POL-14] leave out what was removed and what would write a file twice, and say so in the log', async () => {
    const gone = await createUnassigned('skip-gone')
    const same = await createUnassigned('skip-same')
    const stays = await createUnassigned('skip-stays')
    const host = await enrollHost(hub, 'skip.example', { role: 'skip' })
    const { cargaId } = await createDelivery(hub, host.hostname, 'SKIP-same')
    await setPolicy('skip', { cargas_automaticas: [gone, same, stays] })
    await hub.admin('POST', '/v1/admin/cargas/remove', { carga: gone })
    const again = await enrollHost(hub, 'skip.example', { role: 'skip', reenroll: true })
    const names = (await manifestOf(again)).map(({ nome }) => nome)
    assert.deepEqual(names.sort(), ['SKIP-same', 'skip-stays'])
    assert.deepEqual((await enrolledPayload(again))['cargas_omitidas'], [
      { carga_id: gone, reason: 'removed' },
      { carga_id: same, reason: `carga ${cargaId} writes the same file` },
    ])
    // The next change forgets what is gone.
    const { cargas_automaticas } = await setPolicy('skip', { cert_ttl: 3600 })
    assert.deepEqual(cargas_automaticas, [same, stays])
  })

  test('[POL-12] are no sealed files, no two of one file, none that is unknown, none that the row itself forbids', async () => {
    const host = await enrollSealed(hub, 'refusals.example')
    const sealed = await createSealedCargo(hub, 'secret', await sealForHosts([host], 'x'))
    const set = (...ids: string[]): Promise<Policy> =>
      setPolicy('refusals', { sans_permitidos: [], cargas_automaticas: ids })
    await assert.rejects(set(sealed.carga_id), /cargo_not_automatic.*"tipo":"selado"/)
    const twins = [await createUnassigned('twin'), await createUnassigned('TWIN')]
    await assert.rejects(set(...twins), /nome_taken.*both write/)
    await assert.rejects(set(randomUUID()), /cargo_not_found/)
    const named = await createUnassigned('named-auto', ['x.example'])
    await assert.rejects(set(named), /san_forbidden.*x\.example/)
    await assert.rejects(showPolicy('refusals'), /politica_not_found/)
  })

  test('[POL-15] a carga that is unassigned is csr_cert, and names nobody', async () => {
    const base = { tipo: 'csr_cert', nome: 'u', agentes: [], roles: [], sans: [], unassigned: true }
    const create = (change: object): Promise<unknown> =>
      hub.admin('POST', '/v1/admin/cargas', { ...base, ...change })
    await assert.rejects(create({ roles: ['web'] }), /agents_unwanted/)
    await assert.rejects(create({ unassigned: false }), /no_recipient/)
    const host = await enrollSealed(hub, 'unassigned.example')
    const selado = await sealForHosts([host], 'x')
    await assert.rejects(create({ tipo: 'selado', selado }), /unassigned_unwanted/)
  })
})

describe('the rows', () => {
  test('[POL-1] [POL-4] change in what is asked for alone, and each change is in the audit log', async () => {
    await setPolicy('rows', {
      nome: 'first',
      token_ttl_max: 60,
      sans_permitidos: ['a.example', 'a.example'],
    })
    await setPolicy('rows', { cert_ttl: 3600 })
    await setPolicy('rows', { nome: 'second', token_ttl_max: null })
    const row = {
      role: 'rows',
      nome: 'second',
      token_ttl_max: null,
      cert_ttl: 3600,
      sans_permitidos: ['a.example'],
      sans_nomeados: true,
      cargas_automaticas: [],
      reenroll: false,
    }
    const { politicas } = await hub.admin<{ politicas: { role: string }[] }>(
      'GET',
      '/v1/admin/politicas',
    )
    assert.deepEqual(
      politicas.find(({ role }) => role === 'rows'),
      row,
    )
    await assert.rejects(setPolicy('rows-2', { nome: 'second' }), /nome_taken/)
    assert.deepEqual(await removePolicy('rows'), { ...row, cargas_afetadas: [] })
    await assert.rejects(removePolicy('rows'), /politica_not_found/)
    const ofRole = async (tipo: string): Promise<object[]> =>
      (await readEvents(hub, tipo))
        .map(({ payload }) => payload)
        .filter(({ role }) => role === 'rows')
    assert.equal((await ofRole('politica_set')).length, 3)
    assert.deepEqual((await ofRole('politica_set')).at(-1), { actor: 'admin', ...row })
    assert.deepEqual(await ofRole('politica_removed'), [{ actor: 'admin', ...row }])
  })

  test('[POL-3] there is none: all is as it was, also after a row came and went', async () => {
    await setPolicy('*', { token_ttl_max: 60, cert_ttl: 900, sans_permitidos: [] })
    await removePolicy('*')
    assert.equal(await ttlOf(createToken('plain', 604_800)), 604_800)
    const host = await enrollHost(hub, 'plain.example', { role: 'plain' })
    assert.equal(lifeOf(host.certPem), 86_400)
    const { id } = await createDelivery(hub, host.hostname, 'plain', ['*.anything.example'])
    assertOk(await issue(host, id))
  })
})
