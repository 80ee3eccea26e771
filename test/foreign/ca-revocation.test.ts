// The real step-ca after an agent was revoked: it renews the identity no more, and its CRL says why.

import 'reflect-metadata'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { X509Crl } from '@peculiar/x509'
import { Agent, request } from 'undici'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import type { AdminAgent } from '../../src/protocol/admin/views.ts'
import { enrollHost, type Identity } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { startStepCa } from '../support/step-ca.ts'
import { WITH_STEP_CA } from './with-step-ca.ts'

/** As `step ca renew` does: with the certificate itself, past the hub. */
async function renewAtCa(ca: RunningCa, { certPem, keyPem }: Identity): Promise<number> {
  const rootPem = await readFile(ca.rootPath, 'utf8')
  const dispatcher = new Agent({
    connect: { ca: rootPem, cert: certPem, key: keyPem },
    allowH2: false,
  })
  try {
    const reply = await request(`${ca.url}/1.0/renew`, { method: 'POST', dispatcher })
    await reply.body.dump()
    return reply.statusCode
  } finally {
    await dispatcher.destroy()
  }
}

async function readCrl(ca: RunningCa): Promise<X509Crl> {
  const dispatcher = new Agent({
    connect: { ca: await readFile(ca.rootPath, 'utf8') },
    allowH2: false,
  })
  try {
    const reply = await request(`${ca.url}/1.0/crl`, { dispatcher })
    assert.equal(reply.statusCode, 200)
    return new X509Crl(await reply.body.arrayBuffer())
  } finally {
    await dispatcher.destroy()
  }
}

async function revokeAndWait(hub: TestHub, hostname: string): Promise<AdminAgent> {
  const revoked = await hub.svc('agente', 'revoke', hostname)
  assert.equal(revoked.status, 0, revoked.stderr)
  return waitUntil('no revocation to wait', async () => {
    const shown = await hub.svc('agente', 'show', hostname, '--json')
    const agent = JSON.parse(shown.stdout) as AdminAgent
    return agent.ca_revocations_waiting === 0 ? agent : undefined
  })
}

describe('step-ca', WITH_STEP_CA, () => {
  test('[REV-1] [REV-3] renews no identity of a revoked agent, and has it in its CRL', async () => {
    await using ca = await startStepCa({ hasCrl: true })
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const stolen = await enrollHost(hub, 'stolen.example')
    const honest = await enrollHost(hub, 'honest.example')
    assert.equal(await renewAtCa(ca, stolen), 201, 'before, the CA knows nothing of the hub’s mind')
    const agent = await revokeAndWait(hub, 'stolen.example')
    assert.equal(agent.ca_revocations_refused, 0)
    assert.equal(await renewAtCa(ca, stolen), 401)
    assert.equal(await renewAtCa(ca, honest), 201)
    const serial = BigInt(`0x${parseCertificatesPem(stolen.certPem)[0]?.serial}`)
    const listed = (await readCrl(ca)).entries.map((entry) => BigInt(`0x${entry.serialNumber}`))
    assert.deepEqual(listed, [serial])
  })

  test('[REV-5] without a database refuses, and is not asked for ever', async () => {
    await using ca = await startStepCa({ hasDatabase: false })
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    await enrollHost(hub, 'web-1.example')
    const agent = await revokeAndWait(hub, 'web-1.example')
    assert.equal(agent.ca_revocations_refused, 1)
    assert.match(String(agent.ca_revocation_reason), /revoke \(501\)/)
  })
})
