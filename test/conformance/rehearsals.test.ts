// Acts that are asked for with `dry_run`, on the admin port: docs/protocol.md API.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../support/hub.ts'
import { useHub } from '../support/use-hub.ts'
import { send, type WireReply } from '../support/wire-client.ts'

type Role = 'viewer' | 'operator'

const tokens: Record<Role, string> = { viewer: '', operator: '' }

const { ca, hub } = useHub(async (started) => {
  for (const role of ['viewer', 'operator'] as const) {
    const request = { name: role, role }
    const path = '/v1/admin/admin-tokens'
    tokens[role] = (await started.admin<{ token: string }>('POST', path, request)).token
  }
}, WITH_ADMIN_PORT)

async function ask(
  path: string,
  { token, body }: { readonly token: string; readonly body?: object },
): Promise<WireReply> {
  const tls = { ca: await readFile(ca.rootPath, 'utf8'), servername: HUB_NAME }
  return send(
    { port: hub.ports.admin ?? 0, tls },
    {
      method: body === undefined ? 'GET' : 'POST',
      path,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
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
