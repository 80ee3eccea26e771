// POST /v1/enroll: docs/protocol.md ENR and TOK, and the codes that go with them.

import assert from 'node:assert/strict'
import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readEvents } from '../support/audit-log.ts'
import {
  createAcceptableCsrs,
  createOpensslCsr,
  createUnacceptableCsrs,
} from '../support/csr-samples.ts'
import { createKeyAndCsr, enrollHost } from '../support/enrolled-host.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import {
  assertOk,
  assertRefused,
  post,
  postBytes,
  send,
  type WireReply,
} from '../support/wire-client.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const { ca, hub } = useHub()

interface EnrollBody {
  readonly token: string
  readonly hostname: string
  readonly role: string
  readonly csr_pem: string
}

const enroll = (body: Partial<Record<keyof EnrollBody, unknown>>): Promise<WireReply> =>
  post({ port: hub.ports.enroll }, '/v1/enroll', body)

/** A request that would succeed, with a token of its own. */
async function goodRequest(hostname: string): Promise<EnrollBody> {
  const token = await hub.createToken({ hostname, role: 'web' })
  const { csrPem } = await createKeyAndCsr(hostname)
  return { token, hostname, role: 'web', csr_pem: csrPem }
}

async function expiredToken(hostname: string, role = 'web'): Promise<string> {
  const token = await hub.createToken({ hostname, role })
  await hub.admin('POST', '/v1/admin/tokens/revoke', { token })
  return token
}

function unknownToken(): string {
  return `svct_${randomBytes(32).toString('base64url')}`
}

describe('a successful enrolment', () => {
  test('[ENR-2] answers agent_id, cert_pem and ca_pem and nothing else', async () => {
    const reply = await enroll(await goodRequest('shape.example'))
    assertOk(reply)
    assert.deepEqual(Object.keys(reply.json).sort(), ['agent_id', 'ca_pem', 'cert_pem'])
    assert.match(reply.json['agent_id'] as string, UUID)
  })

  test('[ENR-2] cert_pem is leaf and intermediate, ca_pem the root, and openssl verifies them', async () => {
    const { certPem, caPem } = await enrollHost(hub, 'chain.example')
    const pems = certPem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
    assert.equal(pems.length, 2)
    const [leaf, intermediate] = pems.map((pem) => new X509Certificate(pem))
    const root = new X509Certificate(caPem)
    assert.deepEqual([leaf?.ca, intermediate?.ca, root.ca], [false, true, true])
    assert.equal(root.subject, root.issuer)
    const configured = new X509Certificate(await readFile(ca.rootPath))
    assert.equal(root.fingerprint256, configured.fingerprint256)
    const paths = ['leaf', 'chain', 'root'].map((name) => join(hub.directory, `${name}.pem`))
    const [leafPath = '', chainPath = '', rootPath = ''] = paths
    await writeFile(leafPath, pems[0] ?? '')
    await writeFile(chainPath, pems[1] ?? '')
    await writeFile(rootPath, caPem)
    const args = ['verify', '-purpose', 'sslclient', '-CAfile', rootPath, '-untrusted', chainPath]
    assert.match(await runTool('openssl', [...args, leafPath]), /: OK\n$/)
  })

  test('[ENR-2] the certificate is for the hostname and the key of the CSR', async () => {
    const request = await goodRequest('names.example')
    const reply = await enroll(request)
    const leaf = new X509Certificate(reply.json['cert_pem'] as string)
    assert.equal(leaf.subject, 'CN=names.example')
    assert.equal(leaf.subjectAltName, 'DNS:names.example')
    const asked = await runTool('openssl', ['req', '-noout', '-pubkey'], request.csr_pem)
    assert.equal(leaf.publicKey.export({ type: 'spki', format: 'pem' }), asked)
  })

  test('[ENR-11] inserts the agent, consumes the token and is in the audit log', async () => {
    const sinceMs = Date.now() - 1
    const host = await enrollHost(hub, 'commit.example', { role: 'db' })
    const agent = await hub.admin<Record<string, unknown>>('POST', '/v1/admin/agentes/show', {
      agente: 'commit.example',
    })
    const serial = new X509Certificate(host.certPem).serialNumber.toLowerCase()
    assert.deepEqual(
      [agent['id'], agent['hostname'], agent['role'], agent['revoked_at'], agent['cert_serial']],
      [host.agentId, 'commit.example', 'db', null, serial],
    )
    const { tokens } = await hub.admin<{ tokens: Record<string, string | null>[] }>(
      'GET',
      '/v1/admin/tokens',
    )
    const token = tokens.find(({ hostname }) => hostname === 'commit.example')
    const consumedMs = Date.parse(token?.['consumed_at'] ?? '')
    assert.ok(consumedMs >= sinceMs && consumedMs <= Date.now(), token?.['consumed_at'] ?? 'null')
    const enrolled = await readEvents(hub, 'agent_enrolled')
    const entry = enrolled.find(({ payload }) => payload['agente_id'] === host.agentId)
    assert.equal(entry?.agente_id, null)
    assert.equal(entry?.payload['hostname'], 'commit.example')
  })

  test('[ENR-16] needs nothing but the body: no header authenticates, none is asked for', async () => {
    const request = await goodRequest('bare.example')
    const headers = { 'content-type': 'application/json', authorization: 'Bearer nonsense' }
    const wire = { method: 'POST', path: '/v1/enroll', headers, body: JSON.stringify(request) }
    assertOk(await send({ port: hub.ports.enroll }, wire))
  })

  test('[ENR-9] takes P-256, P-384, Ed25519 and RSA keys of 2048 bits and more', async () => {
    for (const { name, pem } of await createAcceptableCsrs('keys.example')) {
      const token = await hub.createToken({ hostname: 'keys.example', reenroll: true })
      const body = { token, hostname: 'keys.example', role: 'web', csr_pem: pem }
      const { status, text } = await enroll(body)
      assert.equal(status, 200, `${name}: ${text}`)
    }
  })

  test('[ENR-9] takes a CSR whose only alternative name is the hostname', async () => {
    const request = await goodRequest('own-san.example')
    const csr = await createOpensslCsr('own-san.example', undefined, 'DNS:own-san.example')
    assertOk(await enroll({ ...request, csr_pem: csr }))
  })
})

describe('the order of the checks', () => {
  test('[ENR-3] [ERR-4] 401 token_not_found, whatever else is wrong', async () => {
    const body = { token: unknownToken(), hostname: 'no', role: 'no', csr_pem: 'no' }
    assertRefused(await enroll(body), 401, 'token_not_found')
  })

  test('[ENR-3] a token is found by its exact text: no prefix, blank, case or hash will do', async () => {
    const request = await goodRequest('exact.example')
    const { token } = request
    const hash = createHash('sha256').update(token).digest('hex')
    for (const wrong of [
      token.slice(0, -1),
      ` ${token}`,
      `${token}\n`,
      token.toUpperCase(),
      hash,
    ]) {
      assertRefused(await enroll({ ...request, token: wrong }), 401, 'token_not_found')
    }
    assertOk(await enroll(request))
  })

  test('[ENR-4] [ERR-5] 401 token_consumed when a token is used twice', async () => {
    const request = await goodRequest('twice.example')
    assertOk(await enroll(request))
    assertRefused(await enroll(request), 401, 'token_consumed')
  })

  test('[ENR-4] token_consumed wins over token_expired', async () => {
    const hostname = 'consumed-first.example'
    const token = await hub.createToken({ hostname, ttl_seconds: 1 })
    const { csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'web', csr_pem: csrPem }
    assertOk(await enroll(body))
    const expiredAtMs = Date.now() + 1000
    await waitUntil('the token to expire', () => (Date.now() > expiredAtMs ? true : undefined))
    assertRefused(await enroll(body), 401, 'token_consumed')
  })

  test('[ENR-4] token_consumed wins over hostname_mismatch, role_mismatch and csr_invalid', async () => {
    const request = await goodRequest('consumed-all.example')
    assertOk(await enroll(request))
    const worse = { ...request, hostname: 'other', role: 'other', csr_pem: 'no' }
    assertRefused(await enroll(worse), 401, 'token_consumed')
  })

  test('[ENR-5] [TOK-4] [ERR-6] 401 token_expired from the moment of expiry on', async () => {
    const hostname = 'ttl.example'
    const token = await hub.createToken({ hostname, ttl_seconds: 1 })
    const body = { token, hostname, role: 'web', csr_pem: 'no' }
    // Valid at first: the CSR is what is wrong. Then nothing but time passes.
    assertRefused(await enroll(body), 400, 'csr_invalid')
    await waitUntil('the token to expire', async () => {
      const reply = await enroll(body)
      if (reply.json['error'] === 'csr_invalid') return undefined
      assertRefused(reply, 401, 'token_expired')
      return true
    })
    const { csrPem } = await createKeyAndCsr(hostname)
    assertRefused(await enroll({ ...body, csr_pem: csrPem }), 401, 'token_expired')
  })

  test('[ENR-5] token_expired wins over hostname_mismatch', async () => {
    const token = await expiredToken('expired.example')
    const body = { token, hostname: 'other.example', role: 'web', csr_pem: 'no' }
    assertRefused(await enroll(body), 401, 'token_expired')
  })

  test('[ENR-6] [ERR-7] 403 hostname_mismatch wins over role_mismatch', async () => {
    const request = await goodRequest('host-first.example')
    const wrong = { ...request, hostname: 'other.example', role: 'other' }
    assertRefused(await enroll(wrong), 403, 'hostname_mismatch')
  })

  test('[ENR-6] [SRF-11] hostnames are compared byte for byte, also those that cannot be one', async () => {
    const request = await goodRequest('bytes.example')
    for (const hostname of ['Bytes.example', 'bytes.example.', ' bytes.example', '../etc', 'é']) {
      assertRefused(await enroll({ ...request, hostname }), 403, 'hostname_mismatch')
    }
  })

  test('[ENR-7] [ERR-8] 403 role_mismatch wins over csr_invalid, and is byte for byte', async () => {
    const request = await goodRequest('role-first.example')
    for (const role of ['Web', 'web ', 'db']) {
      assertRefused(await enroll({ ...request, role, csr_pem: 'no' }), 403, 'role_mismatch')
    }
  })

  test('[ENR-8] [ERR-9] 409 agent_already_enrolled, after the role and before the CSR', async () => {
    // Two tokens for one host can only be open at once when the second is for re-enrolment.
    const first = await goodRequest('taken.example')
    const second = await hub.createToken({ hostname: 'taken.example', reenroll: true })
    assertOk(await enroll({ ...first, token: second }))
    assertRefused(await enroll({ ...first, role: 'other' }), 403, 'role_mismatch')
    const refused = await enroll({ ...first, csr_pem: 'no' })
    assertRefused(refused, 409, 'agent_already_enrolled')
    assertRefused(await enroll(first), 409, 'agent_already_enrolled')
  })

  test('[ENR-8] [ENR-12] that refusal does not consume the token', async () => {
    const first = await goodRequest('taken-unused.example')
    const second = await hub.createToken({ hostname: 'taken-unused.example', reenroll: true })
    assertOk(await enroll({ ...first, token: second }))
    assertRefused(await enroll(first), 409, 'agent_already_enrolled')
    assertRefused(await enroll(first), 409, 'agent_already_enrolled')
  })

  test('[ENR-9] [ERR-3] 400 csr_invalid for all that is no acceptable CSR', async () => {
    const request = await goodRequest('bad-csr.example')
    for (const { name, pem } of await createUnacceptableCsrs('bad-csr.example')) {
      const reply = await enroll({ ...request, csr_pem: pem })
      assert.deepEqual([name, reply.status, reply.text], [name, 400, '{"error":"csr_invalid"}'])
    }
    assertOk(await enroll(request))
  })

  test('[ENR-9] 400 csr_invalid for alternative names that are not exactly the hostname', async () => {
    const hostname = 'sans.example'
    const request = await goodRequest(hostname)
    const others = ['DNS:other.example', `DNS:${hostname},DNS:other.example`, 'IP:10.0.0.1']
    for (const san of [...others, `DNS:${hostname},email:a@b.example`]) {
      const csr = await createOpensslCsr(hostname, undefined, san)
      const reply = await enroll({ ...request, csr_pem: csr })
      assert.deepEqual([san, reply.text], [san, '{"error":"csr_invalid"}'])
    }
    assertOk(await enroll(request))
  })

  test('[ENR-12] a token survives every refusal', async () => {
    const request = await goodRequest('survivor.example')
    assertRefused(await enroll({ ...request, hostname: 'other' }), 403, 'hostname_mismatch')
    assertRefused(await enroll({ ...request, role: 'other' }), 403, 'role_mismatch')
    assertRefused(await enroll({ ...request, csr_pem: 'no' }), 400, 'csr_invalid')
    assertOk(await enroll(request))
  })
})

describe('the shape of the request', () => {
  test('[ENR-1] [ERR-2] 400 request_invalid when a field is missing or is no string', async () => {
    const request = await goodRequest('fields.example')
    for (const field of ['token', 'hostname', 'role', 'csr_pem'] as const) {
      const { [field]: _, ...without } = request
      assertRefused(await enroll(without), 400, 'request_invalid')
      for (const wrong of [null, 1, true, ['x'], { x: 'x' }, '']) {
        assertRefused(await enroll({ ...request, [field]: wrong }), 400, 'request_invalid')
      }
    }
    assertOk(await enroll(request))
  })

  test('[ENR-1] a body that is no object is request_invalid', async () => {
    for (const body of ['[]', '"text"', '1', 'null', 'true']) {
      const reply = await postBytes({ port: hub.ports.enroll }, '/v1/enroll', body)
      assertRefused(reply, 400, 'request_invalid')
    }
  })

  test('[SRF-10] [VER-3] unknown fields are ignored', async () => {
    const request = await goodRequest('more-fields.example')
    const more = { ...request, comment: { nested: [1] } }
    assertOk(await enroll(more))
  })

  test('[LIM-2] [LIM-9] the longest of everything is taken, one character more is request_invalid', async () => {
    const limits = { token: 8192, hostname: 253, role: 128, csr_pem: 16 * 1024 }
    const request = { token: unknownToken(), hostname: 'h', role: 'r', csr_pem: 'c' }
    for (const [field, most] of Object.entries(limits)) {
      const longest = { ...request, [field]: 'x'.repeat(most) }
      assertRefused(await enroll(longest), 401, 'token_not_found')
      const longer = { ...request, [field]: 'x'.repeat(most + 1) }
      assertRefused(await enroll(longer), 400, 'request_invalid')
    }
  })
})

describe('tokens', () => {
  test('[TOK-1] are svct_ and 32 bytes of base64url', async () => {
    const tokens = await Promise.all(
      ['t1.example', 't2.example'].map((hostname) => hub.createToken({ hostname })),
    )
    for (const token of tokens) assert.match(token, /^svct_[A-Za-z0-9_-]{43}$/)
    assert.notEqual(tokens[0], tokens[1])
  })

  test('[TOK-1] are shown once: no list, no log, no event and no file has the plaintext', async () => {
    const token = await hub.createToken({ hostname: 'once.example' })
    const listed = JSON.stringify(await hub.admin('GET', '/v1/admin/tokens'))
    assert.ok(listed.includes('once.example'))
    assert.ok(!listed.includes(token))
    assert.ok(!JSON.stringify(await readEvents(hub)).includes(token))
    assert.ok(!hub.logText().includes(token))
  })

  test('[TOK-2] one for another host or role does not enrol', async () => {
    const web = await goodRequest('bound-1.example')
    const other = await goodRequest('bound-2.example')
    assertRefused(await enroll({ ...other, token: web.token }), 403, 'hostname_mismatch')
    assertRefused(await enroll({ ...web, role: 'db' }), 403, 'role_mismatch')
  })

  test('[TOK-3] live 1 h unless told otherwise, 7 d at most', async () => {
    const create = (ttl: object) =>
      hub.admin<{ created_at: string; expires_at: string }>('POST', '/v1/admin/tokens', {
        hostname: 'lives.example',
        role: 'web',
        reenroll: true,
        ...ttl,
      })
    const lifeOf = ({ created_at, expires_at }: { created_at: string; expires_at: string }) =>
      (Date.parse(expires_at) - Date.parse(created_at)) / 1000
    assert.equal(lifeOf(await create({})), 3600)
    assert.equal(lifeOf(await create({ ttl_seconds: 604_800 })), 604_800)
    await assert.rejects(create({ ttl_seconds: 604_801 }), /7d at most/)
  })

  test('[TOK-5] are refused for what is no lower-case host name, and for the names of the hub', async () => {
    const names = ['Upper.example', 'a_b', '-a', 'a-', 'a..b', 'a.', '*.a', 'a b', 'x'.repeat(65)]
    for (const hostname of names) {
      await assert.rejects(hub.createToken({ hostname }), /hostname_invalid/, hostname)
    }
    await assert.rejects(hub.createToken({ hostname: 'hub.test' }), /hostname_reserved/)
    const longest = `${'a'.repeat(31)}.${'b'.repeat(32)}`
    assert.ok(await hub.createToken({ hostname: longest }))
  })

  test('[TOK-6] are refused for a host that is enrolled or has an open token, but for --reenroll', async () => {
    await hub.createToken({ hostname: 'open.example' })
    await assert.rejects(hub.createToken({ hostname: 'open.example' }), /hostname_has_token/)
    assert.ok(await hub.createToken({ hostname: 'open.example', reenroll: true }))
    await enrollHost(hub, 'enrolled.example')
    await assert.rejects(hub.createToken({ hostname: 'enrolled.example' }), /hostname_enrolled/)
    assert.ok(await hub.createToken({ hostname: 'enrolled.example', reenroll: true }))
  })

  test('[TOK-8] that are revoked are expired; a consumed one cannot be revoked', async () => {
    const request = await goodRequest('revoked-token.example')
    await hub.admin('POST', '/v1/admin/tokens/revoke', { token: request.token })
    assertRefused(await enroll(request), 401, 'token_expired')
    const used = await goodRequest('used-token.example')
    assertOk(await enroll(used))
    const revoke = hub.admin('POST', '/v1/admin/tokens/revoke', { token: used.token })
    await assert.rejects(revoke, /token_consumed/)
  })
})

describe('a host that is enrolled again', () => {
  test('[ENR-18] keeps its id and history, takes the new role, and is no longer revoked', async () => {
    const hostname = 'again.example'
    const first = await enrollHost(hub, hostname, { role: 'web' })
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: hostname })
    const second = await enrollHost(hub, hostname, { role: 'db', reenroll: true })
    assert.equal(second.agentId, first.agentId)
    const agent = await hub.admin<Record<string, unknown>>('POST', '/v1/admin/agentes/show', {
      agente: hostname,
    })
    assert.deepEqual([agent['role'], agent['revoked_at']], ['db', null])
    assertOk(await send(second.mtls, { path: '/v1/manifest' }))
  })

  test('[ENR-18] does not bring the certificates of a revoked agent back', async () => {
    const hostname = 'revived.example'
    const first = await enrollHost(hub, hostname)
    assertOk(await send(first.mtls, { path: '/v1/manifest' }))
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: hostname })
    await enrollHost(hub, hostname, { reenroll: true })
    assertRefused(await send(first.mtls, { path: '/v1/manifest' }), 401, 'agent_revoked')
  })
})
