// Who may use a vault: docs/protocol.md CLI-19 to CLI-21.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lockVault } from '../../src/hub/vault/vault.ts'
import { Secret } from '../../src/platform/secret.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { type Ended, runProgram, waitUntil } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { startFakeHub } from './fake-hub.ts'
import { runInShell, runInShellHere } from './run-in-shell.ts'
import { withDirectory } from './with-directory.ts'

const SVC = fileURLToPath(new URL('../../bin/svc', import.meta.url))
const PASSPHRASE = 'correct horse battery staple'
/** Nobody, who has no files. */
const OTHER_ID = 65_534
const skip = process.geteuid?.() === 0 ? false : 'only root can be somebody else'

/** The error code of a connection that is made as another user. */
async function connectAs(userId: number, socketPath: string): Promise<string> {
  process.seteuid?.(userId)
  const socket = connect(socketPath)
  process.seteuid?.(0)
  try {
    await once(socket, 'connect')
    return 'connected'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? ''
  } finally {
    socket.destroy()
  }
}

/** Real, effective, saved and file system ids of a process, and its groups. */
async function readIds(pid: number): Promise<Record<string, string>> {
  const lines = (await readFile(`/proc/${pid}/status`, 'utf8')).split('\n')
  const fields = lines.map((line) => line.split(/:\s+/, 2)).filter(([name]) => name !== undefined)
  const { Uid = '', Gid = '', Groups = '' } = Object.fromEntries(fields) as Record<string, string>
  return { Uid, Gid, Groups: Groups.trim() }
}

describe('a backup by root', () => {
  test('[BKP-10] goes where only root may write, and reads the vault as its owner', { skip }, () =>
    withDirectory(async (directory) => {
      const vaultRoot = join(directory, 'vault')
      await initCheapVault(vaultRoot, new Secret(PASSPHRASE))
      for (const name of ['', ...(await readdir(vaultRoot))]) {
        await chown(join(vaultRoot, name), OTHER_ID, OTHER_ID)
      }
      await chmod(directory, 0o755)
      const place = join(directory, 'backups')
      await mkdir(place, { mode: 0o700 })
      const env = { SVC_VAULT_ROOT: vaultRoot, SVC_MASTER_PASSPHRASE: PASSPHRASE }
      const made = await runProgram('svc', ['backup', join(place, 'b')], env)
      assert.deepEqual([made.stderr, made.status], ['', 0])
      assert.equal((await stat(join(place, 'b'))).uid, 0)
      for (const name of await readdir(vaultRoot)) {
        assert.equal((await stat(join(vaultRoot, name))).uid, OTHER_ID, name)
      }
      const wrong = { ...env, SVC_MASTER_PASSPHRASE: 'another passphrase' }
      const refused = await runProgram('svc', ['backup', join(place, 'c')], wrong)
      assert.equal(refused.status, 1)
      assert.match(refused.stderr, /^svc: error: unwrap DEK — wrong passphrase\?\nsvc: hint: /)
      assert.deepEqual(await readdir(place), ['b'])
    }),
  )
})

describe('beside a hub', () => {
  test('[CLI-19] root and the user of the hub reach it, and no one else', { skip }, () =>
    withDirectory(async (directory) => {
      const vaultRoot = join(directory, 'vault')
      const hub = await startFakeHub(vaultRoot, PASSPHRASE, [])
      try {
        // Even where the directories would let everybody through.
        await chmod(directory, 0o755)
        await chmod(vaultRoot, 0o755)
        const socketPath = join(vaultRoot, 'admin.sock')
        assert.equal(await connectAs(0, socketPath), 'connected')
        assert.equal(await connectAs(OTHER_ID, socketPath), 'EACCES')
        await chown(socketPath, OTHER_ID, OTHER_ID)
        assert.equal(await connectAs(OTHER_ID, socketPath), 'connected')
        assert.equal(await connectAs(OTHER_ID - 1, socketPath), 'EACCES')
        assert.equal(await connectAs(0, socketPath), 'connected')
      } finally {
        await hub.close()
      }
    }),
  )

  test('[CLI-18] svc asks it first, and starts no process', () =>
    withDirectory(async (directory) => {
      const env = { SVC_VAULT_ROOT: join(directory, 'vault') }
      const hub = await startFakeHub(env.SVC_VAULT_ROOT, PASSPHRASE, [])
      try {
        const before = await readFaultsOfChildren()
        const { stderr, status } = await runSvcHere(['agente', 'list'], env)
        assert.deepEqual([stderr, status], ['', 0])
        assert.equal((await readFaultsOfChildren()) - before, 0)
      } finally {
        await hub.close()
      }
    }))

  test('[CLI-20] only unseal wants the passphrase, and finds out itself that it is wrong', () =>
    withDirectory(async (directory) => {
      const env = { SVC_VAULT_ROOT: join(directory, 'vault') }
      const hub = await startFakeHub(env.SVC_VAULT_ROOT, PASSPHRASE, [])
      try {
        for (const noun of ['token', 'agente', 'carga', 'entrega', 'evento']) {
          const { stderr, exitStatus } = await runInShellHere(`svc ${noun} list`, env)
          assert.deepEqual([stderr, exitStatus], ['', 0], noun)
        }
        const without = await runInShellHere('svc unseal', env)
        assert.match(without.stderr, /^svc: error: SVC_MASTER_PASSPHRASE required\n/)
        const wrong = await runInShellHere('SVC_MASTER_PASSPHRASE=wrong svc unseal', env)
        assert.match(wrong.stderr, /^svc: error: unwrap DEK — wrong passphrase\?\n/)
        assert.deepEqual([without.exitStatus, wrong.exitStatus], [1, 1])
      } finally {
        await hub.close()
      }
    }))
})

/** The page faults of children that have ended, of this process: a child cannot run without any. */
async function readFaultsOfChildren(): Promise<number> {
  const [, fields = ''] = (await readFile('/proc/self/stat', 'utf8')).split(') ')
  return Number(fields.split(' ')[8])
}

describe('without a hub', () => {
  test('[CLI-18] two commands at once take turns, also behind the socket of a dead hub', () =>
    withDirectory(async (directory) => {
      const vaultRoot = join(directory, 'vault')
      await initCheapVault(vaultRoot, new Secret(PASSPHRASE))
      const socketPath = join(vaultRoot, 'admin.sock')
      const dead = createServer()
      await once(dead.listen(`${socketPath}.live`), 'listening')
      // A server removes the name that it bound; under another one the socket outlives it.
      await rename(`${socketPath}.live`, socketPath)
      dead.close()
      const env = { SVC_VAULT_ROOT: vaultRoot, SVC_MASTER_PASSPHRASE: PASSPHRASE }
      const create = (hostname: string): Promise<Ended> =>
        runSvcHere(['token', 'create', '--hostname', hostname, '--role', 'web'], env)
      for (const { stderr, status } of await Promise.all([create('web-1'), create('web-2')])) {
        assert.deepEqual([stderr, status], ['', 0])
      }
      const { stdout } = await runSvcHere(['token', 'list'], env)
      assert.match(stdout, /web-1 .*\n.*web-2 |web-2 .*\n.*web-1 /)
    }))
})

describe('svc that root starts', { skip }, () => {
  test('[CLI-21] is the owner of the vault before it opens anything, and leaves nothing of root there', () =>
    withDirectory(async (directory) => {
      const vaultRoot = join(directory, 'vault')
      const env = { SVC_VAULT_ROOT: vaultRoot, SVC_MASTER_PASSPHRASE: PASSPHRASE }
      assert.equal((await runInShell('svc init', env)).exitStatus, 0)
      await chmod(directory, 0o755)
      await chown(vaultRoot, OTHER_ID, OTHER_ID)
      for (const name of await readdir(vaultRoot)) {
        await chown(join(vaultRoot, name), OTHER_ID, OTHER_ID)
      }
      const lock = lockVault(vaultRoot)
      const child = spawn(
        SVC,
        ['token', 'create', '--hostname', 'web-1.example', '--role', 'web'],
        {
          env: { PATH: process.env['PATH'] ?? '', ...env },
          stdio: 'ignore',
        },
      )
      const ended = once(child, 'exit')
      const id = String(OTHER_ID)
      const four = [id, id, id, id].join('\t')
      try {
        // It waits for the vault meanwhile.
        const ids = await waitUntil('svc to be somebody else', async () => {
          const found = await readIds(child.pid ?? 0)
          return found['Uid'] === four ? found : undefined
        })
        assert.deepEqual(ids, { Uid: four, Gid: four, Groups: id })
      } finally {
        lock.release()
      }
      assert.deepEqual(await ended, [0, null])
      for (const name of await readdir(vaultRoot)) {
        const { uid, gid } = await stat(join(vaultRoot, name))
        assert.deepEqual([uid, gid], [OTHER_ID, OTHER_ID], name)
      }
    }))

  test('[CLI-106] writes an export where only root may, and the owner of the vault may not', () =>
    withDirectory(async (directory) => {
      const vaultRoot = join(directory, 'vault')
      const env = { SVC_VAULT_ROOT: vaultRoot }
      const hub = await startFakeHub(vaultRoot, PASSPHRASE)
      try {
        await chmod(directory, 0o755)
        await chown(vaultRoot, OTHER_ID, OTHER_ID)
        await chown(join(vaultRoot, 'admin.sock'), OTHER_ID, OTHER_ID)
        const place = join(directory, 'of-root')
        await mkdir(place, { mode: 0o700 })
        const file = join(place, 'log.export')
        const exported = await runInShell(`svc evento export --out ${file}`, env)
        assert.deepEqual([exported.stderr, exported.exitStatus], ['', 0])
        const { uid, mode } = await stat(file)
        assert.deepEqual([uid, mode & 0o777], [0, 0o600])
        const text = await readFile(file, 'utf8')
        assert.equal(text.split('\n').length, 1 + hub.entries.length + 1)
        // What the other svc says is said, and half an export is none.
        const failed = await runInShell(`svc event export --replace --after 9 --out ${file}`, env)
        assert.match(failed.stderr, /^svc: error: internal error in the hub\nsvc: hint: /)
        assert.equal(failed.exitStatus, 1)
        assert.equal(await readFile(file, 'utf8'), text)
        assert.deepEqual(await readdir(place), ['log.export'])
      } finally {
        await hub.close()
      }
    }))

  test(
    '[CLI-21] reads the file of the passphrase before it does, when only root may',
    { skip },
    () =>
      withDirectory(async (directory) => {
        const vaultRoot = join(directory, 'vault')
        const passphraseFile = join(directory, 'passphrase')
        await chmod(directory, 0o755)
        await mkdir(vaultRoot)
        await chown(vaultRoot, OTHER_ID, OTHER_ID)
        const env = { SVC_VAULT_ROOT: vaultRoot, SVC_MASTER_PASSPHRASE_FILE: passphraseFile }
        const missing = await runInShell('svc init', env)
        assert.match(missing.stderr, /^svc: error: SVC_MASTER_PASSPHRASE_FILE: .*ENOENT/)
        await writeFile(passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 })
        const made = await runInShell('svc init', env)
        assert.deepEqual([made.stderr, made.exitStatus], ['', 0])
        const { uid } = await stat(join(vaultRoot, 'config.json'))
        assert.equal(uid, OTHER_ID)
      }),
  )
})
