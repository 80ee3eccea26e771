// Backup and restore beside a real hub, and without one: docs/protocol.md BKP.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Readable } from 'node:stream'
import { openBackup } from '../../src/backup/open-backup.ts'
import type { TestHub } from '../support/hub.ts'
import { pathOfProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { EMBEDDED } from '../support/test-store.ts'
import { useHub } from '../support/use-hub.ts'

interface Told {
  readonly backup_id: string
  readonly entries: number
  readonly head: string
}

interface Listed {
  readonly eventos: readonly { readonly tipo_evento: string; readonly payload: object }[]
}

const { hub } = useHub()

async function backUp(to: TestHub, name: string): Promise<{ file: string; told: Told }> {
  const file = join(to.directory, name)
  const { status, stdout, stderr } = await to.svc('backup', file, '--json')
  assert.equal(status, 0, stderr)
  return { file, told: JSON.parse(stdout) as Told }
}

async function requestBackup(vaultRoot: string): Promise<IncomingMessage> {
  const asked = request({
    socketPath: join(vaultRoot, 'admin.sock'),
    method: 'POST',
    path: '/v1/admin/backup',
    headers: { 'content-type': 'application/json' },
    agent: false,
  })
  asked.end('{}')
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return response
}

/** Of each thread. */
async function readNiceness(pid: number): Promise<number[]> {
  const threads = `/proc/${pid}/task`
  const niceness: number[] = []
  for (const thread of await readdir(threads)) {
    const fields = (await readFile(join(threads, thread, 'stat'), 'utf8')).split(') ')[1] ?? ''
    // proc(5): the 19th, of which the name in brackets is the second.
    niceness.push(Number(fields.split(' ')[16]))
  }
  return niceness
}

describe('a backup beside a hub', () => {
  test('[BKP-1] [BKP-8] has everything that was acknowledged before it, and makes the vault again', async () => {
    let number = 0
    const ended = new AbortController()
    const acknowledged: string[] = []
    const writing = (async () => {
      while (!ended.signal.aborted) {
        const hostname = `h${(number += 1)}.example.org`
        await hub.createToken({ hostname })
        acknowledged.push(hostname)
      }
    })()
    await waitUntil('tokens', () => acknowledged.length >= 20 || undefined)
    const before = [...acknowledged]
    const { file, told } = await backUp(hub, 'first')
    ended.abort()
    await writing
    assert.equal((await stat(file)).mode & 0o777, 0o600)

    const verified = await hub.svc('backup', 'verify', file, '--json')
    assert.equal(verified.status, 0, verified.stderr)
    const { ok, entries, head } = JSON.parse(verified.stdout) as Told & { ok: boolean }
    assert.deepEqual({ ok, entries, head }, { ok: true, entries: told.entries, head: told.head })

    const root = join(hub.directory, 'restored')
    const restored = { ...hub.environment, ...EMBEDDED, SVC_VAULT_ROOT: root }
    const made = await runSvcHere(['restore', file, '--json'], restored)
    assert.equal(made.status, 0, made.stderr)
    assert.match(
      made.stderr,
      /^svc: the vault may lack revocations that are newer than the backup: SVC_CHECKPOINT_PATH is not set\nsvc: before you start the hub, revoke again who was revoked after /,
    )
    const checked = await runSvcHere(['unseal'], restored)
    assert.equal(checked.status, 0, checked.stderr)
    const listed = await runSvcHere(['evento', 'list', '--json'], restored)
    const { eventos } = JSON.parse(listed.stdout) as Listed
    assert.equal(eventos.length, told.entries + 1)
    assert.equal(eventos.at(-1)?.tipo_evento, 'vault_restored')
    for (const hostname of before) assert.ok(listed.stdout.includes(`"${hostname}"`), hostname)
  })

  test('[BKP-4] [BKP-6] is in the log before its first byte', async () => {
    const response = await requestBackup(hub.vaultRoot)
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'application/octet-stream')
    const { stdout } = await hub.svc('evento', 'list', '--tipo', 'backup_started', '--json')
    const pieces: Buffer[] = []
    for await (const piece of response) pieces.push(piece as Buffer)
    const bytes = Buffer.concat(pieces)
    assert.equal(bytes.length, Number(response.headers['content-length']))
    const { head } = await openBackup(Readable.from([bytes]), 'the answer')
    const { eventos } = JSON.parse(stdout) as Listed
    assert.deepEqual(eventos.at(-1)?.payload, { actor: 'admin', backup_id: head.backupId })
  })

  test('[BKP-5] is refused while another one is made; one that nobody reads any more ends', async () => {
    // Larger than what the system keeps for a socket.
    for (let count = 0; count < 400; count += 1) {
      await hub.createToken({ hostname: `more-${count}.${'a'.repeat(40)}.example.org` })
    }
    const response = await requestBackup(hub.vaultRoot)
    response.pause()
    const second = await hub.svc('backup', join(hub.directory, 'second'))
    assert.match(second.stderr, /^svc: error: another backup is being made\n/)
    assert.ok(!(await readdir(hub.directory)).includes('second'))
    response.destroy()
    await waitUntil(
      'the hub to notice',
      () => hub.logText().includes('"msg":"Backup not finished"') || undefined,
    )
    await backUp(hub, 'third')
  })

  test('[BKP-10] gives way to the hub, with all threads', async () => {
    const svc = spawn(pathOfProgram('svc'), ['backup', '-'], {
      env: { ...process.env, ...hub.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // Its vault is larger than the pipe that nobody reads.
    await once(svc.stdout, 'readable')
    await waitUntil('niceness', async () => {
      const niceness = await readNiceness(svc.pid ?? 0)
      return (niceness.length > 1 && niceness.every((each) => each === 10)) || undefined
    })
    svc.stdout.resume()
    assert.deepEqual(await once(svc, 'close'), [0, null])
  })

  test('[BKP-10] replaces no file, and is not for a terminal or for JSON', async () => {
    const file = join(hub.directory, 'taken')
    await writeFile(file, 'precious')
    const refused = await hub.svc('backup', file)
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /taken exists already\nsvc: hint: .*--replace/)
    assert.equal(await readFile(file, 'utf8'), 'precious')
    assert.equal((await hub.svc('backup', file, '--replace')).status, 0)
    assert.equal((await hub.svc('backup', 'verify', file)).status, 0)
    assert.match((await hub.svc('backup', '-', '--json')).stderr, /exclude each other/)
  })

  test('[BKP-8] is not restored over the vault of the hub', async () => {
    const { file } = await backUp(hub, 'fourth')
    const before = await readFile(join(hub.vaultRoot, 'config.json'))
    const refused = await hub.svc('restore', file)
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /^svc: error: there is a vault at .*\nsvc: hint: stop the hub/)
    assert.deepEqual(await readFile(join(hub.vaultRoot, 'config.json')), before)
  })
})

test('[BKP-7] svc names the file of a backup that it cannot open', async () => {
  const verify = (file: string) => hub.svc('backup', 'verify', file)
  assert.match(
    (await verify('/nonexistent/b')).stderr,
    /cannot read \/nonexistent\/b: no such file/,
  )
  const { file } = await backUp(hub, 'fifth')
  const cut = join(hub.directory, 'cut')
  await writeFile(cut, (await readFile(file)).subarray(0, -1))
  assert.match(
    (await verify(cut)).stderr,
    /^svc: error: .*\/cut ends early: it has \d+ of \d+ bytes/,
  )
  const wrong = { ...hub.environment, SVC_MASTER_PASSPHRASE: 'another passphrase' }
  const ended = await runSvcHere(['backup', 'verify', file], wrong)
  assert.match(ended.stderr, /^svc: error: unwrap DEK — wrong passphrase\?/)
})

test('[BKP-1] [CLI-95] a backup without a hub is made from the vault itself', async () => {
  await hub.stop()
  const { file, told } = await backUp(hub, 'sixth')
  const { stdout, status } = await hub.svc('backup', 'verify', file, '--json')
  assert.equal(status, 0)
  assert.equal((JSON.parse(stdout) as Told).backup_id, told.backup_id)
  await hub.start()
})
