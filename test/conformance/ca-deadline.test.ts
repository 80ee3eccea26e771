// A CA that takes every call and never answers: docs/protocol.md CAX-8, at its real length.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import { startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { startScriptedCa } from '../support/scripted-ca.ts'
import { assertOk, assertRefused, post, send } from '../support/wire-client.ts'

const SECOND_MS = 1000

test('[CAX-8] [ERR-10] [ENR-12] 502 ca_failed after 10 s without an answer of the CA, and /health answers all the time', async () => {
  let isSilent = true
  await using ca = await startScriptedCa(() => ({ kind: isSilent ? 'silence' : 'sign' }))
  await using hub = await startTestHub({ caEnvironment: ca.environment })
  const hostname = 'silence.example'
  const token = await hub.createToken({ hostname })
  const { csrPem } = await createKeyAndCsr(hostname)
  const body = { token, hostname, role: 'web', csr_pem: csrPem }

  const startMs = Date.now()
  let isWaiting = true
  const refused = post({ port: hub.ports.enroll }, '/v1/enroll', body).finally(() => {
    isWaiting = false
  })
  let slowestMs = 0
  await waitUntil('the hub to give up', async () => {
    const askedMs = Date.now()
    assertOk(await send({ port: hub.ports.health }, { path: '/health' }))
    slowestMs = Math.max(slowestMs, Date.now() - askedMs)
    return isWaiting ? undefined : true
  })
  const tookMs = Date.now() - startMs
  assertRefused(await refused, 502, 'ca_failed')
  assert.ok(tookMs >= 9.9 * SECOND_MS && tookMs < 11 * SECOND_MS, `it took ${tookMs} ms`)
  assert.ok(slowestMs < 2 * SECOND_MS, `/health took ${slowestMs} ms`)
  assert.equal(ca.hostCalls().length, 1, 'silence is no connection error: it is not asked again')
  const reasons = hub.logEntries().map(({ reason }) => reason)
  assert.ok(reasons.includes('timeout'), 'the log does not say that it was a timeout')

  isSilent = false
  assertOk(await post({ port: hub.ports.enroll }, '/v1/enroll', body))
})
