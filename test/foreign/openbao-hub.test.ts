// A hub whose CA is a real OpenBao: from the first check to a revoked agent.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkHub } from '../../src/hub/check-hub.ts'
import type { Finding } from '../../src/hub/check-places.ts'
import { createOpenBaoClient } from '../../src/hub/ca/openbao/openbao-client.ts'
import { parseCertificatesPem, subjectAltNamesOf } from '../../src/pki/certificates.ts'
import { createThrowawayCsr } from '../../src/pki/csr.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminAgent } from '../../src/protocol/admin/views.ts'
import { createKeyAndCsr, enrollHost } from '../support/enrolled-host.ts'
import { type RunningOpenBao, startOpenBao } from '../support/openbao.ts'
import { type Variables, waitUntil } from '../support/processes.ts'
import { startTestHub } from '../support/test-hub.ts'
import { post } from '../support/wire-client.ts'
import { WITH_OPENBAO } from './with-openbao.ts'

const HOST = 'web-1.example.org'

describe('a hub in front of OpenBao', WITH_OPENBAO, () => {
  let bao: RunningOpenBao
  before(async () => {
    bao = await startOpenBao()
  })
  after(() => bao[Symbol.asyncDispose]())

  test('[CAX-15] [CAX-16] [REV-12] enrols, delivers names of a carga, and revokes at the CA', async () => {
    await using hub = await startTestHub({ caEnvironment: bao.environment })
    const host = await enrollHost(hub, HOST)
    const { entregas } = await hub.admin<{ entregas: { id: string }[] }>(
      'POST',
      '/v1/admin/cargas',
      {
        tipo: 'csr_cert',
        nome: 'site',
        agentes: [HOST],
        roles: [],
        sans: ['shop.example.org', '10.1.2.3'],
      },
    )
    const { csrPem } = await createKeyAndCsr(HOST)
    const target = {
      port: hub.ports.mtls,
      tls: { ca: bao.rootPem, cert: host.certPem, key: host.keyPem, servername: 'hub.test' },
    }
    const reply = await post(target, '/v1/certs/issue', {
      csr_pem: csrPem,
      entrega_id: entregas[0]?.id,
    })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    const [leaf, intermediate] = parseCertificatesPem(String(reply.json['cert_pem']))
    assert.ok(leaf !== undefined && intermediate !== undefined)
    assert.deepEqual(subjectAltNamesOf(leaf).toSorted(), ['10.1.2.3', 'shop.example.org', HOST])

    assert.equal((await hub.svc('agente', 'revoke', HOST)).status, 0)
    const agent = await waitUntil('no revocation to wait', async () => {
      const shown = await hub.svc('agente', 'show', HOST, '--json')
      const found = JSON.parse(shown.stdout) as AdminAgent
      return found.ca_revocations_waiting === 0 ? found : undefined
    })
    assert.equal(agent.ca_revocations_refused, 0)
    const serial = leaf.serial.match(/../g)?.join(':')
    const { json } = await bao.api('GET', `pki_hosts/cert/${serial}`)
    const { revocation_time: revokedAt } = json['data'] as { revocation_time: number }
    assert.ok(revokedAt > 0)
    assert.ok(!hub.logText().includes(bao.token))
  })

  test('[POL-19] signs a trial for the life that a politica promises', async () => {
    await using hub = await startTestHub({ caEnvironment: bao.environment })
    const set = await hub.svc('politica', 'set', 'web', '--cert-ttl', '2h')
    assert.equal(set.status, 0, set.stderr)
  })

  const check = async (changes: Variables = {}, from = bao): Promise<Finding[]> => {
    const findings: Finding[] = []
    const vault = { SVC_MASTER_PASSPHRASE: 'correct horse battery staple', SVC_VAULT_ROOT: '/none' }
    for await (const finding of checkHub({ ...vault, ...from.environment, ...changes })) {
      if (finding.check === 'ca' || finding.check === 'clock' || finding.check === 'settings') {
        findings.push(finding)
      }
    }
    return findings
  }
  const faultsOf = (findings: readonly Finding[]): unknown[] =>
    findings
      .filter(({ status }) => status !== 'ok')
      .map(({ status, variable, message }) => [status, variable, message])

  test('[BOOT-36] --check finds token and role good, and has nothing signed', async () => {
    const serials = async (): Promise<unknown> =>
      (await bao.api('GET', 'pki_hosts/certs?list=true')).json['data']
    const earlier = await serials()
    const findings = await check()
    assert.deepEqual(faultsOf(findings), [])
    assert.equal(
      findings.at(-1)?.message,
      `${bao.url}/ takes the hub’s token for the role hosts; it was asked for nothing that it would sign`,
    )
    assert.deepEqual(await serials(), earlier)
  })

  for (const { what, changes, variable, why } of [
    {
      what: 'token',
      changes: { SVC_OPENBAO_TOKEN: 's.another' },
      variable: 'SVC_OPENBAO_TOKEN',
      why: /refused to take a trial \(403\): permission denied/,
    },
    {
      what: 'SecretID',
      changes: {
        SVC_OPENBAO_TOKEN: '',
        SVC_OPENBAO_ROLE_ID: 'cartorio-hub',
        SVC_OPENBAO_SECRET_ID: 'another',
      },
      variable: 'SVC_OPENBAO_SECRET_ID',
      why: /refused to log the hub in \(400\): invalid role or secret ID/,
    },
    {
      what: 'namespace',
      changes: { SVC_OPENBAO_NAMESPACE: 'nowhere' },
      variable: 'SVC_OPENBAO_NAMESPACE',
      why: /refused to take a trial \(404\): namespace not found/,
    },
    {
      what: 'root of the server',
      changes: { SVC_CA_TLS_ROOT_PATH: '' },
      variable: 'SVC_CA_ROOT_CA_PATH',
      why: /cannot be reached/,
    },
    {
      what: 'URL',
      changes: { SVC_CA_URL: 'https://127.0.0.1:1' },
      variable: 'SVC_CA_URL',
      why: /cannot be reached/,
    },
  ]) {
    test(`[BOOT-36] --check names the variable of a wrong ${what}`, async () => {
      const [fault, ...more] = faultsOf(await check(changes)) as [string, string, string][]
      assert.deepEqual([fault?.slice(0, 2), more], [['failed', variable], []])
      assert.match(String(fault?.[2]), why)
    })
  }

  test('[BOOT-36] --check says what of the role does not fit', async () => {
    const settings = {
      allow_any_name: true,
      use_csr_sans: true,
      client_flag: false,
      no_store: true,
    }
    await bao.api('POST', 'pki_hosts/roles/odd', settings)
    await bao.api('POST', 'sys/policies/acl/odd', {
      policy: 'path "pki_hosts/*" { capabilities = ["read", "update"] }',
    })
    const { json } = await bao.api('POST', 'auth/token/create', { policies: ['odd'] })
    const { client_token: token } = json['auth'] as { client_token: string }
    const odd = { SVC_OPENBAO_ROLE: 'odd', SVC_OPENBAO_TOKEN: token }
    assert.deepEqual(faultsOf(await check(odd)), [
      [
        'warning',
        'SVC_OPENBAO_ROLE',
        'use_csr_sans: it takes the names of the CSR, and those of a carga are left out',
      ],
      ['warning', 'SVC_OPENBAO_ROLE', 'client_flag: agents get no certificate for clients'],
      ['warning', 'SVC_OPENBAO_ROLE', 'no_store: nothing that it signs can be revoked'],
    ])
    const nobody = { ...odd, SVC_OPENBAO_ROLE: 'nobody' }
    assert.deepEqual(faultsOf(await check(nobody)), [
      ['failed', 'SVC_OPENBAO_ROLE', 'the CA refused to take a trial (400): unknown role: nobody'],
    ])
    const nowhere = { ...odd, SVC_OPENBAO_MOUNT: 'pki_hosts/nowhere' }
    assert.deepEqual(
      (faultsOf(await check(nowhere)) as string[][]).map((fault) => fault[1]),
      ['SVC_OPENBAO_MOUNT'],
    )
  })

  test('[CAX-19] keeps the token alive that it was given, beyond the life that it had', async () => {
    const { json } = await bao.api('POST', 'auth/token/create', {
      policies: ['cartorio'],
      ttl: '3s',
      renewable: true,
    })
    const { client_token: token } = json['auth'] as { client_token: string }
    const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
    await using client = createOpenBaoClient({
      caUrl: new URL(bao.url),
      rootPem: bao.rootPem,
      tlsRootPem: bao.tlsRootPem,
      mount: 'pki_hosts',
      role: 'hosts',
      login: { by: 'token', token: new Secret(token) },
      clock: systemClock,
      logger: logging.forModule('ca'),
    })
    await systemClock.sleep(5000)
    const csr = await createThrowawayCsr(HOST)
    await client.sign({ csr, commonName: HOST, sans: [HOST] })
  })

  test('[CAX-20] logs in again when its token has ended', async () => {
    await bao.api('POST', 'auth/approle/role/hub', {
      token_policies: ['cartorio'],
      token_ttl: '1h',
    })
    const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
    await using client = createOpenBaoClient({
      caUrl: new URL(bao.url),
      rootPem: bao.rootPem,
      tlsRootPem: bao.tlsRootPem,
      mount: 'pki_hosts',
      role: 'hosts',
      login: {
        by: 'approle',
        mount: 'approle',
        roleId: bao.roleId,
        secretId: new Secret(bao.secretId),
      },
      clock: systemClock,
      logger: logging.forModule('ca'),
    })
    const csr = await createThrowawayCsr(HOST)
    const request = { csr, commonName: HOST, sans: [HOST] }
    await client.sign(request)
    const { json } = await bao.api('GET', 'auth/token/accessors?list=true')
    const { keys } = json['data'] as { keys: string[] }
    for (const accessor of keys) {
      const looked = await bao.api('POST', 'auth/token/lookup-accessor', { accessor })
      const { path } = (looked.json['data'] ?? {}) as { path?: string }
      if (path === 'auth/approle/login')
        await bao.api('POST', 'auth/token/revoke-accessor', { accessor })
    }
    const signed = await client.sign(request)
    assert.equal(signed.isAnotherLost, false)
  })
})
