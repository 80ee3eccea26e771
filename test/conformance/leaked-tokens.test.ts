// Tokens that somebody put into a URL: docs/protocol.md TOK-10.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import {
  assertRefused,
  connect,
  exchange,
  post,
  send,
  type Target,
} from '../support/wire-client.ts'

const { ca, hub } = useHub(undefined, { ...WITH_ADMIN_PORT, SVC_METRICS_BIND: '127.0.0.1:0' })

interface Act {
  readonly tipo_evento: string
  readonly payload: Readonly<Record<string, unknown>>
}

async function adminPort(): Promise<Target> {
  const trusted = await readFile(ca.rootPath, 'utf8')
  return { port: hub.ports.admin ?? 0, tls: { ca: trusted, servername: HUB_NAME } }
}

async function createAdminToken(name: string): Promise<string> {
  const request = { name, role: 'viewer' }
  return (await hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', request)).token
}

async function lastAct(tipo: string): Promise<Act | undefined> {
  const { eventos } = await hub.admin<{ eventos: Act[] }>('POST', '/v1/admin/eventos/list', {
    tipo,
  })
  return eventos.at(-1)
}

async function tryToken(token: string, hostname: string): Promise<unknown> {
  const { csrPem } = await createKeyAndCsr(hostname)
  const body = { token, hostname, role: 'web', csr_pem: csrPem }
  return (await post({ port: hub.ports.enroll }, '/v1/enroll', body)).json['error'] ?? 'enrolled'
}

const encoded = (text: string): string =>
  text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)

test('[TOK-10] an enrolment token in a URL is ended, on every port and by any method', async () => {
  const host = await enrollHost(hub, 'leaky.example')
  const metrics = await waitUntil('the metrics port', () =>
    hub.logEntries().find(({ msg }) => msg === 'metrics listening'),
  )
  const ports: Record<string, Target> = {
    health: { port: hub.ports.health },
    enroll: { port: hub.ports.enroll },
    mtls: host.mtls,
    admin: await adminPort(),
    metrics: { port: Number(metrics['port']) },
  }
  const urls = [
    (token: string) => ({ path: `/v1/enroll?token=${token}` }),
    (token: string) => ({ method: 'PURGE', path: `/${encoded(token)}` }),
    (token: string) => ({ method: 'POST', path: `/%zz/${token}` }),
  ]
  let count = 0
  for (const [port, target] of Object.entries(ports)) {
    for (const urlOf of urls) {
      count += 1
      const hostname = `leak-${count}.example`
      const token = await hub.createToken({ hostname })
      const { status } = await send(target, urlOf(token))
      assert.ok([401, 404, 405].includes(status), `${port} ${status}`)
      assert.equal(await tryToken(token, hostname), 'token_expired', port)
      const act = await lastAct('token_revoked')
      assert.deepEqual(
        { ...act?.payload, token_id: undefined },
        {
          actor: 'hub',
          token_id: undefined,
          hostname,
          reason: 'in_url',
          port,
          address: '127.0.0.1',
        },
      )
    }
  }
})

test('[TOK-10] one that comes in the body of the same request is refused there too', async () => {
  const hostname = 'twice.example'
  const token = await hub.createToken({ hostname })
  const { csrPem } = await createKeyAndCsr(hostname)
  const body = { token, hostname, role: 'web', csr_pem: csrPem }
  const reply = await post({ port: hub.ports.enroll }, `/v1/enroll?token=${token}`, body)
  assertRefused(reply, 401, 'token_expired')
})

test('[TOK-10] a request that is no HTTP otherwise ends the token in its first line', async () => {
  const hostname = 'broken.example'
  const token = await hub.createToken({ hostname })
  const socket = await connect({ port: hub.ports.health })
  const answer = await exchange(socket, `GET /?t=${token} HTTP/1.1\r\nNo colon\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 400 /)
  await waitUntil('its end', async () =>
    (await lastAct('token_revoked'))?.payload['hostname'] === hostname ? true : undefined,
  )
  assert.equal(await tryToken(token, hostname), 'token_expired')
})

test('[TOK-10] an admin token in a URL is revoked, for the request that has it too', async () => {
  const token = await createAdminToken('leaky')
  const headers = { authorization: `Bearer ${token}` }
  const target = await adminPort()
  assert.equal((await send(target, { path: '/v1/admin/tokens', headers })).status, 200)
  const leaking = await send(target, { path: `/v1/admin/tokens?token=${token}`, headers })
  assert.deepEqual([leaking.status, leaking.json['error']], [401, 'admin_token_invalid'])
  assert.equal((await send(target, { path: '/v1/admin/tokens', headers })).status, 401)
  const { payload } = (await lastAct('admin_token_revoked')) ?? assert.fail('nothing recorded')
  assert.deepEqual(
    { ...payload, admin_token_id: undefined },
    {
      actor: 'hub',
      admin_token_id: undefined,
      name: 'leaky',
      reason: 'in_url',
      port: 'admin',
      address: '127.0.0.1',
    },
  )
})

test('[TOK-10] a token in a header or a body alone is as good as before', async () => {
  const hostname = 'kept.example'
  const token = await hub.createToken({ hostname })
  const headers = { referer: `https://x/?${token}`, 'x-token': token }
  await send({ port: hub.ports.health }, { path: '/health', headers })
  assert.equal(await tryToken(token, hostname), 'enrolled')
})

test('[LOG-5] none of it is in the log', () => {
  assert.doesNotMatch(hub.logText(), /svc[ta]_[\w-]{20}/)
})
