import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '../../../test/support/agent-host.ts'
import { type FileLock, tryLockFile } from '../../platform/file-lock.ts'
import { createLogging } from '../../platform/logger.ts'
import type { Certificate } from '../../pki/certificates.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { createHookRunner, type HookInvocation } from './hook-runner.ts'
import type { InstalledFile } from './installed-file.ts'
import type { InstalledPair } from './installed-pair.ts'
import { pairKind } from './pair-kind.ts'
import { sealedKind } from './sealed-kind.ts'

const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')
const userId = process.getuid?.() ?? 0

// Nothing else of the certificate is told.
const leaf = { serial: 'ab', notAfter: new Date('2026-01-02T03:04:05Z') } as Certificate
const pairPlace = { outDir: '/out', name: '$(touch x)' as ArtefactName, caPath: '/ca.pem' }
const COMMON = {
  event: 'installed',
  deliveryId: 'd',
  cargoId: 'c',
  version: 2,
  hostname: 'web-1',
} as const

const INVOCATION: HookInvocation = {
  ...pairKind.hookOf(pairPlace, { leaf } as InstalledPair),
  ...COMMON,
  name: 'site',
}

const FILE_INVOCATION: HookInvocation = {
  ...sealedKind.hookOf({ ...pairPlace, name: 'site.conf' as ArtefactName }, {
    record: {},
  } as InstalledFile),
  ...COMMON,
  name: 'site.conf',
}

const NOTE_WHAT_IT_GETS = `
const given = { arguments: process.argv.slice(2), environment: process.env }
require('node:fs').writeFileSync('given', JSON.stringify(given))`

async function withHooks(
  work: (hooks: {
    directory: string
    put: (name: string, script: string, options?: { interpreter: string }) => Promise<string>
    /** With the limit that agents have, unless one is given. */
    run: (
      timeoutMs?: number,
      lock?: FileLock,
      invocation?: HookInvocation,
    ) => ReturnType<ReturnType<typeof createHookRunner>['run']>
  }) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'hooks-'))
  try {
    await work({
      directory,
      async put(name, script, { interpreter } = { interpreter: '/bin/sh' }) {
        const path = join(directory, name)
        await writeFile(path, `#!${interpreter}\n${script}\n`)
        await chmod(path, 0o755)
        return path
      },
      run: (timeoutMs, lock, invocation = INVOCATION) =>
        createHookRunner({
          hookDir: directory,
          workingDirectory: directory,
          userId,
          home: '/home/x',
          log,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          ...(lock === undefined ? {} : { lock }),
        }).run(invocation),
    })
  } finally {
    await rm(directory, { recursive: true })
  }
}

describe('hooks', () => {
  test('[HOK-6] a missing hook is fine', () =>
    withHooks(async ({ run }) => assert.deepEqual(await run(), [])))

  test('[HOK-1] [HOK-2] get their arguments untouched and this environment, nothing of the agent’s', () =>
    withHooks(async ({ directory, put, run }) => {
      process.env['SVC_ENROLL_TOKEN'] = 'svct_secret'
      await put('post-csr-cert', NOTE_WHAT_IT_GETS, { interpreter: process.execPath })
      assert.deepEqual(await run(), [])
      delete process.env['SVC_ENROLL_TOKEN']
      assert.deepEqual(JSON.parse(await readFile(join(directory, 'given'), 'utf8')), {
        arguments: ['site', '/out/$(touch x).crt', '/out/$(touch x).key'],
        environment: {
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          HOME: '/home/x',
          LANG: 'C.UTF-8',
          SVC_EVENT: 'installed',
          SVC_NOME: 'site',
          SVC_CERT_PATH: '/out/$(touch x).crt',
          SVC_KEY_PATH: '/out/$(touch x).key',
          SVC_CA_PATH: '/ca.pem',
          SVC_SERIAL: 'ab',
          SVC_NOT_AFTER: '2026-01-02T03:04:05.000Z',
          SVC_ENTREGA_ID: 'd',
          SVC_CARGA_ID: 'c',
          SVC_VERSAO: '2',
          SVC_HOSTNAME: 'web-1',
        },
      })
    }))

  test('[SLD-10] of a file are others, with its path and nothing of certificates', () =>
    withHooks(async ({ directory, put, run }) => {
      await put('post-csr-cert', 'exit 1')
      await put('post-selado', NOTE_WHAT_IT_GETS, { interpreter: process.execPath })
      assert.deepEqual(await run(undefined, undefined, FILE_INVOCATION), [])
      assert.deepEqual(JSON.parse(await readFile(join(directory, 'given'), 'utf8')), {
        arguments: ['site.conf', '/out/site.conf'],
        environment: {
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          HOME: '/home/x',
          LANG: 'C.UTF-8',
          SVC_EVENT: 'installed',
          SVC_NOME: 'site.conf',
          SVC_FILE_PATH: '/out/site.conf',
          SVC_ENTREGA_ID: 'd',
          SVC_CARGA_ID: 'c',
          SVC_VERSAO: '2',
          SVC_HOSTNAME: 'web-1',
        },
      })
    }))

  test('[HOK-1] run in the order of their names, the single one first, and one failure keeps none from running', () =>
    withHooks(async ({ directory, put, run }) => {
      await mkdir(join(directory, 'post-csr-cert.d'))
      await chmod(join(directory, 'post-csr-cert.d'), 0o755)
      await put('post-csr-cert.d/20-b', 'echo b >> order')
      await put('post-csr-cert.d/10-a', 'echo a >> order; exit 3')
      await put('post-csr-cert', 'echo single >> order')
      const failures = await run()
      assert.equal(await readFile(join(directory, 'order'), 'utf8'), 'single\na\nb\n')
      assert.deepEqual(
        failures.map(({ reason, exitCode }) => [reason, exitCode]),
        [['exit status 3', 3]],
      )
    }))

  test('[HOK-3] are killed with all that they started when their time is up', () =>
    withHooks(async ({ directory, put, run }) => {
      await put('post-csr-cert', 'sleep 600 & echo $! > child; wait')
      const [failure] = await run(300)
      assert.equal(failure?.reason, 'killed after 0.3 s')
      const child = Number(await readFile(join(directory, 'child'), 'utf8'))
      await eventually('the child of the hook is gone', () => !isAlive(child))
    }))

  test('[HOK-3] have 60 s', (context) =>
    withHooks(async ({ directory, put, run }) => {
      context.mock.timers.enable({ apis: ['setTimeout'] })
      await put('post-csr-cert', 'echo $$ > pid.new && mv pid.new pid; exec sleep 600')
      const running = run()
      const pidPath = join(directory, 'pid')
      while (!existsSync(pidPath)) await new Promise((resolve) => void setImmediate(resolve))
      const pid = Number(await readFile(pidPath, 'utf8'))
      context.mock.timers.tick(59_999)
      assert.ok(isAlive(pid))
      context.mock.timers.tick(1)
      const [failure] = await running
      assert.deepEqual([failure?.reason, failure?.exitCode], ['killed after 60 s', null])
    }))

  test('[HOK-8] hold the agent’s lock until they end, and what they leave in the background does not', () =>
    withHooks(async ({ directory, put, run }) => {
      const lockFile = join(directory, 'agent.lock')
      const lock = tryLockFile(lockFile)
      assert.ok(lock)
      await put(
        'post-csr-cert',
        'sleep 600 & echo $! > child; while [ ! -e go ]; do sleep 0.02; done',
      )
      const running = run(undefined, lock)
      await eventually('the hook runs', () => existsSync(join(directory, 'child')))
      // As the kernel does when the agent dies.
      lock.release()
      assert.equal(tryLockFile(lockFile), undefined)
      await writeFile(join(directory, 'go'), '')
      assert.deepEqual(await running, [])
      const child = Number(await readFile(join(directory, 'child'), 'utf8'))
      assert.ok(isAlive(child))
      process.kill(child, 'SIGKILL')
      const next = tryLockFile(lockFile)
      assert.ok(next)
      next.release()
    }))

  test('[HOK-8] get neither the socket nor the lock of their guard', () =>
    withHooks(async ({ put, run }) => {
      await put('post-csr-cert', '! [ -e /proc/$$/fd/3 ] && ! [ -e /proc/$$/fd/4 ]')
      assert.deepEqual(await run(), [])
    }))

  test('[HOK-8] end with their guard, whoever ends that', () =>
    withHooks(async ({ directory, put, run }) => {
      await put('post-csr-cert', 'echo "$PPID $$" > pids.new && mv pids.new pids; exec sleep 600')
      const running = run()
      await eventually('the hook runs', () => existsSync(join(directory, 'pids')))
      const [guard, hook] = (await readFile(join(directory, 'pids'), 'utf8')).split(' ').map(Number)
      process.kill(guard ?? 0, 'SIGKILL')
      const [failure] = await running
      assert.equal(failure?.reason, 'ended by SIGKILL')
      await eventually('the hook is gone', () => !isAlive(hook ?? 0))
    }))

  test('[HOK-6] that a signal ends have failed with the status that a shell gives it', () =>
    withHooks(async ({ put, run }) => {
      await put('post-csr-cert', 'kill -s SEGV $$')
      const [failure] = await run()
      assert.deepEqual([failure?.reason, failure?.exitCode], ['exit status 139', 139])
    }))

  test('do not hold up the agent by what they leave in the background', () =>
    withHooks(async ({ directory, put, run }) => {
      await put('post-csr-cert', 'sleep 600 & echo $! > child')
      assert.deepEqual(await run(), [])
      process.kill(Number(await readFile(join(directory, 'child'), 'utf8')), 'SIGKILL')
    }))

  const refusals: [
    why: string,
    prepare: (directory: string, hook: string) => Promise<void>,
    reason: RegExp,
  ][] = [
    [
      'it is writable by its group',
      (_, hook) => chmod(hook, 0o775),
      /it is writable by group or others/,
    ],
    [
      'it is writable by others',
      (_, hook) => chmod(hook, 0o757),
      /it is writable by group or others/,
    ],
    [
      'its directory is writable by others',
      (directory) => chmod(directory, 0o777),
      /its directory .* is writable/,
    ],
    ['it is not executable', (_, hook) => chmod(hook, 0o644), /not executable/],
    [
      'it is no regular file',
      async (_, hook) => {
        await rm(hook)
        await mkdir(hook)
      },
      /it is not a file/,
    ],
    [
      'it is a link',
      async (directory, hook) => {
        await rm(hook)
        await symlink('/bin/true', join(directory, 'post-csr-cert'))
      },
      /symbolic link/,
    ],
  ]
  for (const [why, prepare, reason] of refusals) {
    test(`[HOK-4] are refused when ${why}`, () =>
      withHooks(async ({ directory, put, run }) => {
        await prepare(directory, await put('post-csr-cert', 'echo ran > ran'))
        const [failure] = await run()
        assert.match(failure?.reason ?? '', reason)
        await assert.rejects(readFile(join(directory, 'ran')))
      }))
  }

  test('[HOK-4] of a .d directory that others may write are refused all together', () =>
    withHooks(async ({ directory, put, run }) => {
      await put('post-csr-cert', 'echo single >> ran')
      await mkdir(join(directory, 'post-csr-cert.d'))
      await put('post-csr-cert.d/10-a', 'echo a >> ran')
      await chmod(join(directory, 'post-csr-cert.d'), 0o775)
      const failures = await run()
      assert.equal(failures.length, 1)
      assert.match(failures[0]?.reason ?? '', /refused: .*post-csr-cert\.d is writable/)
      assert.equal(await readFile(join(directory, 'ran'), 'utf8'), 'single\n')
    }))

  test('[HOK-4] are refused when they belong to another user', { skip: userId !== 0 }, () =>
    withHooks(async ({ directory, put, run }) => {
      await chown(await put('post-csr-cert', 'true'), 4242, 4242)
      assert.match((await run())[0]?.reason ?? '', /it belongs to user 4242/)
      await chown(join(directory, 'post-csr-cert'), 0, 0)
      await chown(directory, 4242, 4242)
      assert.match((await run())[0]?.reason ?? '', /its directory .* belongs to user 4242/)
    }),
  )
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
