// The stream of changes as a console reads it: over HTTPS from a real hub, with admin tokens.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import { HUB_NAME, type TestHub, WITH_ADMIN_PORT } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { openStream, type StreamClient } from '../support/stream-client.ts'
import { startTestHub } from '../support/test-hub.ts'
import { send, type Target } from '../support/wire-client.ts'

interface Told {
  readonly event: string
  readonly id: string | undefined
  readonly data: Readonly<Record<string, unknown>>
}

describe('the stream of changes', () => {
  let ca: RunningCa
  let hub: TestHub
  let rootPem: string
  let host: EnrolledHost
  before(async () => {
    ca = await startDevCa()
    hub = await startTestHub({
      caEnvironment: ca.environment,
      environment: WITH_ADMIN_PORT,
    })
    rootPem = await readFile(ca.rootPath, 'utf8')
    host = await enrollHost(hub, 'web-1.example')
  })
  after(async () => {
    await hub?.[Symbol.asyncDispose]()
    await ca?.[Symbol.asyncDispose]()
  })

  const target = (): Target => ({
    port: hub.ports.admin ?? 0,
    tls: { ca: rootPem, servername: HUB_NAME },
  })
  const createToken = async (
    name: string,
    ...options: string[]
  ): Promise<{ readonly token: string; readonly id: string }> => {
    const args = ['admin', 'token', 'create', '--name', name, '--role', 'viewer', '--ttl', '1h']
    return JSON.parse(await succeeded(...args, ...options, '--json')) as {
      token: string
      id: string
    }
  }
  const succeeded = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await hub.svc(...args)
    assert.equal(status, 0, stderr)
    return stdout
  }
  const open = async (
    token: string,
    { query = '', lastEventId }: { query?: string; lastEventId?: string } = {},
  ): Promise<StreamClient> =>
    openStream(target(), {
      path: `/v1/admin/changes${query}`,
      headers: { authorization: `Bearer ${token}` },
      ...(lastEventId !== undefined && { lastEventId }),
    })
  const sync = (hostname = host.hostname): Promise<string> => succeeded('agente', 'sync', hostname)

  test('[DOR-1] [DOR-2] [DOR-3] an entry rings once, by its ids alone', async () => {
    const { token } = await createToken('reader')
    const stream = await open(token)
    assert.equal(stream.status, 200)
    assert.equal(stream.headers['content-type'], 'text/event-stream')
    assert.equal(stream.headers['cache-control'], 'no-store')
    const [hello] = await told(stream, 1)
    assert.equal(hello?.event, 'hello')
    assert.ok(Math.abs(Date.parse(String(hello?.data['time'])) - Date.now()) < 60_000)
    const head = Number(hello?.data['seq'])
    assert.equal(hello?.id, String(head))
    await sync()
    const [, entry] = await told(stream, 2)
    assert.deepEqual(entry, {
      event: 'entry',
      id: String(head + 1),
      data: { seq: head + 1, tipo: 'agent_sync_requested', agente_id: host.agentId },
    })
    assert.doesNotMatch(stream.text(), /web-1/)
    stream.close()
  })

  test('[DOR-4] a caller that comes back is told what it missed, nothing twice; so by another process of the hub', async () => {
    const { token } = await createToken('resumes')
    const first = await open(token)
    const [hello] = await told(first, 1)
    const head = Number(hello?.data['seq'])
    first.close()
    for (let count = 0; count < 3; count += 1) await sync()
    // A browser that comes back repeats the address of its first request.
    const second = await open(token, { query: '?after=0', lastEventId: String(head) })
    assert.deepEqual(await seqs(second, 3), [head + 1, head + 2, head + 3])
    const third = await open(token, { query: `?after=${head + 1}` })
    assert.deepEqual(await seqs(third, 2), [head + 2, head + 3])
    await hub.stop()
    await waitUntil('the end', () => second.hasEnded() || undefined)
    const last = parse(second.text()).at(-1)
    assert.deepEqual([last?.event, last?.data['error']], ['end', 'unavailable'])
    await hub.start()
    const fourth = await open(token, { lastEventId: String(head + 2) })
    await sync()
    const all = await seqs(fourth, 2)
    assert.equal(all[0], head + 3)
    assert.deepEqual(
      all.map((seq, at) => seq - at),
      all.map(() => head + 3),
    )
    fourth.close()
  })

  test('[DOR-4] who is far behind is told of all at once, who is ahead that this is another log', async () => {
    const { token } = await createToken('away')
    const [hello] = await told(await open(token), 1)
    const head = Number(hello?.data['seq'])
    for (let at = 0; head + at < 105; at += 1) await sync()
    const behind = await open(token, { query: '?after=1' })
    const [, many] = await told(behind, 2)
    assert.equal(many?.event, 'many')
    assert.equal(many?.data['after'], 1)
    assert.equal(many?.id, String(many?.data['seq']))
    const ahead = await open(token, { lastEventId: '999999' })
    const [, reset] = await told(ahead, 2)
    assert.deepEqual([reset?.event, reset?.data['asked']], ['reset', 999_999])
    assert.equal((await open(token, { query: '?after=x' })).status, 400)
    behind.close()
    ahead.close()
  })

  test('[DOR-5] the stream of a token that is revoked ends at once, and says why', async () => {
    const { token, id } = await createToken('revoked')
    const stream = await open(token)
    await told(stream, 1)
    const atMs = Date.now()
    await succeeded('admin', 'token', 'revoke', id)
    await waitUntil('the end', () => stream.hasEnded() || undefined)
    assert.ok(Date.now() - atMs < 2000)
    const last = parse(stream.text()).at(-1)
    assert.deepEqual([last?.event, last?.data['error']], ['end', 'admin_token_invalid'])
    assert.equal(parse(stream.text()).filter(({ event }) => event === 'entry').length, 0)
    const refused = await succeeded('evento', 'list', '--tipo', 'admin_refused', '--json')
    assert.deepEqual((JSON.parse(refused) as { eventos: unknown[] }).eventos, [])
  })

  test('[DOR-6] a bounded token hears of its hosts alone', async () => {
    const other = await enrollHost(hub, 'db-1.example', { role: 'db' })
    const { token } = await createToken('bounded', '--only', 'role=db')
    const stream = await open(token)
    await told(stream, 1)
    await sync()
    await sync(other.hostname)
    const [, entry] = await told(stream, 2)
    assert.equal(entry?.data['agente_id'], other.agentId)
    const agent = await openStream(host.mtls)
    const own = await openStream(other.mtls)
    const [, , presence] = await told(stream, 3)
    assert.deepEqual(presence, {
      event: 'presence',
      id: undefined,
      data: { agente_id: other.agentId },
    })
    for (const each of [agent, own, stream]) each.close()
  })

  test('[DOR-7] an agent that comes or goes rings', async () => {
    const own = await enrollHost(hub, 'comes-and-goes.example')
    const { token } = await createToken('presence')
    const stream = await open(token)
    await told(stream, 1)
    const countRings = (): number =>
      parse(stream.text()).filter(
        ({ event, data }) => event === 'presence' && data['agente_id'] === own.agentId,
      ).length
    const agent = await openStream(own.mtls)
    await waitUntil('the ring of an agent that came', () => countRings() === 1 || undefined)
    agent.close()
    await waitUntil('the ring of an agent that went', () => countRings() === 2 || undefined)
    stream.close()
  })

  test('[DOR-8] of one token there is room for twenty', async () => {
    const { token } = await createToken('many')
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(token)))
    assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]))
    const refused = await send(target(), {
      path: '/v1/admin/changes',
      headers: { authorization: `Bearer ${token}` },
    })
    assert.deepEqual([refused.status, refused.json['error']], [429, 'rate_limited'])
    assert.ok(refused.headers['retry-after'])
    streams[0]?.close()
    await waitUntil('room for another', async () => {
      const next = await open(token)
      next.close()
      return next.status === 200 ? true : undefined
    })
    for (const stream of streams) stream.close()
  })

  test('[DOR-1] without a token, or by HEAD, there is no stream', async () => {
    const { token } = await createToken('head')
    const path = '/v1/admin/changes'
    assert.equal((await send(target(), { path })).status, 401)
    const headers = { authorization: `Bearer ${token}` }
    const head = await send(target(), { method: 'HEAD', path, headers })
    assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream'])
  })

  /** The first `count` of them, once there are as many; not more either. */
  async function told(stream: StreamClient, count: number): Promise<Told[]> {
    const all = await waitUntil(`${count} messages`, () => {
      const messages = parse(stream.text())
      return messages.length >= count ? messages : undefined
    })
    assert.equal(all.length, count, stream.text())
    return all
  }

  async function seqs(stream: StreamClient, count: number): Promise<number[]> {
    const all = await waitUntil(`${count} entries`, () => {
      const entries = parse(stream.text()).filter(({ event }) => event === 'entry')
      return entries.length >= count ? entries : undefined
    })
    return all.map(({ data }) => Number(data['seq']))
  }
})

function parse(text: string): Told[] {
  return text
    .split('\n\n')
    .filter((part) => part !== '' && !part.startsWith(':'))
    .flatMap((part) => {
      const [, id, event = '', data] = /^(?:id: (.*)\n)?event: (.*)\ndata: (.*)$/.exec(part) ?? []
      return data === undefined ? [] : [{ event, id, data: JSON.parse(data) as Told['data'] }]
    })
}
