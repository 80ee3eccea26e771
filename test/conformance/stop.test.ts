// Stopping the hub: docs/protocol.md BOOT-18.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTo } from 'node:net'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { createGate, startScriptedCa } from '../support/scripted-ca.ts'
import { isBuiltTested, waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'
import { WITH_ADMIN_PORT } from '../support/hub.ts'
import { openStream } from '../support/stream-client.ts'
import { createTestHub } from '../support/test-hub.ts'
import { connect } from '../support/wire-client.ts'

const { ca } = useCa()

/** All doors that a hub has. */
const EVERYTHING = { ...WITH_ADMIN_PORT, SVC_METRICS_BIND: '127.0.0.1:0' }

const KINDS = ['PipeWrap', 'TCPServerWrap', 'TCPSocketWrap', 'TLSWrap', 'Timeout']
/** What would keep this process from ending. */
const countOpen = (): number =>
  process.getActiveResourcesInfo().filter((kind) => KINDS.includes(kind)).length

async function findOpenFilesIn(directory: string): Promise<string[]> {
  const names = await readdir('/proc/self/fd')
  const paths = names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''))
  return (await Promise.all(paths)).filter((path) => path.startsWith(directory))
}

describe('a stop', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`[BOOT-18] ${signal} ends it with exit status 0, with idle connections open`, async () => {
      await using hub = await startHubProcess({ caEnvironment: ca.environment })
      const host = await enrollHost(hub, 'stops.example')
      const idle = await connect(host.mtls)
      const silent = await connect({ port: hub.ports.enroll })
      const admin = connectTo(join(hub.vaultRoot, 'admin.sock'))
      await once(admin, 'connect')
      for (const socket of [idle, silent, admin]) socket.on('error', () => undefined)
      const stoppedMs = Date.now()
      const ended = await hub.stop(signal)
      assert.deepEqual([ended.status, ended.signal, ended.stdout], [0, null, ''])
      // Ten seconds are for what is under way.
      assert.ok(Date.now() - stoppedMs < 8000, `it took ${Date.now() - stoppedMs} ms`)
      for (const socket of [idle, silent, admin]) socket.destroy()
    })
  }

  test('[BOOT-18] [ERR-26] finishes what is under way, and accepts nothing new', async () => {
    const gate = createGate()
    await using fake = await startScriptedCa(() => ({ kind: 'sign_after', released: gate.opened }))
    await using hub = await startHubProcess({ caEnvironment: fake.environment })
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

  const skip = isBuiltTested() && 'the hub is a process then'
  test(
    '[BOOT-18] leaves no port, connection, timer or file of the vault open',
    { skip },
    async () => {
      await using hub = await createTestHub({
        caEnvironment: ca.environment,
        environment: EVERYTHING,
      })
      const before = countOpen()
      await hub.start()
      const host = await enrollHost(hub, 'leaves.example')
      const stream = await openStream(host.mtls)
      await stream.next()
      assert.ok(countOpen() >= before + 6, 'its six doors are seen')
      assert.ok((await findOpenFilesIn(hub.vaultRoot)).length > 0, 'its files are seen')
      await hub.stop()
      await waitUntil('as little to be open as before', () => countOpen() <= before || undefined)
      assert.deepEqual(await findOpenFilesIn(hub.vaultRoot), [])
    },
  )
})
