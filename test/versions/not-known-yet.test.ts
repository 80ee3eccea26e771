// What a released version does not know: routes that it answers 404, fields that it passes over, kinds of deliveries that
// it leaves alone.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost, eventually, manifestEntry } from '../support/agent-host.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import { createKeyAndCsr, readIdentity, withIdentity } from '../support/enrolled-host.ts'
import { parseLog } from '../support/hub.ts'
import { type RunningProgram, startProgram } from '../support/processes.ts'
import { assertOk, assertRefused, post, send } from '../support/wire-client.ts'
import { isBefore, startHubOf } from './pairings.ts'
import { ensureReleasedVersions, type ReleasedVersion } from './released-versions.ts'

/** With the version that they came with; those of no version yet stand for all that is to come. */
const ROUTES = [
  { method: 'PUT', path: '/v1/recipient', since: '0.2.0' },
  { method: 'GET', path: '/v1/blobs/11111111-1111-4111-8111-111111111111', since: '0.2.0' },
  { method: 'GET', path: '/v1/stream', since: '0.3.0' },
  { method: 'GET', path: '/v1/bundle', since: '0.4.0' },
  { method: 'POST', path: '/v1/de-amanha', since: '999.0.0' },
]
const KINDS = [
  { kind: 'selado', since: '0.2.0' },
  { kind: 'push', since: '0.3.0' },
  { kind: 'de_amanha', since: '999.0.0' },
]
const RECIPIENT = `age1pq1${'q'.repeat(1952)}`

for (const released of await ensureReleasedVersions()) {
  const { version, skip } = released
  describe(`version ${version}`, { skip }, () => {
    test('[VER-7] as a hub takes an enrolment with fields of a later version, and has no route of one', () =>
      askHub(released))

    test('[VER-7] as an agent passes over kinds, fields and statuses of a later version, and does the rest', () =>
      showAgent(released))
  })
}

async function askHub({ version, programs }: ReleasedVersion): Promise<void> {
  await using ca = await startDevCaProcess()
  await using hub = await startHubOf(ca, programs)
  const hostname = 'of-tomorrow'
  const token = await hub.createToken({ hostname })
  const { keyPem, csrPem } = await createKeyAndCsr(hostname)
  const request = { token, hostname, role: 'web', csr_pem: csrPem }
  const more = { recipient: RECIPIENT, de_amanha: { a: [1] } }
  const enrolled = await post({ port: hub.ports.enroll }, '/v1/enroll', { ...request, ...more })
  assertOk(enrolled)
  const identity = readIdentity(enrolled, keyPem)
  const mtls = withIdentity(hub, identity, { servername: 'localhost' })
  for (const { method, path, since } of ROUTES) {
    if (!isBefore(version, since)) continue
    const body = method === 'GET' ? undefined : '{}'
    const headers = { 'content-type': 'application/json' }
    const reply = await send(mtls, { method, path, ...(body && { body, headers }) })
    assertRefused(reply, 404, 'route_not_found')
  }
  const event = { tipo_evento: 'de_amanha', payload: { a: 1 }, de_amanha: true }
  assertOk(await post(mtls, '/v1/events', event))
}

async function showAgent({ version, programs }: ReleasedVersion): Promise<void> {
  await using hub = await FakeHub.start()
  await using host = await AgentHost.create(hub)
  await host.enroll()
  const unknown = KINDS.filter(({ since }) => isBefore(version, since)).map(({ kind }) => kind)
  hub.entregas = [
    ...unknown.map((kind) => manifestEntry({ tipo: kind, nome: kind })),
    { ...manifestEntry(), modo: '0644', de_amanha: {} } as ReturnType<typeof manifestEntry>,
  ]
  hub.atualizacao = { versao: '999.0.0', rollout: '0123456789abcdef' }
  const environment = { ...host.env, SVC_AGENT_POLL_INTERVAL: '200ms' }
  const agent = startProgram(join(programs, 'svc-agent'), ['run'], environment)
  try {
    await eventually('the delivery that it knows', () =>
      hub.eventTypes().includes('entrega_instalada'),
    )
    const polls = hub.requestsTo('manifest').length
    await eventually('more rounds', () => hub.requestsTo('manifest').length > polls + 2)
    assert.equal(agent.hasEnded(), false)
    assert.deepEqual(warningsOf(agent), unknown)
    // Nothing is said of those, and nothing written.
    assert.deepEqual(
      hub.entregas.map(({ tipo }) => tipo),
      unknown,
    )
    const files = (await readdir(host.paths.outDir)).filter((name) => !name.startsWith('.'))
    assert.deepEqual(files.sort(), ['site.crt', 'site.key'])
  } finally {
    agent.kill('SIGKILL')
    await agent.ended
  }
}

/** The kinds that it warned of, once each; any other warning would be one too many. */
function warningsOf(agent: RunningProgram): unknown[] {
  const text = agent.stderr()
  return parseLog(text.slice(0, text.lastIndexOf('\n') + 1))
    .filter(({ level }) => level !== 'info' && level !== 'debug')
    .map(({ kind, msg }) => kind ?? msg)
}
