// What a request is done for: from svc, or from a host, through the hub to the call to the CA.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import type { LogEntry, TestHub } from '../support/hub.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { type ScriptedCa, startScriptedCa } from '../support/scripted-ca.ts'
import { startTestHub } from '../support/test-hub.ts'
import { send, type WireReply } from '../support/wire-client.ts'

const ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const TRACEPARENT = `00-${ID}-${SPAN}-01`

let ca: ScriptedCa
let hub: TestHub
let isCaBroken = false
before(async () => {
  ca = await startScriptedCa(() =>
    isCaBroken ? { kind: 'answer', status: 500, body: '{}' } : { kind: 'sign' },
  )
  hub = await startTestHub({ caEnvironment: ca.environment, environment: { RUST_LOG: 'debug' } })
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

async function enroll(hostname: string, headers: Record<string, string>): Promise<WireReply> {
  const token = await hub.createToken({ hostname })
  const { csrPem } = await createKeyAndCsr(hostname)
  return send(
    { port: hub.ports.enroll },
    {
      method: 'POST',
      path: '/v1/enroll',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ token, hostname, role: 'web', csr_pem: csrPem }),
    },
  )
}

/** What the CA was told with the newest call for a host. */
function toldCa(): { readonly traceId: string; readonly spanId: string; readonly flags: string } {
  const { headers } = ca.hostCalls().at(-1) ?? assert.fail('the CA was not asked')
  const traceparent = headers['traceparent']
  assert.ok(typeof traceparent === 'string')
  const [version, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  assert.equal(version, '00')
  assert.equal(headers['x-request-id'], traceId)
  return { traceId, spanId, flags }
}

const linesOf = (traceId: string): LogEntry[] =>
  hub.logEntries().filter(({ trace_id }) => trace_id === traceId)

describe('[LOG-10] a trace', () => {
  test('of a host’s request goes on to the CA, as a step of the hub’s own', async () => {
    assert.equal((await enroll('traced.example', { traceparent: TRACEPARENT })).status, 200)
    const { traceId, spanId, flags } = toldCa()
    assert.deepEqual([traceId, flags], [ID, '01'])
    assert.notEqual(spanId, SPAN)
    const answered = linesOf(ID).find(({ path }) => path === '/v1/enroll')
    assert.deepEqual([answered?.['span_id'], answered?.['status']], [spanId, 200])
  })

  for (const [what, headers] of [
    ['none', {}],
    ['one that is none', { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` }],
    ['one of a form that nobody has', { traceparent: 'x'.repeat(5000) }],
  ] as const) {
    test(`of a request that brings ${what} has the request’s id, which no line says twice`, async () => {
      const { headers: told } = await enroll(`${what.replaceAll(' ', '-')}.example`, headers)
      const requestId = String(told['x-request-id'])
      const { traceId, flags } = toldCa()
      assert.deepEqual([traceId, flags], [requestId.replaceAll('-', ''), '00'])
      const lines = hub.logEntries().filter(({ request_id }) => request_id === requestId)
      assert.ok(lines.length > 0)
      assert.ok(lines.every((line) => !('trace_id' in line)))
    })
  }

  test('is in the line that says that the CA failed, and in that of the refusal', async () => {
    isCaBroken = true
    const id = 'a'.repeat(32)
    const { status } = await enroll('unlucky.example', { traceparent: `00-${id}-${SPAN}-00` })
    isCaBroken = false
    assert.equal(status, 502)
    const lines = linesOf(id)
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['no certificate from the CA', 'Request refused'],
    )
  })

  test('of svc is that of TRACEPARENT, or a new one for each run', async () => {
    const svc = (variables: Record<string, string>, ...args: string[]) =>
      runSvcHere(args, { ...hub.environment, ...variables })
    const policy = ['policy', 'set', 'web', '--cert-ttl', '1h'] as const
    const id = 'b'.repeat(32)
    const set = await svc({ TRACEPARENT: `00-${id}-${SPAN}-01` }, ...policy)
    assert.equal(set.status, 0, set.stderr)
    // The hub tries at the CA whether it signs certificates of such a life.
    assert.deepEqual([toldCa().traceId, toldCa().flags], [id, '01'])
    assert.ok(linesOf(id).length > 0)

    const seen = new Set<string>()
    for (const variables of [{}, {}, { TRACEPARENT: 'nonsense' }]) {
      assert.equal((await svc(variables, 'agent', 'list')).status, 0)
      const line = hub.logEntries().findLast(({ path }) => path === '/v1/admin/agentes')
      assert.match(String(line?.['trace_id']), /^[0-9a-f]{32}$/)
      seen.add(String(line?.['trace_id']))
    }
    assert.equal(seen.size, 3)
  })

  test('stays with its request: what the hub does by itself has none', async () => {
    assert.ok(hub.logEntries().some(({ module }) => module === 'hub.ca'))
    const withTrace = hub.logEntries().filter((line) => 'trace_id' in line)
    const modules = new Set(withTrace.map(({ module }) => module))
    assert.deepEqual(modules, new Set(['hub.admin', 'hub.ca', 'hub.enroll']))
  })
})
