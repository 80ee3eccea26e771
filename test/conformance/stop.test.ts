// Stopping the hub: docs/protocol.md BOOT-18.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { startTestCa, startTestHub, type TestHub } from '../support/hub.ts'
import { createGate, startScriptedCa } from '../support/scripted-ca.ts'
import { waitUntil } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { connect } from '../support/wire-client.ts'

let ca: RunningCa

before(async () => {
  ca = await startTestCa()
})
after(async () => {
  await ca?.[Symbol.asyncDispose]()
})

const startHub = (environment: Record<string, string> = {}): Promise<TestHub> =>
  startTestHub({ caEnvironment: ca.environment, environment })

describe('a stop', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`[BOOT-18] ${signal} ends it with exit status 0, with idle connections open`, async () => {
      await using hub = await startHub()
      const host = await enrollHost(hub, 'stops.example')
      const idle = await connect(host.mtls)
      const silent = await connect({ port: hub.ports.enroll })
      for (const socket of [idle, silent]) socket.on('error', () => undefined)
      const ended = await hub.stop(signal)
      assert.deepEqual([ended.status, ended.signal, ended.stdout], [0, null, ''])
      for (const socket of [idle, silent]) socket.destroy()
    })
  }

  test('[BOOT-18] [ERR-26] finishes what is under way, and accepts nothing new', async () => {
    const gate = createGate()
    await using fake = await startScriptedCa(() => ({ kind: 'sign_after', released: gate.opened }))
    await using hub = await startTestHub({ caEnvironment: fake.environment })
    const enrolled = enrollHost(hub, 'last.example')
    await waitUntil('the CA to be called', () => (fake.hostCalls().length > 0 ? true : undefined))
    const kept = await connect({ port: hub.ports.enroll })
    const stopped = hub.stop()
    await waitUntil('the port to be closed', async () => {
      try {
        const socket = await connect({ port: hub.ports.enroll })
        socket.destroy()
        return undefined
      } catch {
        return true
      }
    })
    kept.destroy()
    gate.open()
    assert.ok((await enrolled).agentId)
    assert.equal((await stopped).status, 0)
    await hub.start()
    const { agentes } = await hub.admin<{ agentes: object[] }>('GET', '/v1/admin/agentes')
    assert.equal(agentes.length, 1)
  })
})
