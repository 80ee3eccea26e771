// Requests to the admin port that no honest operator sends, by one who may do everything. FUZZ_SEED repeats a run.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { ADMIN_OPERATIONS } from '../../src/protocol/admin/operations.ts'
import { createDelivery } from '../support/deliveries.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT } from '../support/hub.ts'
import { useHub } from '../support/use-hub.ts'
import { send, type Target, type WireReply } from '../support/wire-client.ts'
import { seedFrom } from '../simulation/seeded-random.ts'
import { hostileJson, hostileText, hostileValue } from './hostile-values.ts'

const REQUESTS = 2000
const CONCURRENCY = 16
const STATUSES: ReadonlySet<number> = new Set([200, 400, 404, 405, 409, 412, 413, 415])

const seed = seedFrom(process.env['FUZZ_SEED'])

const { ca, hub } = useHub(undefined, WITH_ADMIN_PORT)

interface HostileRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

function hostileRequest(known: readonly string[]): fc.Arbitrary<HostileRequest> {
  // It would end the token by which all are asked.
  const { revokeOwnToken: _own, ...operations } = ADMIN_OPERATIONS
  const operation = fc.constantFrom(...Object.values(operations))
  const value = fc.oneof(
    fc.constantFrom(...known),
    hostileValue,
    fc.array(hostileValue, { maxLength: 3 }),
  )
  const body = operation.chain(({ request }) => {
    const fields = Object.keys(request.properties)
    const field = fields.length === 0 ? fc.constant('extra') : fc.constantFrom(...fields)
    const shaped = fc.dictionary(field, value, { maxKeys: 6, noNullPrototype: true })
    return fc.oneof(
      { weight: 6, arbitrary: shaped.map((object) => JSON.stringify(object)) },
      { weight: 1, arbitrary: hostileJson },
    )
  })
  // What a header cannot hold is the business of the other fuzz test.
  const headerText = hostileText.map((text) => text.replaceAll(/[^ -~]/g, '').slice(0, 400))
  const headers = fc.record(
    {
      'if-match': fc.oneof(
        fc.constantFrom('"1"', '*', 'W/"1"', '"1", "2"', '"99999999999"'),
        headerText,
      ),
      'idempotency-key': fc.oneof(fc.uuid(), fc.constant('k'.repeat(16)), headerText),
      'content-type': fc.constantFrom('application/json', 'application/json', 'text/plain'),
    },
    { requiredKeys: [] },
  )
  const query = fc
    .dictionary(fc.constantFrom('after', 'limit', '__proto__'), headerText, {
      maxKeys: 3,
      noNullPrototype: true,
    })
    .map((fields) => new URLSearchParams(fields).toString())
  return fc
    .tuple(operation, body, headers, query, fc.boolean())
    .map(([{ method, path }, content, given, search, isBare]) => ({
      method,
      path: isBare ? path : `${path}?${search}`,
      headers: { 'content-type': 'application/json', ...given },
      body: content,
    }))
}

function findFault({ status, json, headers }: WireReply): string | undefined {
  if (headers['x-request-id'] === undefined) return 'no X-Request-Id'
  if (!STATUSES.has(status)) return `status ${status}`
  if (status === 200) return undefined
  const { error, message } = json
  return typeof error === 'string' && typeof message === 'string' ? undefined : 'no error'
}

test(`[API-14] [SRF-14] ${REQUESTS} hostile requests to the admin port are answered as documented`, async (context) => {
  const host = await enrollHost(hub, 'fuzz.example')
  const delivery = await createDelivery(hub, host.hostname, 'site')
  const { token } = await hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', {
    name: 'fuzz',
    role: 'admin',
  })
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  const target: Target = {
    port: hub.ports.admin ?? 0,
    tls: { ca: await readFile(ca.rootPath, 'utf8'), servername: HUB_NAME },
  }
  // Its own token is not among them: it would revoke it.
  const known = [
    host.hostname,
    host.agentId,
    delivery.id,
    'site',
    'web',
    'csr_cert',
    'viewer',
    'new.example',
  ]
  const requests = fc.sample(hostileRequest(known), { numRuns: REQUESTS, seed })
  const faults: string[] = []
  const counts = new Map<number, number>()
  let next = 0
  const work = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const { method, path, headers, body } = request
      const authorization = `Bearer ${token}`
      const reply = await send(target, {
        method,
        path,
        agent,
        headers: { ...headers, authorization },
        ...(method === 'GET' ? {} : { body }),
      })
      counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1)
      const fault = findFault(reply)
      if (fault !== undefined)
        faults.push(`${fault}: ${JSON.stringify(request)}: ${reply.text.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  agent.destroy()
  context.diagnostic(`FUZZ_SEED=${seed}: ${JSON.stringify(Object.fromEntries(counts))}`)
  assert.deepEqual(faults, [], `FUZZ_SEED=${seed}`)
  assert.deepEqual(
    hub.logEntries().filter(({ level }) => level === 'error' || level === 'fatal'),
    [],
    `FUZZ_SEED=${seed}`,
  )
  const { status, stdout } = await hub.svc('evento', 'list', '--verify', '--limit', '1')
  assert.equal(status, 0, stdout)
})
