import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SvcError, UserError } from '../../platform/errors.ts'
import { connectToHub } from './socket-client.ts'

async function withSocketPath(work: (socketPath: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-socket-'))
  try {
    await work(join(directory, 'admin.sock'))
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** What listing the agents does when the hub answers so. */
async function listAgainst(listener: RequestListener): Promise<unknown> {
  let outcome: unknown
  await withSocketPath(async (socketPath) => {
    const server = createServer(listener)
    await once(server.listen(socketPath), 'listening')
    try {
      const session = await connectToHub(socketPath)
      assert.ok(session !== undefined)
      outcome = await session.operations.listAgents({}).catch((error: unknown) => error)
    } finally {
      server.close()
    }
  })
  return outcome
}

function answering(status: number, body: string): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body)
  }
}

describe('connectToHub', () => {
  test('finds nobody where no socket is', () =>
    withSocketPath(async (socketPath) => {
      assert.equal(await connectToHub(socketPath), undefined)
    }))

  test('[CLI-18] finds nobody behind the socket of a dead hub', () =>
    withSocketPath(async (socketPath) => {
      const server = createServer()
      await once(server.listen(`${socketPath}.live`), 'listening')
      // A server removes the name that it bound; under another one the socket outlives it.
      await rename(`${socketPath}.live`, socketPath)
      server.close()
      await once(server, 'close')
      assert.equal(await connectToHub(socketPath), undefined)
    }))

  test('asks for an operation by its route and method', async () => {
    const outcome = await listAgainst((request, response) => {
      assert.equal(`${request.method} ${request.url}`, 'GET /v1/admin/agentes')
      response.end('{"agentes":[]}')
    })
    assert.deepEqual(outcome, { agentes: [] })
  })

  for (const [name, status, body, isUserError, code] of [
    ['a refusal', 400, '{"error":"x","message":"m","hint":"h"}', true, 'x'],
    ['a failure', 503, '{"error":"y","message":"m"}', false, 'y'],
    ['a reply that is not JSON', 200, '<html>', false, 'reply_invalid'],
  ] as const) {
    test(`turns ${name} back into its error`, async () => {
      const error = await listAgainst(answering(status, body))
      assert.ok(error instanceof SvcError)
      assert.equal(error instanceof UserError, isUserError)
      assert.equal(error.code, code)
      if (status === 400) assert.equal(`${error.message} ${error.hint}`, 'm h')
    })
  }

  test('says so when the hub dies in the middle', async () => {
    const error = await listAgainst((request) => request.socket.destroy())
    assert.ok(error instanceof SvcError)
    assert.equal(error.code, 'hub_unreachable')
    assert.match(error.message, /^the connection to the hub at .* broke: /)
  })
})
