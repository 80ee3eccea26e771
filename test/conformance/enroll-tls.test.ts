// Port 8446: what port 8444 serves, over TLS by the hub itself.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { startDevCa } from '../support/dev-ca.ts'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import { HUB_NAME, WITH_ENROLL_TLS } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { startTestHub } from '../support/test-hub.ts'
import { useCa, useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send, type Target } from '../support/wire-client.ts'

let tls: Target
let plain: Target
const { hub, ca } = useHub(
  async ({ ports: { enroll, enrollTls = 0 } }) => {
    plain = { port: enroll }
    const root = await readFile(ca.rootPath, 'utf8')
    tls = { port: enrollTls, tls: { ca: root, servername: HUB_NAME } }
  },
  { ...WITH_ENROLL_TLS, SVC_LIMIT_ENROLL_FAILURES: '4' },
)
const other = useCa()

async function shakeHands(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: tls.port, ...tls.tls, ...options })
  await once(socket, 'secureConnect')
  return socket
}

describe('[SRF-30] [SRF-31] the enroll port over TLS', () => {
  test('answers enrolments as the port without TLS does', async () => {
    const token = await hub.createToken({ hostname: 'by-tls' })
    const { csrPem } = await createKeyAndCsr('by-tls')
    const body = { token, hostname: 'by-tls', role: 'web', csr_pem: csrPem }
    assertOk(await post(tls, '/v1/enroll', body))
    assertRefused(await post(tls, '/v1/enroll', body), 401, 'token_consumed')
    assertRefused(await post(plain, '/v1/enroll', body), 401, 'token_consumed')
  })

  test('has the routes of the port without TLS, and no other', async () => {
    for (const path of ['/v1/manifest', '/health', '/v1/admin/tokens', '/v1/bundle']) {
      assertRefused(await send(tls, { path }), 404, 'route_not_found')
    }
    for (const path of ['/v1/enroll', '/v1/recover']) {
      const reply = await send(tls, { path })
      assertRefused(reply, 405, 'method_not_allowed')
      assert.equal(reply.headers['allow'], 'POST')
    }
  })

  test('asks for no client certificate, and shows its chain with the root at the end', async () => {
    const socket = await shakeHands()
    assert.equal(socket.getPeerCertificate().subject.CN, HUB_NAME)
    const shown = await new Promise<number>((resolve) => {
      const untrusting = connect({
        host: '127.0.0.1',
        port: tls.port,
        rejectUnauthorized: false,
        ca: [],
      })
      untrusting.once('secureConnect', () => {
        let certificate = untrusting.getPeerCertificate(true)
        let count = 1
        for (; certificate.issuerCertificate !== certificate; count += 1) {
          certificate = certificate.issuerCertificate
        }
        untrusting.destroy()
        resolve(count)
      })
    })
    assert.equal(shown, 3)
    socket.destroy()
  })

  for (const [what, options, why] of [
    ['TLS 1.1', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' }, /protocol|alert|unsupported/i],
    [
      'a suite without forward secrecy',
      { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' },
      /handshake failure/,
    ],
    ['a costly group alone', { ecdhCurve: 'P-521' }, /handshake failure/],
  ] as const) {
    test(`[SRF-21] [LIM-31] refuses ${what}`, async () => {
      await assert.rejects(shakeHands(options), why)
    })
  }

  test('[LIM-11] counts guesses together with those of the port without TLS', async () => {
    const { csrPem } = await createKeyAndCsr('guess')
    const guess = { token: 'svct_guess', hostname: 'guess', role: 'web', csr_pem: csrPem }
    for (const port of [plain, tls, plain, tls]) {
      assertRefused(await post(port, '/v1/enroll', guess), 401, 'token_not_found')
    }
    for (const port of [tls, plain]) {
      assertRefused(await post(port, '/v1/enroll', guess), 429, 'rate_limited')
    }
  })
})

test('[SRF-31] [CAX-13] shows the hub’s new certificate once it is renewed', async () => {
  await using shortLived = await startDevCa({ certDuration: '9s' })
  await using renewing = await startTestHub({
    caEnvironment: shortLived.environment,
    environment: WITH_ENROLL_TLS,
  })
  const root = await readFile(shortLived.rootPath, 'utf8')
  const serialOn = async (port: number): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, ca: root, servername: HUB_NAME })
    await once(socket, 'secureConnect')
    const { serialNumber } = socket.getPeerCertificate()
    socket.destroy()
    return serialNumber
  }
  const { enrollTls = 0 } = renewing.ports
  const first = await serialOn(enrollTls)
  await waitUntil(
    'another certificate',
    async () => (await serialOn(enrollTls)) !== first || undefined,
  )
})

test('[SRF-31] the enroll port over TLS believes no proxy', async () => {
  await using own = await startTestHub({
    caEnvironment: ca.environment,
    environment: {
      ...WITH_ENROLL_TLS,
      SVC_TRUSTED_PROXIES: '127.0.0.0/8',
      SVC_LIMIT_ENROLL_FAILURES: '2',
    },
  })
  const root = await readFile(ca.rootPath, 'utf8')
  const refusals = async (target: Target): Promise<number[]> => {
    const statuses: number[] = []
    for (const address of ['203.0.113.1', '198.51.100.2', '192.0.2.3']) {
      const { status } = await send(target, {
        method: 'POST',
        path: '/v1/enroll',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: '{}',
      })
      statuses.push(status)
    }
    return statuses
  }
  const tlsTarget = { port: own.ports.enrollTls ?? 0, tls: { ca: root, servername: HUB_NAME } }
  assert.deepEqual(await refusals({ port: own.ports.enroll }), [400, 400, 400])
  assert.deepEqual(await refusals(tlsTarget), [400, 400, 429])
})

describe('[ENV-40] the enroll port over TLS', () => {
  for (const off of ['', 'off']) {
    test(`is off with SVC_ENROLL_TLS_BIND=${off}`, async () => {
      await using quiet = await other.startHub({ SVC_ENROLL_TLS_BIND: 'off' })
      await quiet.stop()
      await quiet.start({ SVC_ENROLL_TLS_BIND: off })
      assert.doesNotMatch(quiet.logText(), /enroll TLS listening/)
      assert.match(quiet.logText(), /mtls listening/)
    })
  }
})
