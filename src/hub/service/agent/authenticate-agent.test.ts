import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { PeerCertificate } from 'node:tls'
import { pino } from 'pino'
import { Secret } from '../../../platform/secret.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { createDatabase } from '../../store/sqlite/encrypted-database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import {
  createAuthenticateAgent,
  presentCertificate,
  type PresentedCertificate,
} from './authenticate-agent.ts'
import { newAgent } from '../../../../test/store/store-samples.ts'

const AGENT_ID = '11111111-1111-4111-8111-111111111111' as AgentId
const START = new Date('2030-01-01T00:00:00.000Z')
const END = new Date('2030-02-01T00:00:00.000Z')

let directory: string
let store: Store
let now = START
const clock = { now: () => now, sleep: () => Promise.resolve() }
const pass = (seconds: number): void => {
  now = new Date(now.getTime() + seconds * 1000)
}
const presented = (digit: string): PresentedCertificate => ({
  commonName: 'web-1',
  sha256: digit.repeat(64),
  serial: digit,
  notBefore: START,
  notAfter: END,
})

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'authenticate-'))
  const dataKey = new Secret(randomBytes(32))
  const path = join(directory, 'db.enc')
  await createDatabase(path, dataKey)
  store = await openSqliteStore({ path, dataKey })
  await store.write(async (writer) => {
    await writer.insertAgent({ ...newAgent('web-1'), id: AGENT_ID, createdAt: START })
    for (const digit of ['1', '2']) {
      await writer.insertCertificate({
        sha256: digit.repeat(64),
        serial: digit,
        agentId: AGENT_ID,
        purpose: 'identity',
        deliveryId: null,
        rootSha256: null,
        notBefore: START,
        notAfter: END,
      })
    }
  })
})
after(async () => {
  await store?.close()
  await rm(directory, { recursive: true, force: true })
})

test('[AUT-7] [AUT-8] [AUT-9] [CHN-7] [ERR-15] a clone that goes on with the old identity is refused after a minute, and shows up', async () => {
  const log = pino({ level: 'silent' })
  const authenticate = createAuthenticateAgent({ store, clock, log, identityMatch: 'identity' })
  const outcomeOf = async (digit: string): Promise<string> => {
    const outcome = await authenticate(presented(digit))
    return outcome.ok ? 'ok' : outcome.refusal
  }
  const reports = async (): Promise<unknown[]> => {
    const eventType = 'certificate_superseded_used'
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: 10, eventType })
    return entries.map(({ payloadText }) => (JSON.parse(payloadText) as { serial: string }).serial)
  }
  assert.equal(await outcomeOf('1'), 'ok')
  pass(3600)
  assert.equal(await outcomeOf('1'), 'ok')
  assert.equal(await outcomeOf('2'), 'ok')
  pass(60)
  assert.equal(await outcomeOf('1'), 'ok')
  assert.deepEqual(await reports(), [])
  pass(1)
  assert.equal(await outcomeOf('1'), 'certificate_superseded')
  assert.equal(await outcomeOf('2'), 'ok')
  assert.deepEqual(await reports(), ['1'])
  assert.equal(await outcomeOf('1'), 'certificate_superseded')
  assert.deepEqual(await reports(), ['1'], 'the log does not grow with every request')
  now = END
  assert.equal(await outcomeOf('2'), 'certificate_expired')
})

test('[AUT-3] [AUT-10] an agent that is revoked while its newer identity is used for the first time is refused', async () => {
  const log = pino({ level: 'silent' })
  const authenticate = createAuthenticateAgent({ store, clock, log, identityMatch: 'identity' })
  now = START
  const digit = '3'
  await store.write((writer) =>
    writer.insertCertificate({
      sha256: digit.repeat(64),
      serial: digit,
      agentId: AGENT_ID,
      purpose: 'identity',
      deliveryId: null,
      rootSha256: null,
      notBefore: START,
      notAfter: END,
    }),
  )
  // Queued before the request comes, committed after it has read.
  const revoked = store.write(async (writer) => {
    const agent = await writer.findAgentById(AGENT_ID)
    assert.ok(agent)
    await writer.updateAgent({ ...agent, revokedAt: now })
    await writer.revokeCertificates(AGENT_ID, now)
  })
  const outcome = authenticate(presented(digit))
  await revoked
  assert.deepEqual(await outcome, { ok: false, refusal: 'agent_revoked', agentId: AGENT_ID })
  const certificate = await store.reader.findCertificate(digit.repeat(64))
  assert.equal(certificate?.firstUsedAt, null)
})

test('[AUT-3] a connection that was served is refused after the revocation of its agent, and only then', async () => {
  const log = pino({ level: 'silent' })
  const authenticate = createAuthenticateAgent({ store, clock, log, identityMatch: 'identity' })
  const id = '22222222-2222-4222-8222-222222222222' as AgentId
  const shown = { ...presented('4'), commonName: 'web-2' }
  const agent = { ...newAgent('web-2'), id, createdAt: START }
  now = START
  assert.deepEqual(await authenticate(shown), { ok: false, refusal: 'agent_not_registered' })
  await store.write((writer) => writer.insertAgent(agent))
  const unknown = { ok: false, refusal: 'agent_not_registered', agentId: id }
  assert.deepEqual(await authenticate(shown), unknown)
  await store.write((writer) =>
    writer.insertCertificate({
      sha256: '4'.repeat(64),
      serial: '4',
      agentId: id,
      purpose: 'identity',
      deliveryId: null,
      rootSha256: null,
      notBefore: START,
      notAfter: END,
    }),
  )
  const first = await authenticate(shown)
  assert.equal(first.ok, true)
  const known = await authenticate(shown)
  await store.write((writer) => writer.setAgentCertificate(AGENT_ID, 'of another agent'))
  const again = await authenticate(shown)
  assert.ok(known.ok && again.ok)
  assert.equal(again.agent, known.agent)
  await store.write((writer) => writer.updateAgent({ ...agent, revokedAt: now }))
  assert.deepEqual(await authenticate(shown), { ok: false, refusal: 'agent_revoked', agentId: id })
  await store.write((writer) => writer.updateAgent({ ...agent, revokedAt: now, removedAt: now }))
  assert.deepEqual(await authenticate(shown), { ok: false, refusal: 'agent_not_registered' })
})

describe('what is presented', () => {
  // As Node's tls has it, of `openssl req -x509 -subj ...`.
  const peer = (subject: object): PeerCertificate =>
    ({
      subject,
      fingerprint256: '63:C8:7D:BF:9F',
      serialNumber: '702B0746AAE6',
      valid_from: 'Nov  3 06:43:20 2026 GMT',
      valid_to: 'Nov  4 06:43:20 2026 GMT',
    }) as PeerCertificate

  test('[AUT-2] is a name, a hash, a serial and the two ends of its life, as the store has them', () => {
    assert.deepEqual(presentCertificate(peer({ O: 'Acme', CN: 'web-1' })), {
      commonName: 'web-1',
      sha256: '63c87dbf9f',
      serial: '702b0746aae6',
      notBefore: new Date('2026-11-03T06:43:20Z'),
      notAfter: new Date('2026-11-04T06:43:20Z'),
    })
  })

  test('[AUT-2] has no name when the subject has none, or several', () => {
    assert.equal(presentCertificate(peer({})).commonName, undefined)
    assert.equal(presentCertificate(peer({ CN: ['web-1', 'web-2'] })).commonName, undefined)
  })
})
