// Sealing beside a hub that lies, and by root: docs/protocol.md SEA.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fingerprintOf, recipientOf } from '../../src/sealing/age-identity.ts'
import { openSealed } from '../../src/sealing/sealed-file.ts'
import { waitUntil } from '../support/processes.ts'
import { type FakeHub, startFakeHub } from './fake-hub.ts'
import { IDENTITIES } from './fake-sealed-operations.ts'
import { type Outcome, runInShell, runInShellHere } from './run-in-shell.ts'
import { withDirectory } from './with-directory.ts'

const SVC = fileURLToPath(new URL('../../bin/svc', import.meta.url))
const HOST = await recipientOf(IDENTITIES.host)
const [HOST_PRINT, REBUILT_PRINT] = [HOST, await recipientOf(IDENTITIES.rebuilt)].map(fingerprintOf)
const CREATE = 'svc carga create --tipo selado --nome db --agente web-1.example.org'
const CARGA = '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22'
const UPDATE = `svc carga update ${CARGA}`
/** Nobody, who has no files. */
const OTHER_ID = 65_534
const skip = process.geteuid?.() === 0 ? false : 'only root can be somebody else'

interface Fixture {
  readonly hub: FakeHub
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly secret: Buffer
  readonly secretFile: string
  readonly run: (command: string) => Promise<Outcome>
}

async function withHub(work: (fixture: Fixture) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const hub = await startFakeHub(join(directory, 'vault'), 'passphrase', [])
    const env = {
      SVC_VAULT_ROOT: join(directory, 'vault'),
      SVC_RECIPIENTS_FILE: join(directory, 'known', 'recipients.json'),
    }
    const secret = Buffer.from(randomBytes(300).toString('base64'))
    const secretFile = join(directory, 'secret')
    await writeFile(secretFile, secret, { mode: 0o600 })
    const run = (command: string): Promise<Outcome> => runInShellHere(command, env)
    try {
      await work({ hub, directory, env, secret, secretFile, run })
    } finally {
      await hub.close()
    }
  })
}

function assertDone({ stderr, exitStatus }: Outcome): void {
  assert.deepEqual([stderr, exitStatus], ['', 0])
}

describe('svc that seals', { concurrency: true }, () => {
  test('[SEA-1] [SEA-2] hands the hub what the host opens, and no byte of it in the clear', () =>
    withHub(async ({ hub, run, secret, secretFile }) => {
      assertDone(await run(`${CREATE} --file ${secretFile} --recipient ${HOST}`))
      const [received] = hub.sealed.received
      assert.ok(received)
      const file = Buffer.from(received.conteudo, 'base64')
      assert.equal(file.includes(secret.subarray(0, 16)), false)
      const opened = await openSealed(IDENTITIES.host, file)
      assert.ok(opened.ok)
      assert.deepEqual(Buffer.from(opened.content), secret)
      assert.deepEqual((await openSealed(IDENTITIES.rebuilt, file)).ok, false)
    }))

  test('[SEA-4] [SEA-9] shows a recipient that has changed, and seals for it when it is accepted', () =>
    withHub(async ({ hub, run, secret, secretFile }) => {
      assertDone(await run(`${CREATE} --file ${secretFile} --accept-recipient ${HOST_PRINT}`))
      hub.sealed.identity = 'rebuilt'
      const shown = await run(`${UPDATE} --file ${secretFile}`)
      assert.equal(
        shown.stderr,
        `svc: error: the recipient of web-1.example.org has changed: ${REBUILT_PRINT}, it was ${HOST_PRINT}
svc: hint: compare with svc-agent identity on the host, then repeat with --accept-recipient ${REBUILT_PRINT}
`,
      )
      assert.equal(hub.sealed.received.length, 1)
      const reseal = UPDATE.replace('update', 'reseal')
      const again = `${reseal} --file ${secretFile}`
      assertDone(await run(`${again} --accept-recipient ${REBUILT_PRINT}`))
      assertDone(await run(again))
      const newest = Buffer.from(hub.sealed.received.at(-1)?.conteudo ?? '', 'base64')
      const opened = await openSealed(IDENTITIES.rebuilt, newest)
      assert.ok(opened.ok)
      assert.deepEqual(Buffer.from(opened.content), secret)
    }))

  test('[SEA-12] seals nothing anew that it has not sealed for this carga, unless it is accepted', () =>
    withHub(async ({ hub, directory, run, secretFile }) => {
      const key = join(directory, 'escrow.key')
      await writeFile(key, IDENTITIES.escrow, { mode: 0o600 })
      const escrow = await recipientOf(IDENTITIES.escrow)
      const create = `${CREATE} --file ${secretFile} --recipient ${HOST} --escrow ${escrow}`
      assertDone(await run(create))
      assertDone(await run(`${CREATE} --file ${secretFile} --escrow ${escrow}`))
      const [first, second] = hub.sealed.received
      const [own, other] = [first, second].map((selado) =>
        hash('sha256', Buffer.from(selado?.conteudo ?? '', 'base64')),
      )
      const reseal = `${UPDATE.replace('update', 'reseal')} --escrow-identity ${key}`
      hub.sealed.substitute = second
      const swapped = await run(reseal)
      assert.equal(
        swapped.stderr,
        `svc: error: what the hub hands out for load ${CARGA} is not what this machine sealed for it: version 2 with SHA-256 ${other}, it was version 1 with ${own}
svc: hint: if somebody else has updated it, compare with their recipients.json, then repeat with --accept-content ${other}
`,
      )
      const elsewhere = `SVC_RECIPIENTS_FILE=${join(directory, 'others')} ${reseal} --recipient ${HOST}`
      const unknown = await run(elsewhere)
      assert.equal(
        unknown.stderr,
        `svc: error: this machine has not sealed load ${CARGA}: the hub hands out version 2 with SHA-256 ${other}
svc: hint: compare with the recipients.json of the person who sealed it, then repeat with --accept-content ${other}
`,
      )
      const wrong = await run(`${elsewhere} --accept-content ${own}`)
      assert.match(
        wrong.stderr,
        /^svc: error: the hub hands out version 2 with SHA-256 [0-9a-f]{64}, not /,
      )
      assert.equal(hub.sealed.received.length, 2)
      assertDone(await run(`${elsewhere} --accept-content ${other}`))
      hub.sealed.substitute = first
      assertDone(await run(reseal))
      hub.sealed.substitute = undefined
      assertDone(await run(reseal))
      assert.equal(hub.sealed.received.length, 5)
    }))

  test('[SEA-12] takes no carga for a new one that it has sealed before', () =>
    withHub(async ({ hub, run, secretFile }) => {
      assertDone(await run(`${CREATE} --file ${secretFile} --recipient ${HOST}`))
      hub.sealed.received.length = 0
      const { stderr } = await run(`${CREATE} --file ${secretFile}`)
      assert.match(
        stderr,
        /^svc: error: the hub gives a new load the id of one that this machine sealed before: /,
      )
    }))

  test('[SEA-13] leaves an update alone that came while it sealed the content of before', () =>
    withHub(async ({ hub, directory, run, secretFile }) => {
      const key = join(directory, 'escrow.key')
      await writeFile(key, IDENTITIES.escrow, { mode: 0o600 })
      const escrow = await recipientOf(IDENTITIES.escrow)
      assertDone(await run(`${CREATE} --file ${secretFile} --recipient ${HOST} --escrow ${escrow}`))
      hub.sealed.whenRead = async () => {
        hub.sealed.whenRead = () => Promise.resolve()
        assertDone(await run(`${UPDATE} --file ${secretFile}`))
      }
      const reseal = `${UPDATE.replace('update', 'reseal')} --escrow-identity ${key}`
      assert.match((await run(reseal)).stderr, /^svc: error: another versao\n/)
      assert.equal(hub.sealed.received.length, 2)
    }))

  test('[SEA-3] seals for nobody whom the operator did not name', () =>
    withHub(async ({ hub, run, secretFile }) => {
      hub.sealed.unasked = [{ id: 'another', hostname: 'evil.example.org', role: 'evil' }]
      const { stderr } = await run(`${CREATE} --file ${secretFile} --recipient ${HOST}`)
      assert.match(
        stderr,
        /^svc: error: the hub names agent evil\.example\.org, which this command does not name\n/,
      )
      assert.deepEqual(hub.sealed.received, [])
    }))

  test('[SEA-5] says so when it cannot remember, after what it did', () =>
    withHub(async ({ hub, directory, env, secretFile }) => {
      await mkdir(join(directory, 'known'))
      await mkdir(join(directory, 'known', 'recipients.json.lock'))
      const outcome = await runInShell(`${CREATE} --file ${secretFile} --recipient ${HOST}`, env)
      assert.match(outcome.stdout, /^load [0-9a-f-]{36} created, sealed for 1 agent\n/)
      assert.match(
        outcome.stderr,
        /^svc: error: it is done, but svc could not note its recipients in /,
      )
      assert.match(outcome.stderr, /\nsvc: hint: accept the new recipients again/)
      assert.equal(outcome.exitStatus, 1)
      assert.equal(hub.sealed.received.length, 1)
    }))

  test(
    '[SEA-7] reads and remembers with root’s rights what the vault’s owner has no business with',
    { skip },
    () =>
      withHub(async ({ hub, directory, env, secret, secretFile }) => {
        const run = (command: string): Promise<Outcome> => runInShell(command, env)
        await chmod(directory, 0o755)
        const vault = env['SVC_VAULT_ROOT'] ?? ''
        for (const name of await readdir(vault)) await chown(join(vault, name), OTHER_ID, OTHER_ID)
        await chown(vault, OTHER_ID, OTHER_ID)
        const key = join(directory, 'escrow.key')
        await writeFile(key, IDENTITIES.escrow, { mode: 0o600 })
        const escrow = await recipientOf(IDENTITIES.escrow)
        const recipients = `--recipient ${HOST} --escrow ${escrow}`
        assertDone(await run(`${CREATE} --file ${secretFile} ${recipients}`))
        const reseal = UPDATE.replace('update', 'reseal')
        assertDone(await run(`${reseal} --escrow-identity ${key}`))
        const opened = await openSealed(
          IDENTITIES.host,
          Buffer.from(hub.sealed.received.at(-1)?.conteudo ?? '', 'base64'),
        )
        assert.ok(opened.ok)
        assert.deepEqual(Buffer.from(opened.content), secret)
        const path = env['SVC_RECIPIENTS_FILE'] ?? ''
        for (const each of [path, `${path}.lock`, join(path, '..')]) {
          const { uid, mode } = await stat(each)
          assert.deepEqual([each, uid, mode & 0o077], [each, 0, 0])
        }
        assert.match(await readFile(path, 'utf8'), /web-1\.example\.org/)
      }),
  )

  test('[SEA-7] leaves no keeper behind when it is killed, and nothing remembered', { skip }, () =>
    withHub(async ({ hub, directory, env }) => {
      const args = [...CREATE.split(' ').slice(1), '--file', '-', '--recipient', HOST]
      const child = spawn(SVC, args, {
        env: { PATH: process.env['PATH'] ?? '', ...env },
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      const keeper = await waitUntil('the keeper', () => findKeeper(child.pid ?? 0))
      child.stdin.write('half of it')
      child.kill('SIGKILL')
      await once(child, 'exit')
      await waitUntil('the keeper to end', async () =>
        (await isKeeper(keeper)) ? undefined : true,
      )
      assert.deepEqual(hub.sealed.received, [])
      assert.equal((await readdir(directory)).includes('known'), false)
    }),
  )
})

async function findKeeper(parentId: number): Promise<string | undefined> {
  const children = await readFile(`/proc/${parentId}/task/${parentId}/children`, 'utf8')
  for (const id of children.split(' ').filter((each) => each !== '')) {
    if (await isKeeper(id)) return id
  }
  return undefined
}

async function isKeeper(processId: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${processId}/cmdline`, 'utf8').catch(() => '')
  return commandLine.includes('__keep-recipients')
}
