// A hub whose deliveries come from a real ACME CA, Pebble, and whose identities do not.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseAccountKey } from '../../src/hub/ca/acme/acme-account-key.ts'
import { createAcmeClient } from '../../src/hub/ca/acme/acme-client.ts'
import { createHook } from '../../src/hub/ca/acme/acme-hook.ts'
import { CaError } from '../../src/hub/ca/certificate-authority.ts'
import { checkHub } from '../../src/hub/check-hub.ts'
import type { Finding } from '../../src/hub/check-places.ts'
import { parseCertificatesPem, subjectAltNamesOf } from '../../src/pki/certificates.ts'
import { createCsrPem, parseCsrPem } from '../../src/pki/csr.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { enrolHost } from '../support/managed-host.ts'
import { type RunningPebble, startPebble } from '../support/pebble.ts'
import { type Variables, waitUntil } from '../support/processes.ts'
import { createRawCsrPem } from '../support/raw-ca-client.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { startTestHub } from '../support/test-hub.ts'
import { post } from '../support/wire-client.ts'
import { WITH_PEBBLE } from './with-pebble.ts'

const HOST = 'web-1.example.org'

describe('a hub in front of an ACME CA', WITH_PEBBLE, () => {
  let pebble: RunningPebble
  let ca: RunningCa
  let environment: Variables
  before(async () => {
    pebble = await startPebble()
    ca = await startDevCa()
    const rootPath = `${pebble.hookPath}-roots.pem`
    await writeFile(rootPath, (await readFile(ca.rootPath, 'utf8')) + pebble.rootPem)
    environment = { ...ca.environment, ...pebble.environment, SVC_CA_ROOT_CA_PATH: rootPath }
  })
  after(async () => {
    await pebble[Symbol.asyncDispose]()
    await ca[Symbol.asyncDispose]()
  })

  test('[CAX-24] [CAX-25] [CAX-32] [REV-13] delivers what the ACME CA signs, and takes identities from the other one', async () => {
    await using hub = await startTestHub({ caEnvironment: environment })
    const host = await enrollHost(hub, HOST)
    const [identity] = parseCertificatesPem(host.certPem)
    assert.equal(identity?.commonName, HOST)
    const sans = ['shop.example.org', '*.shop.example.org']
    const cargo = { tipo: 'csr_cert', nome: 'site', agentes: [HOST], roles: [], sans }
    const made = await hub.admin<{ entregas: { id: string }[] }>('POST', '/v1/admin/cargas', cargo)
    const target = {
      port: hub.ports.mtls,
      tls: {
        ca: await readFile(ca.rootPath, 'utf8'),
        cert: host.certPem,
        key: host.keyPem,
        servername: 'hub.test',
      },
    }
    const issue = async (csrPem: string) =>
      post(target, '/v1/certs/issue', { csr_pem: csrPem, entrega_id: made.entregas[0]?.id })
    const reply = await issue(await createRawCsrPem({ commonName: HOST, sans: [HOST, ...sans] }))
    assert.equal(reply.status, 200, hub.logText())
    const [leaf] = parseCertificatesPem(String(reply.json['cert_pem']))
    assert.ok(
      leaf !== undefined && !leaf.x509.checkIssued(parseCertificatesPem(host.certPem)[1]!.x509),
    )
    assert.deepEqual(subjectAltNamesOf(leaf).toSorted(), [...sans, HOST].toSorted())

    // A CSR without the names is none that an ACME CA could sign, and it is not asked.
    const calls = (await readFile(pebble.hookLogPath, 'utf8')).split('\n').length
    assert.equal((await issue(await createRawCsrPem({ commonName: HOST }))).status, 502)
    assert.match(hub.logText(), /an ACME CA takes the names from the CSR/)
    assert.equal((await readFile(pebble.hookLogPath, 'utf8')).split('\n').length, calls)

    const set = await hub.svc('politica', 'set', 'web', '--cert-ttl', '2h')
    assert.match(set.stderr, /an ACME CA decides by itself how long its certificates live/)

    assert.equal((await hub.svc('agente', 'revoke', HOST)).status, 0)
    const revocations = await waitUntil('both to be settled', async () => {
      const listed = await hub.svc('agente', 'revocations', '--json')
      const found = (
        JSON.parse(listed.stdout) as { revocations: { purpose: string; state: string }[] }
      ).revocations
      return found.every(({ state }) => state === 'refused') ? found : undefined
    })
    assert.deepEqual(
      revocations.map(({ purpose }) => purpose),
      ['delivery'],
    )
  })

  test('[AGT-63] [AGT-64] [MAN-7] an agent obtains a carga’s names from the ACME CA', async () => {
    await using hub = await startTestHub({
      caEnvironment: environment,
      environment: { SVC_SERVER_CN: 'localhost' },
    })
    await using host = await enrolHost(hub, 'web-2.example.org')
    const sans = ['api.example.org', '*.api.example.org']
    const cargo = { tipo: 'csr_cert', nome: 'api', agentes: [host.hostname], roles: [], sans }
    await hub.admin('POST', '/v1/admin/cargas', cargo)
    const round = await host.agent('run', '--once')
    assert.equal(round.status, 0, round.stderr + hub.logText())
    const [leaf] = parseCertificatesPem(
      await readFile(join(host.dataDir, 'out', 'api.crt'), 'utf8'),
    )
    assert.ok(leaf !== undefined)
    assert.deepEqual(subjectAltNamesOf(leaf).toSorted(), [...sans, host.hostname].toSorted())
    assert.equal(leaf.commonName, undefined)
  })

  test('[CAX-29] a proof that takes longer than a request goes on, and the next request finds it done', async () => {
    const slow = join(pebble.hookPath, '..', 'slow-hook')
    await writeFile(slow, `#!/bin/sh\nsleep 3\nexec ${pebble.hookPath} "$@"\n`, { mode: 0o755 })
    const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
    await using client = createAcmeClient({
      directoryUrl: pebble.directoryUrl,
      rootPem: pebble.rootPem,
      tlsRootPem: pebble.tlsRootPem,
      accountKey: parseAccountKey(pebble.accountKeyPem),
      challengeType: 'dns-01',
      runHook: createHook(slow, SILENT_LOGGER),
      clock: systemClock,
      logger: logging.forModule('ca'),
      deadlineMs: 3000,
    })
    const name = 'slow.example.org'
    const outcomes: string[] = []
    await waitUntil('a certificate', async () => {
      // Each with a key of its own, as an agent asks.
      const csr = parseCsrPem(await createCsrPem(name, await generateEcP256Key(), [name]))
      assert.ok(csr)
      try {
        await client.sign({ csr, commonName: name, sans: [name] })
        return true
      } catch (error) {
        assert.ok(error instanceof CaError)
        assert.deepEqual([error.reason, error.isAnswerLost], ['timeout', false], error.message)
        outcomes.push(error.message)
        return undefined
      }
    })
    assert.match(outcomes[0] ?? '', /the proof of control over the names goes on/)
    const shown = (await readFile(pebble.hookLogPath, 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith(`present dns-01 ${name}`))
    assert.equal(shown.length, 1, 'one order for all of them')
  })

  const check = async (changes: Variables): Promise<unknown[]> => {
    const findings: Finding[] = []
    const vault = { SVC_MASTER_PASSPHRASE: 'correct horse battery staple', SVC_VAULT_ROOT: '/none' }
    for await (const finding of checkHub({ ...vault, ...environment, ...changes })) {
      if (finding.check === 'ca' || finding.check === 'settings') findings.push(finding)
    }
    return findings
      .filter(({ status }) => status !== 'ok')
      .map(({ variable, message }) => [variable, message])
  }

  test('[BOOT-37] --check finds directory, account and hook good, or names the variable', async () => {
    assert.deepEqual(await check({}), [])
    const named = async (changes: Variables): Promise<unknown> =>
      ((await check(changes))[0] as unknown[] | undefined)?.[0]
    assert.equal(
      await named({ SVC_ACME_DIRECTORY: 'https://127.0.0.1:1/dir' }),
      'SVC_ACME_DIRECTORY',
    )
    const elsewhere = new URL('/nothing', pebble.directoryUrl).href
    assert.equal(await named({ SVC_ACME_DIRECTORY: elsewhere }), 'SVC_ACME_DIRECTORY')
    assert.equal(await named({ SVC_ACME_TLS_ROOT_PATH: '' }), 'SVC_CA_ROOT_CA_PATH')
    assert.equal(await named({ SVC_ACME_HOOK: '/none/hook' }), 'SVC_ACME_HOOK')
    assert.equal(await named({ SVC_ACME_HOOK: pebble.accountKeyPath }), 'SVC_ACME_HOOK')
  })

  test('[BOOT-37] --check names the external account that is missing', async () => {
    await using strict = await startPebble({ hasExternalAccounts: true })
    const place = {
      SVC_ACME_DIRECTORY: strict.directoryUrl.href,
      SVC_ACME_TLS_ROOT_PATH: strict.tlsRootPath,
    }
    assert.deepEqual(await check(place), [
      ['SVC_ACME_EAB_KID', 'the ACME CA takes no account without an external one'],
    ])
  })
})
