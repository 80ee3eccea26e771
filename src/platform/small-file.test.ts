import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readSmallFile } from './small-file.ts'

describe('a small file', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'small-file-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  test('may be as large as is allowed, in bytes', async () => {
    const path = join(directory, 'file')
    await writeFile(path, 'ação')
    const { text, stats } = readSmallFile(path, 6)
    assert.deepEqual([text, stats.size], ['ação', 6])
    assert.throws(() => readSmallFile(path, 5), {
      code: 'file_too_large',
      message: `${path} has more than the 5 bytes allowed`,
    })
  })

  test('may claim to be empty, as those of the kernel do', () => {
    assert.match(readSmallFile('/proc/self/status', 65_536).text, /^Name:/)
  })

  test('is no pipe, whose end nobody knows, no device and no directory', () => {
    const pipe = join(directory, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of [pipe, '/dev/zero', directory]) {
      assert.throws(() => readSmallFile(path, 100), {
        code: 'file_invalid',
        message: `${path} is not a file`,
      })
    }
  })
})
