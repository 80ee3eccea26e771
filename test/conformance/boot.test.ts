// A start of the hub: docs/protocol.md BOOT, and what of VLT shows then.

import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { type HubProcess, startHubProcess as startProcess } from '../support/hub-process.ts'
import { PASSPHRASE, type TestHub, WITH_ADMIN_PORT, WITH_ENROLL_TLS } from '../support/hub.ts'
import { runTool, startProgram, waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'
import { embeddedAlone } from '../support/test-store.ts'

const { ca, startHub, startHubProcess } = useCa()

/** Whose vault is that of `svc init`. */
const startInitialised = (): Promise<HubProcess> =>
  startProcess({ caEnvironment: ca.environment, isInitialisedBySvc: true })

const messagesOf = (hub: TestHub): unknown[] => hub.logEntries().map(({ msg }) => msg)
const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8)

const BOOT_LINES = [
  'starting',
  'vault lock acquired',
  'vault unsealed',
  'schema verified',
  'CA client ready',
  'server certificate created',
  'health listening',
  'enroll listening',
  'mtls listening',
  'enroll TLS listening',
  'admin listening',
]

const OWN_LINES = embeddedAlone('a hub that shares a journal also says which leases it takes')

describe('a start', () => {
  test(
    '[BOOT-1] [BOOT-2] [BOOT-3] [BOOT-4] [BOOT-5] [BOOT-6] [BOOT-7] [BOOT-8] [BOOT-9] [BOOT-20] [BOOT-31] logs these lines in this order',
    OWN_LINES,
    async () => {
      await using hub = await startHubProcess({ ...WITH_ADMIN_PORT, ...WITH_ENROLL_TLS })
      assert.deepEqual(messagesOf(hub), BOOT_LINES)
      const entries = hub.logEntries()
      assert.equal(entries[0]?.['vault'], hub.vaultRoot)
      assert.equal(hub.logText().match(/starting/g)?.length, 1)
      for (const [index, name] of (
        ['health', 'enroll', 'mtls', 'enrollTls', 'admin'] as const
      ).entries()) {
        const { address, port } = entries[6 + index] ?? {}
        assert.deepEqual([address, port], [`127.0.0.1:${hub.ports[name]}`, hub.ports[name]])
      }
      await hub.stop()
      await hub.start()
      const again = BOOT_LINES.with(5, 'server certificate reused')
      assert.deepEqual(messagesOf(hub), again)
    },
  )

  test('[BOOT-16] has admin.sock open before the first listening line', async () => {
    await using hub = await startHubProcess()
    await hub.stop()
    const running = startProgram('svc-server', [], hub.environment)
    const isListening = (): true | undefined => running.stderr().includes('listening') || undefined
    await waitUntil('the first listening line', isListening)
    assert.deepEqual(await hub.admin('GET', '/v1/admin/tokens'), { tokens: [], next: null })
    running.kill('SIGTERM')
    assert.equal((await running.ended).status, 0)
  })

  test('[VLT-1] leaves these files with these modes', async () => {
    await using hub = await startInitialised()
    assert.equal(await modeOf(hub.vaultRoot), '700')
    const files = { 'vault.lock': '600', 'server.key': '600', 'admin.sock': '600', 'db.enc': '600' }
    for (const [name, mode] of Object.entries(files)) {
      assert.deepEqual([name, await modeOf(join(hub.vaultRoot, name))], [name, mode])
    }
    const names = await readdir(hub.vaultRoot)
    for (const name of ['config.json', 'server.crt', 'ca.crt']) assert.ok(names.includes(name))
    await hub.stop()
    assert.ok(!(await readdir(hub.vaultRoot)).includes('admin.sock'))
  })

  test('[VLT-2] [VLT-4] leaves no plaintext of the database on disk', async () => {
    await using hub = await startHub()
    await enrollHost(hub, 'plaintext-canary.example')
    const look = async (): Promise<void> => {
      for (const name of await readdir(hub.vaultRoot)) {
        assert.notEqual(name, 'db.plain')
        const path = join(hub.vaultRoot, name)
        if (!(await stat(path)).isFile()) continue
        const content = await readFile(path)
        assert.ok(!content.includes('plaintext-canary'), name)
        assert.ok(!content.includes('SQLite format 3'), name)
      }
    }
    await look()
    await hub.stop()
    await look()
  })

  test('[VLT-3] config.json names Argon2id with 64 MiB, 3 passes and 4 lanes', async () => {
    await using hub = await startInitialised()
    const text = await readFile(join(hub.vaultRoot, 'config.json'), 'utf8')
    const config = JSON.parse(text) as { key_derivation: Record<string, unknown> }
    const { algorithm, memory_kib, passes, parallelism } = config.key_derivation
    assert.deepEqual([algorithm, memory_kib, passes, parallelism], ['argon2id', 65_536, 3, 4])
    assert.ok(!text.includes(PASSPHRASE))
  })

  test('[VLT-8] flock(1) cannot take the lock while the hub runs, and can once it was killed', async () => {
    await using hub = await startHubProcess()
    const flock = ['-n', join(hub.vaultRoot, 'vault.lock'), 'true']
    await assert.rejects(runTool('flock', flock))
    await hub.stop('SIGKILL')
    await runTool('flock', flock)
    await hub.start()
  })

  test('[VLT-14] has core dumps off', async () => {
    await using hub = await startHubProcess()
    const limits = await readFile(`/proc/${hub.pid}/limits`, 'utf8')
    assert.match(limits, /Max core file size +0 /)
  })

  test('[VLT-13] in another directory starts from that vault, and leaves the old one where it is', async () => {
    await using hub = await startHub()
    await enrollHost(hub, 'stays.example')
    await hub.stop()
    await using other = await startHub()
    const { agentes } = await other.admin<{ agentes: object[] }>('GET', '/v1/admin/agentes')
    assert.deepEqual(agentes, [])
    await hub.start()
    const old = await hub.admin<{ agentes: object[] }>('GET', '/v1/admin/agentes')
    assert.equal(old.agentes.length, 1)
  })
})
