import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeOnSignal } from './remove-on-signal.ts'

test('a program that is stopped leaves nothing of it, and ends by the signal', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'remove-'))
  t.after(() => rm(directory, { recursive: true }))
  const program = `
    import { mkdirSync, writeFileSync } from 'node:fs'
    import { removeOnSignal } from '${import.meta.resolve('./remove-on-signal.ts')}'
    const path = '${join(directory, 'scratch')}'
    await removeOnSignal(path, async () => {
      mkdirSync(path)
      writeFileSync(path + '/db.enc', '')
      console.log('there')
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  assert.deepEqual(await once(child, 'close'), [null, 'SIGINT'])
  assert.deepEqual(await readdir(directory), [])
})

test('what has ended stays, and so do the signals of others', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'remove-'))
  t.after(() => rm(directory, { recursive: true }))
  const before = process.listenerCount('SIGINT')
  const path = join(directory, 'kept')
  assert.equal(await removeOnSignal(path, async () => mkdir(path).then(() => 1)), 1)
  await assert.rejects(removeOnSignal(path, () => Promise.reject(new Error('it failed'))))
  assert.deepEqual(await readdir(directory), ['kept'])
  assert.equal(process.listenerCount('SIGINT'), before)
})
