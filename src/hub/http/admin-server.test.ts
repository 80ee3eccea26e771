import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { createGate } from '../../../test/support/scripted-ca.ts'
import { SvcError } from '../../platform/errors.ts'
import { AdminRefusal } from '../service/admin-act.ts'
import { createLogging } from '../../platform/logger.ts'
import { openSocketPath } from '../../platform/unix-socket.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import { NO_BACKUPS } from '../../../test/support/no-backups.ts'
import { NO_CHANGES } from '../../../test/support/no-changes.ts'
import { startAdminServer } from './admin-server.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

interface Reply {
  readonly status: number | undefined
  readonly body: Readonly<Record<string, unknown>>
}

interface Setting {
  readonly socketPath: string
  readonly logged: string[]
  readonly send: (method: string, path: string, body?: string) => Promise<Reply>
}

/** Only the operations that a test names exist; calling another one is a bug, as any TypeError is. */
async function withServer(
  operations: Partial<AdminOperations>,
  work: (setting: Setting) => Promise<void>,
  directoryName = 'vault',
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), directoryName))
  const socketPath = join(root, 'admin.sock')
  const logged: string[] = []
  const logging = createLogging({
    filter: { levelOf: () => 'info' },
    format: 'json',
    destination: { write: (line) => void logged.push(line) },
  })
  await writeFile(socketPath, 'left by a dead hub')
  const server = await startAdminServer({
    socketPath,
    performOperation: (name, request) =>
      (operations[name] as (asked: object) => Promise<object>)(request),
    backups: NO_BACKUPS,
    changes: NO_CHANGES,
    logging,
  })
  try {
    const send = (method: string, path: string, body = '') =>
      sendRequest(socketPath, method, path, body)
    await work({ socketPath, logged, send })
  } finally {
    await server.close()
    assert.deepEqual(await readdir(root), [], 'nothing is left after the close')
    await rm(root, { recursive: true })
  }
}

async function sendRequest(
  socketPath: string,
  method: string,
  path: string,
  body: string,
): Promise<Reply> {
  const address = openSocketPath(socketPath)
  try {
    const outgoing = httpRequest({
      socketPath: address.path,
      method,
      path,
      agent: false,
      headers: JSON_TYPE,
    })
    outgoing.end(body)
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const text = Buffer.concat((await response.toArray()) as Buffer[]).toString()
    return { status: response.statusCode, body: JSON.parse(text) as Reply['body'] }
  } finally {
    address.release()
  }
}

describe('startAdminServer', () => {
  test('replaces what a dead hub left and lets only its owner in', () =>
    withServer({}, async ({ socketPath }) => {
      const stats = await stat(socketPath)
      assert.ok(stats.isSocket())
      assert.equal(stats.mode & 0o777, 0o600)
    }))

  test('listens where no socket address reaches', () =>
    withServer(
      { listCargoes: async () => ({ cargas: [], next: null }) },
      async ({ send }) => {
        assert.deepEqual(await send('GET', '/v1/admin/cargas'), {
          status: 200,
          body: { cargas: [], next: null },
        })
      },
      'v'.repeat(120),
    ))

  test('[LIM-81] agents come between who asks, what is done, and the reply', async () => {
    let turn = 0
    let isOver = false
    const count = (): void => {
      turn += 1
      if (!isOver) setImmediate(count)
    }
    count()
    const turns: number[] = []
    const reply = {
      cargas: [],
      next: null,
      toJSON() {
        turns.push(turn)
        return { cargas: [], next: null }
      },
    }
    const listCargoes = async (): Promise<typeof reply> => {
      turns.push(turn)
      return reply
    }
    await withServer({ listCargoes }, async ({ send }) => {
      assert.equal((await send('GET', '/v1/admin/cargas')).status, 200)
    })
    isOver = true
    const [done = 0, told = 0] = turns
    assert.ok(told > done, `done in turn ${done}, told in turn ${told}`)
  })

  test('follows no link that stands in the place of its staging directory', () =>
    withServer({}, async ({ socketPath }) => {
      const outside = await mkdtemp(join(tmpdir(), 'outside'))
      await writeFile(join(outside, 'precious'), '')
      await symlink(outside, `${socketPath}.new`)
      const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
      const second = await startAdminServer({
        socketPath,
        performOperation: () => Promise.resolve({}),
        backups: NO_BACKUPS,
        changes: NO_CHANGES,
        logging,
      })
      await second.close()
      assert.deepEqual(await readdir(outside), ['precious'])
      await rm(outside, { recursive: true })
    }))

  test('hands the checked request to its operation', () =>
    withServer(
      {
        showAgent: async (request) => ({
          ...agentNamed(request.agente),
          recipient_fingerprint: null,
          politicas: [],
          entregas: [],
          certificados: [],
          roots: null,
          refusals: null,
        }),
      },
      async ({ send }) => {
        const reply = await send('POST', '/v1/admin/agentes/show', '{"agente":"web-1"}')
        assert.equal(reply.status, 200)
        assert.equal(reply.body['hostname'], 'web-1')
      },
    ))

  const show = '/v1/admin/agentes/show'
  for (const [name, method, path, body, status, error] of [
    ['a route that is not there', 'GET', '/v1/admin/nothing', '', 404, 'route_not_found'],
    ['another method', 'DELETE', show, '', 405, 'method_not_allowed'],
    ['a body that is not JSON', 'POST', show, '{', 400, 'json_invalid'],
    ['a missing field', 'POST', show, '{}', 400, 'request_invalid'],
    ['no body', 'POST', show, '', 400, 'json_invalid'],
    ['a wrong type', 'POST', show, '{"agente":5}', 400, 'request_invalid'],
    ['an empty name', 'POST', show, '{"agente":""}', 400, 'request_invalid'],
  ] as const) {
    test(`refuses ${name} as ${error}`, () =>
      withServer({}, async ({ send }) => {
        const reply = await send(method, path, body)
        assert.equal(reply.status, status)
        assert.equal(reply.body['error'], error)
        assert.equal(typeof reply.body['message'], 'string')
      }))
  }

  for (const [path, mib] of [
    [show, 1],
    ['/v1/admin/cargas', 16],
  ] as const) {
    test(`[LIM-22] refuses a body over ${mib} MiB of ${path} as body_too_large before it has come`, () =>
      withServer({}, async ({ socketPath }) => {
        const socket = connect(socketPath)
        const headers = `Host: hub\r\nContent-Type: application/json\r\nContent-Length: ${mib * 1024 * 1024 + 1}`
        socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n`)
        const [answer] = (await once(socket, 'data')) as [Buffer]
        socket.destroy()
        assert.match(answer.toString(), /^HTTP\/1\.1 413 [^]*"error":"body_too_large","message":"/)
      }))
  }

  for (const [name, error, expected] of [
    [
      'what is not there as 404',
      new AdminRefusal('agent_not_found', 'no agent web-9', { hostname: 'web-9' }),
      {
        status: 404,
        body: {
          error: 'agent_not_found',
          message: 'no agent web-9',
          details: { hostname: 'web-9' },
        },
      },
    ],
    [
      'a failure as 503',
      new SvcError('store_unavailable', 'the disk is full'),
      { status: 503, body: { error: 'store_unavailable', message: 'the disk is full' } },
    ],
  ] as const) {
    test(`answers ${name}`, () =>
      withServer({ listAgents: () => Promise.reject(error) }, async ({ send }) => {
        assert.deepEqual(await send('GET', '/v1/admin/agentes'), expected)
      }))
  }

  test('[BOOT-18] a close cuts idle connections at once, and finishes what is under way', async () => {
    const asked = createGate()
    const allowed = createGate()
    const listCargoes: AdminOperations['listCargoes'] = async () => {
      asked.open()
      await allowed.opened
      return { cargas: [], next: null }
    }
    const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: hub\r\n\r\n`
    let answered: Promise<string> | undefined
    await withServer(
      { listCargoes, listTokens: async () => ({ tokens: [], next: null }) },
      async ({ socketPath }) => {
        const open = async (bytes: string): Promise<Socket> => {
          const socket = connect(socketPath).on('error', () => undefined)
          await once(socket, 'connect')
          socket.write(bytes)
          return socket
        }
        const used = await open(requestFor('/v1/admin/tokens'))
        await once(used, 'data')
        const idle = [used, await open(''), await open('GET /v1/admin/tok')]
        const busy = await open(requestFor('/v1/admin/cargas'))
        answered = textOf(busy)
        await asked.opened
        const cut = Promise.all(idle.map((socket) => once(socket.resume(), 'close')))
        // What is under way ends only after the others were cut, and its connection with it.
        void cut.then(() => allowed.open())
      },
    )
    assert.match((await answered) ?? '', /^HTTP\/1\.1 200 [^]*\{"cargas":\[\],"next":null\}$/)
  })

  test('tells the log of a bug, and the caller nothing', () =>
    withServer(
      { listAgents: () => Promise.reject(new TypeError('secret detail')) },
      async ({ send, logged }) => {
        const reply = await send('GET', '/v1/admin/agentes')
        assert.equal(reply.status, 500)
        assert.equal(reply.body['error'], 'internal_error')
        assert.doesNotMatch(JSON.stringify(reply.body), /secret detail/)
        assert.match(logged.join(''), /secret detail/)
      },
    ))

  test('says where it cannot listen', async () => {
    const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
    const socketPath = '/nonexistent/admin.sock'
    const performOperation = () => Promise.resolve({})
    const options = {
      socketPath,
      performOperation,
      backups: NO_BACKUPS,
      changes: NO_CHANGES,
      logging,
    }
    await assert.rejects(startAdminServer(options), {
      code: 'admin_socket_failed',
      message: /^cannot listen on \/nonexistent\/admin\.sock: ENOENT/,
    })
  })
})

function agentNamed(hostname: string) {
  return {
    id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11',
    hostname,
    role: 'web',
    labels: [],
    last_seen_at: null,
    last_poll_at: null,
    revoked_at: null,
    created_at: '2026-11-20T10:00:00.000Z',
    cert_serial: null,
    cert_not_after: null,
    ca_revocations_waiting: 0,
    ca_revocations_refused: 0,
    ca_revocation_reason: null,
    atrasado: false,
    atrasado_since: null,
    duplicado: null,
    agent_version: '0.5.0',
    platform: 'linux-x64',
    addresses: ['192.0.2.17', '2001:db8::17'],
    first_seen_at: '2026-11-20T09:00:00.000Z',
    last_contact_at: '2026-11-21T09:59:30.000Z',
    online_since: null,
  }
}
