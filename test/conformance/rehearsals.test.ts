// What is looked at before it is done, on the admin port: acts with `dry_run`, and plans of declared fleets. docs/protocol.md API, DCL.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../support/hub.ts'
import { useHub } from '../support/use-hub.ts'
import { send, type WireReply } from '../support/wire-client.ts'

type Role = 'viewer' | 'operator' | 'admin'

const tokens: Record<Role, string> = { viewer: '', operator: '', admin: '' }

const { ca, hub } = useHub(async (started) => {
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    const request = { name: role, role }
    const path = '/v1/admin/admin-tokens'
    tokens[role] = (await started.admin<{ token: string }>('POST', path, request)).token
  }
}, WITH_ADMIN_PORT)

async function ask(
  path: string,
  {
    token,
    body,
    ifMatch,
  }: { readonly token: string; readonly body?: object; readonly ifMatch?: string },
): Promise<WireReply> {
  const tls = { ca: await readFile(ca.rootPath, 'utf8'), servername: HUB_NAME }
  return send(
    { port: hub.ports.admin ?? 0, tls },
    {
      method: body === undefined ? 'GET' : 'POST',
      path,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
  )
}

test('[API-27] [API-28] a rehearsal is answered 200 without an ETag, to a caller that may do the act', async () => {
  const features = await ask('/v1/admin/features', { token: tokens.viewer })
  assert.deepEqual(
    [features.status, features.json],
    [
      200,
      {
        features: [
          'dry_run',
          'entry_filters',
          'labels',
          'bounded_tokens',
          'selected_cargas',
          'selector_webhooks',
          'agent_filters',
        ],
      },
    ],
  )
  const { hostname } = await enrollHost(hub, 'rehearsed.example')
  const named = { tipo: 'csr_cert', nome: 'site', agentes: [hostname], roles: [], sans: [] }
  for (const [path, body, type] of [
    ['/v1/admin/cargas', named, 'carga_created'],
    [`/v1/push/${hostname}`, { acao: 'sync' }, 'agent_sync_requested'],
  ] as const) {
    const asked = { token: tokens.operator, body: { ...body, dry_run: true } }
    const { status, headers, json } = await ask(path, asked)
    assert.deepEqual(
      [status, headers.etag, json['dry_run'], json['agentes']],
      [200, undefined, true, 1],
    )
    const acts = json['acts'] as { tipo: string; payload: { actor: string } }[]
    assert.deepEqual(
      acts.map(({ tipo, payload }) => [tipo, payload.actor]),
      [[type, 'token:operator']],
    )
    const looker = await ask(path, { ...asked, token: tokens.viewer })
    assert.deepEqual([looker.status, looker.json['error']], [403, 'role_insufficient'])
    const other = await ask(path, { ...asked, body: { ...body, dry_run: 1 } })
    assert.deepEqual([other.status, other.json['error']], [400, 'request_invalid'])
    assert.deepEqual(other.json['fields'], { dry_run: 'must be boolean' })
  }
  const { cargas } = (await ask('/v1/admin/cargas', { token: tokens.viewer })).json as {
    cargas: { nome: string }[]
  }
  assert.ok(cargas.every(({ nome }) => nome !== 'site'))
})

test('[DCL-3] [DCL-4] [DCL-8] [DCL-9] a declared fleet is applied as it was planned, or not at all', async () => {
  const fleet = { manager: 'repository', politicas: [{ role: 'declared', token_ttl_max: 3600 }] }
  const plan = (): Promise<WireReply> =>
    ask('/v1/admin/fleet/plan', { token: tokens.viewer, body: fleet })
  const apply = async (role: Role, ifMatch: string, more: object = {}): Promise<string> => {
    const body = { ...fleet, ...more, files_sha256: 'f'.repeat(64) }
    const { status, json } = await ask('/v1/admin/fleet/apply', {
      token: tokens[role],
      ifMatch,
      body,
    })
    return `${status} ${String(json['error'])}`
  }
  const planned = await plan()
  const tag = planned.headers.etag ?? ''
  assert.equal(tag, `"${String(planned.json['etag'])}"`, planned.text)
  assert.equal(await apply('operator', tag), '403 role_insufficient')
  const unknown = { politicas: [{ role: 'declared', later: 1 }] }
  assert.equal(await apply('admin', tag, unknown), '400 request_invalid')
  const byHand = { role: 'declared', token_ttl_max: 60 }
  await ask('/v1/admin/politicas', { token: tokens.admin, body: byHand })
  for (const other of [tag, 'W/"2"', '"x"', '']) {
    assert.equal(await apply('admin', other), '412 fleet_changed')
  }
  const again = (await plan()).headers.etag ?? ''
  const two = await Promise.all([apply('admin', again), apply('admin', again)])
  assert.deepEqual(two.toSorted(), ['200 undefined', '412 fleet_changed'])
  assert.deepEqual((await plan()).json['changes'], [])
})
