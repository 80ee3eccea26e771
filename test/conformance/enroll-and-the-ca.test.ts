// What happens to an enrolment when the CA fails, is slow, answers nonsense, or is asked by many at once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CaBehaviour, SignCall } from '../fakes/ca-server.ts'
import { readEvents } from '../support/audit-log.ts'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import type { TestHub, TestHubOptions } from '../support/hub.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { startTestCa, startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { createGate, startScriptedCa } from '../support/scripted-ca.ts'
import { assertOk, assertRefused, post, type WireReply } from '../support/wire-client.ts'

async function goodRequest(hub: TestHub, hostname: string): Promise<Record<string, string>> {
  const token = await hub.createToken({ hostname })
  const { csrPem } = await createKeyAndCsr(hostname)
  return { token, hostname, role: 'web', csr_pem: csrPem }
}

const enroll = (hub: TestHub, body: object): Promise<WireReply> =>
  post({ port: hub.ports.enroll }, '/v1/enroll', body)

interface ScriptedHub<Hub extends TestHub> extends AsyncDisposable {
  readonly hub: Hub
  readonly calls: () => readonly SignCall[]
}

function startScripted(script: (call: SignCall) => CaBehaviour): Promise<ScriptedHub<TestHub>> {
  return startWith(script, startTestHub)
}

async function startWith<Hub extends TestHub>(
  script: (call: SignCall) => CaBehaviour,
  startHub: (options: TestHubOptions) => Promise<Hub>,
): Promise<ScriptedHub<Hub>> {
  const ca = await startScriptedCa(script)
  const hub = await startHub({ caEnvironment: ca.environment })
  return {
    hub,
    calls: () => ca.hostCalls(),
    [Symbol.asyncDispose]: async () => {
      await hub[Symbol.asyncDispose]()
      await ca[Symbol.asyncDispose]()
    },
  }
}

describe('a CA that fails', () => {
  test('[ENR-10] [ENR-12] [ERR-10] 502 ca_failed consumes nothing, and the token works when the CA is back', async () => {
    await using ca = await startTestCa()
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const request = await goodRequest(hub, 'patient.example')
    await ca.stop()
    assertRefused(await enroll(hub, request), 502, 'ca_failed')
    assertRefused(await enroll(hub, request), 502, 'ca_failed')
    const { agentes } = await hub.admin<{ agentes: object[] }>('GET', '/v1/admin/agentes')
    assert.deepEqual(agentes, [])
    const types = (await readEvents(hub)).map(({ tipo_evento }) => tipo_evento)
    assert.ok(!types.includes('agent_enrolled') && !types.includes('certificate_issued'))
    const failures = hub.logEntries().filter(({ reason }) => reason === 'unreachable')
    assert.ok(failures.length > 0, 'the log does not say that the CA was unreachable')
    await ca.start()
    assertOk(await enroll(hub, request))
  })

  test('[ENR-13] a CSR for another host is refused by the CA, which the log tells from an outage', async () => {
    await using ca = await startTestCa()
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const request = await goodRequest(hub, 'honest.example')
    const { csrPem } = await createKeyAndCsr('victim.example')
    assertRefused(await enroll(hub, { ...request, csr_pem: csrPem }), 502, 'ca_failed')
    const reasons = hub.logEntries().map(({ reason }) => reason)
    assert.ok(reasons.includes('refused') && !reasons.includes('unreachable'))
    assertOk(await enroll(hub, request))
  })

  test('[ENR-10] what the CA signed is checked: 502 ca_failed for anything else', async () => {
    const faults = ['other_key', 'other_common_name', 'extra_san', 'expired', 'other_root', 'is_ca']
    let behaviour: CaBehaviour = { kind: 'sign' }
    await using scripted = await startScripted(() => behaviour)
    const { hub } = scripted
    const request = await goodRequest(hub, 'checked.example')
    for (const fault of faults) {
      behaviour = { kind: 'wrong_certificate', fault: fault as 'other_key' }
      const reply = await enroll(hub, request)
      assert.deepEqual([fault, reply.text], [fault, '{"error":"ca_failed"}'])
    }
    for (const body of ['', 'no JSON', '{}', '{"crt":1}', 'null']) {
      behaviour = { kind: 'answer', status: 201, body }
      assertRefused(await enroll(hub, request), 502, 'ca_failed')
    }
    for (const status of [200, 401, 403, 500, 503]) {
      behaviour = { kind: 'answer', status, body: '{"status":1,"message":"no"}' }
      assertRefused(await enroll(hub, request), 502, 'ca_failed')
    }
    behaviour = { kind: 'cut' }
    assertRefused(await enroll(hub, request), 502, 'ca_failed')
    behaviour = { kind: 'sign' }
    assertOk(await enroll(hub, request))
  })
})

describe('concurrent uses of one token', () => {
  test('[ENR-14] of 64 exactly one succeeds, 63 are token_consumed, and the CA is called once', async () => {
    await using scripted = await startScripted(() => ({ kind: 'sign' }))
    const { hub, calls } = scripted
    const request = await goodRequest(hub, 'herd.example')
    const replies = await Promise.all(Array.from({ length: 64 }, () => enroll(hub, request)))
    const won = replies.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    for (const reply of replies) {
      if (reply.status !== 200) assertRefused(reply, 401, 'token_consumed')
    }
    assert.equal(calls().length, 1)
    assert.equal((await readEvents(hub, 'agent_enrolled')).length, 1)
    assert.equal((await readEvents(hub, 'certificate_issued')).length, 1)
  })

  test('[ENR-14] with a different CSR each, still one succeeds and the CA is called once', async () => {
    await using scripted = await startScripted(() => ({ kind: 'sign' }))
    const { hub, calls } = scripted
    const request = await goodRequest(hub, 'rivals.example')
    const rivals = Array.from({ length: 8 }, async () => {
      const { csrPem } = await createKeyAndCsr('rivals.example')
      return enroll(hub, { ...request, csr_pem: csrPem })
    })
    const statuses = (await Promise.all(rivals)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.equal(statuses.filter((status) => status === 401).length, 7)
    assert.equal(calls().length, 1)
  })

  test('[ENR-14] [ENR-12] those that wait share the 502, and the token is still good', async () => {
    const gate = createGate()
    let isDown = true
    const script = (): CaBehaviour =>
      isDown
        ? { kind: 'answer', status: 500, body: '{}' }
        : { kind: 'sign_after', released: gate.opened }
    await using scripted = await startScripted(script)
    const { hub, calls } = scripted
    const request = await goodRequest(hub, 'shared.example')
    const replies = await Promise.all(Array.from({ length: 16 }, () => enroll(hub, request)))
    for (const reply of replies) assertRefused(reply, 502, 'ca_failed')
    isDown = false
    const callsBefore = calls().length
    const late = Promise.all(Array.from({ length: 16 }, () => enroll(hub, request)))
    await waitUntil('the CA to be called', () => (calls().length > callsBefore ? true : undefined))
    gate.open()
    const statuses = (await late).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.equal(statuses.filter((status) => status === 401).length, 15)
    assert.equal(calls().length, callsBefore + 1)
  })
})

describe('a hub that dies', () => {
  test('[ENR-15] [EVD-16] between the signature and the commit leaves the token unused and no agent', async () => {
    const gate = createGate()
    let isFirst = true
    const script = (): CaBehaviour => {
      if (!isFirst) return { kind: 'sign' }
      isFirst = false
      return { kind: 'sign_after', released: gate.opened }
    }
    await using scripted = await startWith(script, startHubProcess)
    const { hub, calls } = scripted
    const request = await goodRequest(hub, 'orphan.example')
    const lost = assert.rejects(enroll(hub, request))
    await waitUntil('the CA to be called', () => (calls().length > 0 ? true : undefined))
    await hub.stop('SIGKILL')
    gate.open()
    await lost
    await hub.start()
    const { agentes } = await hub.admin<{ agentes: object[] }>('GET', '/v1/admin/agentes')
    assert.deepEqual(agentes, [])
    const [lostAnswer, ...others] = await readEvents(hub, 'certificate_answer_lost')
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(lostAnswer?.payload, {
      hostname: 'orphan.example',
      request: 'enrollment',
      reason: 'not_recorded',
    })
    assertOk(await enroll(hub, request))
    assert.equal((await readEvents(hub, 'certificate_answer_lost')).length, 1)
    const own = await readEvents(hub, 'server_certificate_issued')
    assert.equal(own.length, 1, 'the certificate is still good, and recorded once')
  })
})
