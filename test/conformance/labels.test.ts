// Labels of hosts, and lists by selectors, at a hub: docs/protocol.md LBL.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AdminRehearsal } from '../../src/protocol/admin/operation.ts'
import type { AdminAgent, AdminEntry } from '../../src/protocol/admin/views.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../support/hub.ts'
import type { Ended } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, post, send, type WireReply } from '../support/wire-client.ts'

interface AgentPage {
  readonly agentes: readonly AdminAgent[]
  readonly next: string | null
}

const { ca, hub } = useHub(
  async (started) => {
    for (const name of ['web-1', 'web-2', 'web-3']) await enrollHost(started, `${name}.example`)
  },
  { ...WITH_ADMIN_PORT, SVC_SERVER_SANS: 'localhost' },
)

async function listed(where: string, rest = ''): Promise<string[]> {
  const path = `/v1/admin/agentes?where=${encodeURIComponent(where)}${rest}`
  const { agentes } = await hub.admin<AgentPage>('GET', path)
  return agentes.map(({ hostname }) => hostname.replace('.example', ''))
}

async function svc(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await hub.svc(...args)
  assert.equal(status, 0, stderr)
  return stdout
}

describe('labels at a hub', () => {
  test('[LBL-4] [LBL-6] [LBL-8] come with a token or by an operator, and lists are asked for them', async () => {
    const labels = { env: 'prod', tier: '' }
    await enrollHost(hub, 'db-1.example', { labels, role: 'db' })
    await svc('agent', 'label', 'web-1.example', 'env=prod', 'rack=r7')
    await svc('agent', 'label', '--where', 'role!=db,!env', 'env=stage')
    assert.deepEqual(await listed('env=prod'), ['db-1', 'web-1'])
    assert.deepEqual(await listed('env in (prod,stage),!tier'), ['web-1', 'web-2', 'web-3'])
    assert.deepEqual(await listed('role=db'), ['db-1'])
    assert.deepEqual(await listed('env=stage,name!=web-2.example'), ['web-3'])
    const page = '/v1/admin/agentes?limit=2&where=env'
    const first = await hub.admin<AgentPage>('GET', page)
    assert.deepEqual(
      first.agentes.map(({ hostname, labels: all }) => [hostname, all]),
      [
        ['db-1.example', ['env=prod', 'tier=']],
        ['web-1.example', ['env=prod', 'rack=r7']],
      ],
    )
    const second = await hub.admin<AgentPage>('GET', `${page}&after=${first.next}`)
    assert.deepEqual(
      second.agentes.map(({ hostname }) => hostname),
      ['web-2.example', 'web-3.example'],
    )
    assert.equal(second.next, null)
    const { eventos } = await hub.admin<{ eventos: AdminEntry[] }>(
      'POST',
      '/v1/admin/eventos/list',
      { tipo: 'labels_changed' },
    )
    assert.deepEqual(eventos.at(-1)?.payload, {
      actor: 'admin',
      where: 'role!=db,!env',
      agentes: ['web-2.example', 'web-3.example'],
      set: { env: 'stage' },
      removed: [],
    })
  })

  test('[LBL-8] [API-27] are rehearsed, and nothing is done', async () => {
    const request = { where: 'role=web', set: { wave: '1' }, dry_run: true }
    const path = '/v1/admin/agentes/label'
    const { acts, agentes } = await hub.admin<AdminRehearsal>('POST', path, request)
    assert.deepEqual([acts.map(({ tipo }) => tipo), agentes], [['labels_changed'], 0])
    assert.match(
      await svc('agent', 'label', 'web-1.example', 'wave=1', '--dry-run'),
      /labels_changed .*"set":\{"wave":"1"\}/,
    )
    assert.deepEqual(await listed('wave'), [])
  })

  test('[LBL-5] [LBL-7] of a selector that is none, or of agents, nothing is answered', async () => {
    for (const [method, path, body, code] of [
      ['GET', '/v1/admin/agentes?where=env%3D%3D%3D', undefined, 'selector_invalid'],
      ['GET', '/v1/admin/agentes?where=', undefined, 'request_invalid'],
      ['GET', `/v1/admin/agentes?where=${'a'.repeat(1025)}`, undefined, 'request_invalid'],
      ['POST', '/v1/admin/entregas/list', { where: '(' }, 'selector_invalid'],
      [
        'POST',
        '/v1/admin/agentes/label',
        { where: 'host.os', set: { a: '' } },
        'selector_reported',
      ],
      [
        'POST',
        '/v1/admin/agentes/label',
        { agente: 'web-1.example', set: { a: 1 } },
        'request_invalid',
      ],
    ] as const) {
      await assert.rejects(hub.admin(method, path, body), new RegExp(code), path)
    }
    assert.deepEqual(await listed('host.os'), [])
  })

  test('[LBL-12] [LBL-13] that an agent reports are in lists, and change when it starts again', async () => {
    const host = await enrollHost(hub, 'reporting.example', { labels: { env: 'prod' } })
    const start = async (payload: object, request_id: string): Promise<void> => {
      const event = { tipo_evento: 'agent_started', payload, request_id }
      assertOk(await post(host.mtls, '/v1/events', event))
    }
    const labelsNow = async (): Promise<unknown> => {
      const path = '/v1/admin/agentes/show'
      return (await hub.admin<AdminAgent>('POST', path, { agente: host.hostname })).labels
    }
    const linux = { labels: { os: 'linux', 'distribution-version': '12', env: 'stage' } }
    await start(linux, 'first')
    assert.deepEqual(await listed('host.os=linux,host.distribution-version in (11,12)'), [
      'reporting',
    ])
    const first = ['env=prod', 'host.distribution-version=12', 'host.env=stage', 'host.os=linux']
    assert.deepEqual(await labelsNow(), first)
    await start({ labels: { os: 'darwin' } }, 'second')
    await start(linux, 'first')
    assert.deepEqual(await labelsNow(), ['env=prod', 'host.os=darwin'])
    // Recorded as it is, and nothing more.
    await start({ labels: { os: 'no label' } }, 'third')
    assert.deepEqual(await labelsNow(), ['env=prod', 'host.os=darwin'])
    await start({ hostname: host.hostname }, 'fourth')
    assert.deepEqual(await labelsNow(), ['env=prod'])
  })

  test('[LBL-18] [LBL-19] [LBL-21] [LBL-23] [CLI-150] choose who gets a carga, also later', async () => {
    const host = await enrollHost(hub, 'late.example')
    const has = async (): Promise<unknown> => {
      const reply = await send(host.mtls, { path: '/v1/manifest' })
      assertOk(reply)
      const { entregas } = reply.json as { entregas: { nome: string; versao: number }[] }
      return entregas.map(({ nome, versao }) => `${nome} ${versao}`)
    }
    const load = ['--type', 'csr_cert', '--name', 'late', '--where', 'tier=late']
    assert.match(
      await svc('load', 'create', ...load),
      /created, for each agent that matches tier=late\n$/,
    )
    assert.deepEqual(await has(), [])
    await svc('agent', 'label', host.hostname, 'tier=late')
    assert.match(
      await svc('load', 'select', 'late'),
      /belongs to tier=late: 1 agent matches\n\n1 of them does not have it yet:\nHOSTNAME +REASON\nlate\.example +next_poll\n$/,
    )
    assert.deepEqual(await has(), ['late 1'])
    await svc('load', 'select', 'late', '--where', 'tier=nobody')
    assert.deepEqual(await has(), ['late 1'])
    const refused = await hub.svc('load', 'select', 'late', '--prune')
    assert.match(refused.stderr, /this cancels the deliveries of load late of late\.example\n/)
    assert.match(await svc('load', 'select', 'late', '--prune', '--dry-run'), /entrega_cancelled/)
    assert.deepEqual(await has(), ['late 1'])
    assert.match(await svc('load', 'select', 'late', '--prune', '--yes'), /1 delivery cancelled\n/)
    assert.deepEqual(await has(), [])
    await svc('load', 'remove', 'late')
  })

  test('[LBL-15] [LBL-16] [LBL-17] [API-11] [API-12] [ERR-40] bound an admin token to some hosts', async () => {
    const named = ['--name', 'stage-team', '--role', 'operator', '--only', 'env == stage']
    const made = await svc('admin', 'token', 'create', ...named, '--json')
    const { token, only } = JSON.parse(made) as { token: string; only: string }
    assert.equal(only, 'env=stage')
    const tls = { ca: await readFile(ca.rootPath, 'utf8'), servername: HUB_NAME }
    const ask = (path: string, body?: object): Promise<WireReply> =>
      send(
        { port: hub.ports.admin ?? 0, tls },
        {
          method: body === undefined ? 'GET' : 'POST',
          path,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        },
      )
    const agentes = (await ask('/v1/admin/agentes')).json['agentes'] as AdminAgent[]
    assert.deepEqual(
      agentes.map(({ hostname }) => hostname),
      ['web-2.example', 'web-3.example'],
    )
    const show = '/v1/admin/agentes/show'
    assert.equal((await ask(show, { agente: 'web-2.example' })).status, 200)
    const [other, nobody] = [
      await ask(show, { agente: 'web-1.example' }),
      await ask(show, { agente: 'web-9.example' }),
    ]
    assert.deepEqual([other.status, other.json['error']], [404, 'agent_not_found'])
    assert.equal(other.text.replace('web-1', 'web-9'), nobody.text)
    const sync = { acao: 'sync' }
    assert.equal((await ask('/v1/push/web-3.example', sync)).status, 202)
    assert.equal((await ask('/v1/push/web-1.example', sync)).status, 404)
    for (const [path, body] of [
      ['/v1/admin/tokens', undefined],
      ['/v1/admin/tokens', { hostname: 'web-4.example', role: 'web' }],
      ['/v1/admin/status', undefined],
      ['/v1/admin/cargas', undefined],
      ['/v1/admin/agentes/label', { agente: 'web-2.example', set: { env: 'prod' } }],
      ['/v1/admin/eventos/list', {}],
    ] as const) {
      const { status, json } = await ask(path, body)
      assert.deepEqual([status, json['error']], [403, 'token_bounded'], path)
    }
    const { eventos } = await hub.admin<{ eventos: AdminEntry[] }>(
      'POST',
      '/v1/admin/eventos/list',
      { tipo: 'admin_refused' },
    )
    const { actor, reason } = eventos.at(-1)?.payload ?? {}
    assert.deepEqual([actor, reason], ['token:stage-team', 'token_bounded'])
    const tokenFile = join(hub.directory, 'stage-team')
    await writeFile(tokenFile, token, { mode: 0o600 })
    const url = `https://localhost:${hub.ports.admin}`
    const remote = (...args: readonly string[]): Promise<Ended> => {
      const doors = [
        '--hub',
        url,
        '--token-file',
        tokenFile,
        '--hub-ca',
        join(hub.vaultRoot, 'ca.crt'),
      ]
      return runSvcHere([...doors, ...args], {})
    }
    const synced = await remote('agent', 'sync', '--where', 'role=web')
    assert.equal(synced.stdout, 'web-2.example offline\nweb-3.example offline\n', synced.stderr)
    const labelled = await remote('agent', 'label', 'web-2.example', 'env=prod')
    assert.equal(
      labelled.stderr,
      'svc: error: the admin token is bounded to some hosts, and this operation is about more than these\nsvc: hint: it lists, shows, syncs, rotates and revokes the agents that it is for; anything else needs a token without --only\n',
    )
    // A host that is no longer one of them is gone for it at once.
    await svc('agent', 'label', 'web-3.example', 'env=prod')
    assert.equal((await ask('/v1/push/web-3.example', sync)).status, 404)
  })
})
