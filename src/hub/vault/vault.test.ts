import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { formatVaultConfig, parseVaultConfig } from './vault-config.ts'
import { initVault, lockVault, unsealVault } from './vault.ts'

const PASSPHRASE = new Secret('correct horse battery staple')
const LOCKED = 'vault already locked: Resource temporarily unavailable'

describe('the vault', () => {
  let parent: string
  let root: string
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'vault-'))
    root = join(parent, 'deep', 'vault')
  })
  afterEach(() => rm(parent, { recursive: true }))

  describe('init', () => {
    test('[VLT-3] makes a vault that the same passphrase opens', async () => {
      const made = await initVault(root, PASSPHRASE)
      const opened = await unsealVault(root, PASSPHRASE)
      assert.equal(opened.vaultId, made.vaultId)
      assert.equal(opened.databasePath, join(root, 'db.enc'))
      assert.deepEqual(opened.dataKey.reveal(), made.dataKey.reveal())
      const store = await openSqliteStore({ path: opened.databasePath, dataKey: opened.dataKey })
      assert.deepEqual(await store.reader.pageAgents({ limit: 99 }), [])
      await store.close()
    })

    test('[VLT-1] leaves a closed directory with closed files, and nothing else', async () => {
      await initVault(root, PASSPHRASE)
      assert.equal(await modeOf(root), 0o700)
      assert.deepEqual((await readdir(root)).sort(), ['config.json', 'db.enc', 'vault.lock'])
      for (const name of await readdir(root)) assert.equal(await modeOf(join(root, name)), 0o600)
    })

    test('two vaults have nothing in common', async () => {
      const first = await initVault(root, PASSPHRASE)
      const second = await initVault(`${root}-2`, PASSPHRASE)
      assert.notEqual(first.vaultId, second.vaultId)
      assert.notDeepEqual(first.dataKey.reveal(), second.dataKey.reveal())
    })

    test('closes an empty directory that was open to others', async () => {
      await mkdir(root, { recursive: true })
      await chmod(root, 0o755)
      await initVault(root, PASSPHRASE)
      assert.equal(await modeOf(root), 0o700)
    })

    test('does not close a directory that is used for something else', async () => {
      await mkdir(root, { recursive: true })
      await writeFile(join(root, 'letter.txt'), '')
      await chmod(root, 0o755)
      await assert.rejects(initVault(root, PASSPHRASE), { code: 'directory_in_use' })
      assert.equal(await modeOf(root), 0o755)
      assert.deepEqual(await readdir(root), ['letter.txt'])
    })

    test('never touches a vault that exists, not even a damaged one or a locked one', async () => {
      await initVault(root, PASSPHRASE)
      await writeFile(join(root, 'config.json'), 'damaged')
      const lock = lockVault(root)
      await chmod(root, 0o750)
      const before = await readFile(join(root, 'db.enc'))
      await assert.rejects(initVault(root, PASSPHRASE), {
        name: 'UserError',
        message: `vault already initialised at ${root}`,
      })
      lock.release()
      assert.equal(await readFile(join(root, 'config.json'), 'utf8'), 'damaged')
      assert.deepEqual(await readFile(join(root, 'db.enc')), before)
      assert.equal(await modeOf(root), 0o750)
    })

    test('of two at once, one makes the vault and the other is refused', async () => {
      const outcomes = await Promise.allSettled([
        initVault(root, PASSPHRASE),
        initVault(root, PASSPHRASE),
      ])
      assert.deepEqual(outcomes.map((outcome) => outcome.status).sort(), ['fulfilled', 'rejected'])
      const opened = await unsealVault(root, PASSPHRASE)
      const made = outcomes.find((outcome) => outcome.status === 'fulfilled')
      assert.equal(made?.value.vaultId, opened.vaultId)
    })

    test('refuses an empty passphrase and makes nothing', async () => {
      await assert.rejects(initVault(root, new Secret('')), { name: 'UserError' })
      assert.deepEqual(await readdir(parent), [])
    })

    test('refuses a database whose config.json is lost', async () => {
      await initVault(root, PASSPHRASE)
      const before = await readFile(join(root, 'db.enc'))
      await rm(join(root, 'config.json'))
      await assert.rejects(initVault(root, PASSPHRASE), {
        message: `${join(root, 'db.enc')} exists without its config.json`,
      })
      assert.deepEqual(await readFile(join(root, 'db.enc')), before)
    })

    test('says so when the place cannot hold a directory', async () => {
      await writeFile(join(parent, 'deep'), '')
      await assert.rejects(initVault(root, PASSPHRASE), {
        name: 'VaultError',
        message: `cannot create a vault at ${root}`,
      })
    })
  })

  describe('an init that was killed', () => {
    const interrupted: readonly [when: string, leftovers: Record<string, string>][] = [
      ['before it began', {}],
      ['with an empty staging directory', { '.init/': '' }],
      ['while it made the database', { '.init/db.enc.new': 'x', '.init/db.enc.new-wal': 'x' }],
      ['before it wrote the config', { '.init/db.enc': 'x' }],
      ['while it wrote the config', { '.init/db.enc': 'x', '.init/config.json': '{' }],
      ['between its two renames', { 'db.enc': 'x', '.init/config.json': '{}' }],
      ['while its leftovers were removed', { '.init/config.json': '{}' }],
    ]
    for (const [when, leftovers] of interrupted) {
      test(`${when} left no vault, and can be run again`, async () => {
        for (const [name, content] of Object.entries({ 'vault.lock': '', ...leftovers })) {
          await mkdir(join(root, name, name.endsWith('/') ? '' : '..'), { recursive: true })
          if (!name.endsWith('/')) await writeFile(join(root, name), content)
        }
        await assert.rejects(unsealVault(root, PASSPHRASE), {
          message: `no vault at ${root} — run svc init first`,
        })
        await initVault(root, PASSPHRASE)
        await unsealVault(root, PASSPHRASE)
        assert.deepEqual((await readdir(root)).sort(), ['config.json', 'db.enc', 'vault.lock'])
      })
    }

    test('after its last rename left a whole vault', async () => {
      await initVault(root, PASSPHRASE)
      await mkdir(join(root, '.init'))
      await unsealVault(root, PASSPHRASE)
      await assert.rejects(initVault(root, PASSPHRASE), { code: 'vault_exists' })
    })

    test('at any moment leaves no vault or a whole one', async () => {
      for (const delayMs of [0, 60, 90, 120, 150]) {
        const place = join(root, String(delayMs))
        const child = spawnProgram(
          `const { initVault } = await import(process.env.VAULT_MODULE)
           const { Secret } = await import(process.env.SECRET_MODULE)
           console.log('started')
           await initVault(process.env.VAULT_ROOT, new Secret('p'))`,
          place,
        )
        await firstOutput(child)
        const timer = setTimeout(() => child.kill('SIGKILL'), delayMs)
        await once(child, 'close')
        clearTimeout(timer)
        const isWhole = (await readdir(place).catch((): string[] => [])).includes('config.json')
        if (!isWhole) await initVault(place, new Secret('p'))
        await unsealVault(place, new Secret('p'))
      }
    })
  })

  describe('unseal', () => {
    test('[VLT-7] says that there is no vault', async () => {
      const message = `no vault at ${root} — run svc init first`
      await assert.rejects(unsealVault(root, PASSPHRASE), { code: 'vault_missing', message })
      assert.throws(() => lockVault(root), { code: 'vault_missing', message })
      assert.deepEqual(await readdir(parent), [])
    })

    for (const wrong of ['', 'Correct horse battery staple', 'correct horse battery staple ']) {
      test(`[VLT-6] refuses the passphrase '${wrong}'`, async () => {
        await initVault(root, PASSPHRASE)
        await assert.rejects(unsealVault(root, new Secret(wrong)), {
          name: 'VaultError',
          message: 'unwrap DEK — wrong passphrase?',
        })
      })
    }

    test('[VLT-3] does not trust parameters that the data key was not wrapped with', async () => {
      await initVault(root, PASSPHRASE)
      const path = join(root, 'config.json')
      const config = parseVaultConfig(await readFile(path, 'utf8'), path)
      const vaultId = '00000000-0000-4000-8000-000000000000'
      await writeFile(path, formatVaultConfig({ ...config, vaultId }))
      await assert.rejects(unsealVault(root, PASSPHRASE), { code: 'vault_wrong_passphrase' })
    })

    test('[VLT-9] refuses a damaged or oversize config.json by name and leaves it', async () => {
      await initVault(root, PASSPHRASE)
      const path = join(root, 'config.json')
      for (const content of ['', '{}', 'null', '[]', 'x'.repeat(100_000)]) {
        await writeFile(path, content)
        await assert.rejects(unsealVault(root, PASSPHRASE), (error: Error) =>
          error.message.startsWith(`${path} is damaged`),
        )
        assert.equal(await readFile(path, 'utf8'), content)
      }
    })

    test('[VLT-9] says that the database is missing', async () => {
      await initVault(root, PASSPHRASE)
      await rename(join(root, 'db.enc'), join(root, 'elsewhere'))
      await assert.rejects(unsealVault(root, PASSPHRASE), {
        message: `database missing: ${join(root, 'db.enc')}`,
      })
    })
  })

  describe('lock', () => {
    beforeEach(() => initVault(root, PASSPHRASE))

    test('[VLT-8] is held by one, until it is released', () => {
      const lock = lockVault(root)
      assert.throws(() => lockVault(root), { code: 'vault_locked', message: LOCKED })
      lock.release()
      lockVault(root).release()
    })

    test('[VLT-8] meets that of the flock program, both ways', async () => {
      const path = join(root, 'vault.lock')
      const holder = spawn('flock', ['-x', path, 'sh', '-c', 'echo locked; exec cat'])
      await firstOutput(holder)
      assert.throws(() => lockVault(root), { message: LOCKED })
      holder.stdin.end()
      await once(holder, 'close')
      const lock = lockVault(root)
      const [status] = await once(spawn('flock', ['-x', '-n', '-E', '9', path, 'true']), 'close')
      assert.equal(status, 9)
      lock.release()
    })

    test('[VLT-8] is free again after kill -9 of its holder', async () => {
      const holder = spawnProgram(
        `const { lockVault } = await import(process.env.VAULT_MODULE)
         lockVault(process.env.VAULT_ROOT)
         console.log('locked')
         setInterval(() => {}, 1000)`,
        root,
      )
      await firstOutput(holder)
      assert.throws(() => lockVault(root), { message: LOCKED })
      holder.kill('SIGKILL')
      await once(holder, 'close')
      lockVault(root).release()
    })
  })
})

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777
}

function spawnProgram(program: string, root: string): ReturnType<typeof spawn> {
  return spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: {
      VAULT_MODULE: new URL('./vault.ts', import.meta.url).href,
      SECRET_MODULE: new URL('../../platform/secret.ts', import.meta.url).href,
      VAULT_ROOT: root,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function firstOutput(child: ReturnType<typeof spawn>): Promise<void> {
  assert.ok(child.stdout)
  await once(child.stdout, 'data')
}
