// What a hub does when its audit log is not the one that it acknowledged: docs/protocol.md CHN-9.

import assert from 'node:assert/strict'
import { copyFile, cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestHub } from '../support/hub.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { startTestHub } from '../support/test-hub.ts'
import { failToStart } from '../support/boot-here.ts'
import { runProgram } from '../support/processes.ts'
import { embeddedAlone } from '../support/test-store.ts'
import { useCa } from '../support/use-hub.ts'

const { ca } = useCa()

const LOST = embeddedAlone('the journal gives back what the database has lost')
const DATABASE_FILES = ['db.enc', 'db.enc-wal', 'db.enc-shm']

/** A stopped hub with a few entries, a copy of its database from before the last two, and one from after. */
async function startedAndStopped(): Promise<TestHub & { restoreOldDatabase(): Promise<void> }> {
  const hub = await startTestHub({ caEnvironment: ca.environment })
  const copy = join(hub.directory, 'old')
  for (const hostname of ['h1', 'h2', 'h3']) await hub.createToken({ hostname })
  await hub.stop()
  await mkdir(copy)
  await cp(hub.vaultRoot, copy, { recursive: true })
  await hub.start()
  for (const hostname of ['h4', 'h5']) await hub.createToken({ hostname })
  await hub.stop()
  return Object.assign(hub, {
    restoreOldDatabase: async () => {
      for (const name of DATABASE_FILES) await rm(join(hub.vaultRoot, name), { force: true })
      for (const name of await readdir(copy)) {
        if (!DATABASE_FILES.includes(name)) continue
        await copyFile(join(copy, name), join(hub.vaultRoot, name))
      }
    },
  })
}

describe('[CHN-9] the head of the audit log', () => {
  test(
    'stops a hub whose database was put back to an older one, and names what is missing',
    LOST,
    async () => {
      await using hub = await startedAndStopped()
      await hub.restoreOldDatabase()
      const ended = await runProgram('svc-server', [], hub.environment)
      assert.equal(ended.status, 1)
      assert.match(ended.stderr, /svc-server: error: .*first missing entry: 5/)
      assert.match(ended.stderr, /svc unseal --accept-loss/)
      const listed = await hub.svc('evento', 'list')
      assert.equal(listed.status, 1)
      assert.match(listed.stderr, /first missing entry: 5/)
    },
  )

  test('lets svc unseal --accept-loss go on, which is recorded', LOST, async () => {
    await using hub = await startedAndStopped()
    await hub.restoreOldDatabase()
    assert.equal((await hub.svc('unseal')).status, 1)
    const accepted = await hub.svc('unseal', '--accept-loss')
    assert.equal(accepted.status, 0, accepted.stderr)
    await hub.start()
    const { stdout, status } = await hub.svc('evento', 'list', '--verify', '--json')
    assert.equal(status, 0)
    const { eventos } = JSON.parse(stdout) as {
      eventos: { tipo_evento: string; payload: Record<string, unknown> }[]
    }
    const loss = eventos.find(({ tipo_evento: type }) => type === 'audit_loss_accepted')
    assert.equal(loss?.payload['first_missing'], 5)
  })

  test('is missed when it was removed from a vault that has entries', async () => {
    await using hub = await startedAndStopped()
    await rm(join(hub.vaultRoot, 'audit.head'))
    await assert.rejects(hub.start(), /first missing entry: 1/)
  })

  test('[VLT-9] leaves a damaged write-ahead log as it is when it refuses', LOST, async () => {
    await using hub = await startHubProcess({ caEnvironment: ca.environment })
    for (let count = 0; count < 12; count += 1) await hub.createToken({ hostname: `h${count}` })
    await hub.stop('SIGKILL')
    const files = ['db.enc', 'db.enc-wal'].map((name) => join(hub.vaultRoot, name))
    const wal = await readFile(files[1] ?? '')
    const middle = Math.floor(wal.length / 2)
    wal[middle] = (wal[middle] ?? 0) ^ 1
    await writeFile(files[1] ?? '', wal)
    const untouched = await Promise.all(files.map((path) => readFile(path)))
    const ended = await failToStart(hub.environment)
    assert.equal(ended.status, 1)
    assert.match(ended.stderr, /first missing entry: \d/)
    assert.deepEqual(await Promise.all(files.map((path) => readFile(path))), untouched)
  })

  test('shows a write-ahead log that lost its end', LOST, async () => {
    await using hub = await startHubProcess({ caEnvironment: ca.environment })
    for (const hostname of ['h1', 'h2', 'h3']) await hub.createToken({ hostname })
    await hub.stop('SIGKILL')
    await truncate(join(hub.vaultRoot, 'db.enc-wal'), 0)
    const ended = await failToStart(hub.environment)
    assert.equal(ended.status, 1)
    assert.match(ended.stderr, /first missing entry: 1/)
  })
})
