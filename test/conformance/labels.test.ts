// Labels of hosts, and lists by selectors, at a hub: docs/protocol.md LBL.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AdminRehearsal } from '../../src/protocol/admin/operation.ts'
import type { AdminAgent, AdminEntry } from '../../src/protocol/admin/views.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, post } from '../support/wire-client.ts'

interface AgentPage {
  readonly agentes: readonly AdminAgent[]
  readonly next: string | null
}

const { hub } = useHub(async (started) => {
  for (const name of ['web-1', 'web-2', 'web-3']) await enrollHost(started, `${name}.example`)
})

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
        ['db-1.example', labels],
        ['web-1.example', { env: 'prod', rack: 'r7' }],
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
    assert.deepEqual(await labelsNow(), {
      env: 'prod',
      'host.distribution-version': '12',
      'host.env': 'stage',
      'host.os': 'linux',
    })
    await start({ labels: { os: 'darwin' } }, 'second')
    await start(linux, 'first')
    assert.deepEqual(await labelsNow(), { env: 'prod', 'host.os': 'darwin' })
    // Recorded as it is, and nothing more.
    await start({ labels: { os: 'no label' } }, 'third')
    assert.deepEqual(await labelsNow(), { env: 'prod', 'host.os': 'darwin' })
    await start({ hostname: host.hostname }, 'fourth')
    assert.deepEqual(await labelsNow(), { env: 'prod' })
  })
})
