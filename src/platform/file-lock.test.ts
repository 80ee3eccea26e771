import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { tryLockFile } from './file-lock.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'))
})
after(() => rm(directory, { recursive: true }))

const flockStatus = (path: string): number | null =>
  spawnSync('flock', ['-n', path, 'true'], { stdio: 'ignore' }).status

test('[VLT-8] the lock meets flock(1), and is free again once released', async () => {
  const path = join(directory, 'a.lock')
  const lock = tryLockFile(path)
  assert.ok(lock)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal(flockStatus(path), 1)
  assert.equal(tryLockFile(path), undefined)
  lock.release()
  assert.equal(flockStatus(path), 0)
})

test('[VLT-8] no child inherits it', () => {
  const path = join(directory, 'b.lock')
  const lock = tryLockFile(path)
  const child = spawnSync('sh', ['-c', 'ls -l /proc/$$/fd'], { encoding: 'utf8' })
  assert.ok(!child.stdout.includes('b.lock'))
  lock?.release()
})

test('[VLT-8] a link in its place is not followed', async () => {
  const path = join(directory, 'c.lock')
  await symlink(join(directory, 'elsewhere'), path)
  assert.throws(() => tryLockFile(path), { code: 'ELOOP' })
})
