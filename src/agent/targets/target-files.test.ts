import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFile, nodeTargetFiles, UnexpectedFileError } from './target-files.ts'

const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'target-files-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o7777).toString(8)
}

describe('files of targets on a real disk', () => {
  test('[TGT-28] a file is nobody else’s until all of it is there, whatever the umask', () =>
    withDirectory(async (directory) => {
      const path = join(directory, 'a')
      const umask = process.umask(0o000)
      try {
        const file = await nodeTargetFiles.create(path)
        assert.equal(await modeOf(path), '600')
        await file.write(Buffer.from('text'))
        await file.setOwner(own.uid, own.gid)
        assert.equal(await modeOf(path), '600')
        await file.setMode(0o640)
        await file.close()
      } finally {
        process.umask(umask)
      }
      assert.equal(await modeOf(path), '640')
      process.umask(0o077)
      await createFile(nodeTargetFiles, join(directory, 'b'), {
        content: Buffer.from('b'),
        ...own,
        mode: 0o644,
      })
      process.umask(umask)
      assert.equal(await modeOf(join(directory, 'b')), '644')
    }))

  test('[TGT-28] nothing is made where anything stands, nor through a link that leads nowhere', () =>
    withDirectory(async (directory) => {
      await writeFile(join(directory, 'there'), 'old')
      await symlink(join(directory, 'elsewhere'), join(directory, 'link'))
      for (const name of ['there', 'link']) {
        await assert.rejects(nodeTargetFiles.create(join(directory, name)), { code: 'EEXIST' })
      }
      assert.equal(await readFile(join(directory, 'there'), 'utf8'), 'old')
      await assert.rejects(stat(join(directory, 'elsewhere')), { code: 'ENOENT' })
    }))

  test('[TGT-15] what is read is a plain file of bounded size, and nothing is waited for', () =>
    withDirectory(async (directory) => {
      await writeFile(join(directory, 'file'), 'text', { mode: 0o600 })
      await symlink(join(directory, 'file'), join(directory, 'link'))
      await mkdir(join(directory, 'directory'))
      execFileSync('mkfifo', [join(directory, 'fifo')])
      const image = await nodeTargetFiles.read(join(directory, 'file'), 4)
      assert.deepEqual(image, { content: Buffer.from('text'), ...own, mode: 0o600 })
      assert.equal(await nodeTargetFiles.read(join(directory, 'missing'), 4), undefined)
      for (const name of ['link', 'directory', 'fifo']) {
        await assert.rejects(nodeTargetFiles.read(join(directory, name), 4), UnexpectedFileError)
      }
      await assert.rejects(nodeTargetFiles.read(join(directory, 'file'), 3), UnexpectedFileError)
    }))

  test('what is not there is removed, listed and made without complaint', () =>
    withDirectory(async (directory) => {
      const path = join(directory, 'missing')
      await nodeTargetFiles.remove(path)
      await nodeTargetFiles.removeTree(path)
      assert.deepEqual(await nodeTargetFiles.list(path), [])
      await nodeTargetFiles.makeDirectory(path, 0o700)
      await nodeTargetFiles.makeDirectory(path, 0o700)
      assert.equal(await modeOf(path), '700')
      assert.deepEqual(await nodeTargetFiles.list(path), [])
    }))

  test('a directory gets its mode whatever the mask of the process, which stays as it is', () =>
    withDirectory(async (directory) => {
      const mask = process.umask(0o077)
      try {
        await nodeTargetFiles.makeDirectory(join(directory, 'tls'), 0o755)
        assert.equal(process.umask(), 0o077)
      } finally {
        process.umask(mask)
      }
      assert.equal(await modeOf(join(directory, 'tls')), '755')
    }))
})
