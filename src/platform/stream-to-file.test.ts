import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { withFailingDisk } from '../../test/support/failing-disk.ts'
import { isPartialFile, streamToFile } from './stream-to-file.ts'

describe('streamToFile', () => {
  let directory: string
  let path: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'stream-'))
  })
  beforeEach(async () => {
    for (const name of await readdir(directory)) await rm(join(directory, name))
    path = join(directory, 'file')
  })
  after(() => rm(directory, { recursive: true }))

  async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<string> {
    for (const text of texts) {
      if (text instanceof Error) throw text
      yield text
    }
  }

  test('writes all pieces, for the owner alone', async () => {
    await streamToFile(path, pieces('one ', 'two'), { replace: false })
    assert.equal(await readFile(path, 'utf8'), 'one two')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(directory), ['file'])
  })

  test('replaces a file only when it is told to, and reads nothing when it is not', async () => {
    await writeFile(path, 'old')
    const unread = pieces(new Error('it was read'))
    await assert.rejects(streamToFile(path, unread, { replace: false }), { code: 'file_exists' })
    await streamToFile(path, pieces('new'), { replace: true })
    assert.equal(await readFile(path, 'utf8'), 'new')
    const link = join(directory, 'link')
    await symlink('nowhere', link)
    await assert.rejects(streamToFile(link, pieces(''), { replace: false }), {
      code: 'file_exists',
    })
  })

  test('does not replace a file that came meanwhile', async () => {
    async function* slow(): AsyncGenerator<string> {
      yield 'mine'
      await writeFile(path, 'of another')
    }
    await assert.rejects(streamToFile(path, slow(), { replace: false }), { code: 'file_exists' })
    assert.equal(await readFile(path, 'utf8'), 'of another')
    assert.deepEqual(await readdir(directory), ['file'])
  })

  test('leaves nothing when the pieces fail', async () => {
    const failing = pieces('one', new Error('no more'))
    await assert.rejects(streamToFile(path, failing, { replace: false }), { message: 'no more' })
    assert.deepEqual(await readdir(directory), [])
  })

  test('[BKP-10] of a program that a signal ends leaves nothing', async () => {
    const program = `
      import { streamToFile } from '${import.meta.resolve('./stream-to-file.ts')}'
      async function* pieces() {
        yield 'one'
        console.log('written')
        await new Promise((resolve) => setTimeout(resolve, 60_000))
      }
      await streamToFile('${path}', pieces(), { replace: false, endsBySignal: true })`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    assert.equal((await readdir(directory)).length, 1)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'close'), [null, 'SIGTERM'])
    assert.deepEqual(await readdir(directory), [])
  })

  for (const replace of [false, true]) {
    test(`[BKP-10] is the old one, the new one, or no file, wherever it ends (replace: ${replace})`, async () => {
      const prepare = async (): Promise<void> => {
        for (const name of await readdir(directory)) await rm(join(directory, name))
        if (replace) await writeFile(path, 'old')
      }
      const write = () => streamToFile(path, pieces('new'), { replace }).catch(() => undefined)
      await prepare()
      const changes = await withFailingDisk(() => false, write)
      assert.ok(changes >= 2, `${changes} changes`)
      for (let end = 1; end <= changes; end += 1) {
        await prepare()
        await withFailingDisk((change) => change >= end, write)
        const names = await readdir(directory)
        const other = names.filter((name) => name !== 'file')
        assert.ok(other.every(isPartialFile), `ended before change ${end}: ${names.join(' ')}`)
        const text = names.includes('file') ? await readFile(path, 'utf8') : 'none'
        assert.ok(['new', replace ? 'old' : 'none'].includes(text), `${end}: ${text}`)
      }
    })
  }
})
