import assert from 'node:assert/strict'
import { chmod, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { createRealHost } from './real-host.ts'

const NEVER = (): Promise<never> => Promise.reject(new Error('there are no targets here'))

async function withPlace(
  work: (path: (name: string) => string, host: ReturnType<typeof createRealHost>) => Promise<void>,
): Promise<void> {
  const directory = await makeOwnDirectory('svc-agent-real-host-')
  try {
    const host = createRealHost({
      applyTarget: NEVER,
      listApplied: NEVER,
      settleTarget: NEVER,
      withoutPasses: NEVER,
    })
    await work((name) => join(directory, name), host)
  } finally {
    await rm(directory, { recursive: true })
  }
}

describe('a host as it is', WITH_OWN_PLACE, () => {
  test('[ADO-5] the content of a link is copied with its mode, over whatever is in the way', () =>
    withPlace(async (path, host) => {
      await writeFile(path('file'), Buffer.from([0xff, 0, 1]))
      await chmod(path('file'), 0o640)
      await symlink('file', path('link'))
      await mkdir(path('staged/inside'), { recursive: true })
      await host.copyContent(path('link'), path('staged'))
      const seen = await lstat(path('staged'))
      assert.ok(seen.isFile())
      assert.equal(seen.mode & 0o7777, 0o640)
      assert.deepEqual(await readFile(path('staged')), Buffer.from([0xff, 0, 1]))
    }))

  test('[ADO-5] a target gets no name that something has', () =>
    withPlace(async (path, host) => {
      await writeFile(path('new'), 'new')
      await writeFile(path('old'), 'old')
      await assert.rejects(host.renameToFree(path('new'), path('old')), { code: 'EEXIST' })
      assert.equal(await readFile(path('old'), 'utf8'), 'old')
      await host.renameToFree(path('new'), path('free'))
      assert.equal(await readFile(path('free'), 'utf8'), 'new')
      await assert.rejects(lstat(path('new')), { code: 'ENOENT' })
    }))

  test('[ADO-5] what others lay in the way of a link is not copied', () =>
    withPlace(async (path, host) => {
      await mkdir(path('open'))
      await writeFile(path('open/file'), 'x')
      await symlink('open/file', path('link'))
      await chmod(path('open'), 0o777)
      const copying = host.copyContent(path('link'), path('staged'))
      await assert.rejects(copying, { code: 'link_untrusted' })
      await assert.rejects(lstat(path('staged')), { code: 'ENOENT' })
    }))

  test('[ADO-5] what is no file, or too large, is not copied', () =>
    withPlace(async (path, host) => {
      await symlink('/dev/null', path('device'))
      await assert.rejects(host.copyContent(path('device'), path('staged')), {
        code: 'file_invalid',
      })
      await writeFile(path('large'), Buffer.alloc(1024 * 1024 + 1))
      await symlink('large', path('link'))
      await assert.rejects(host.copyContent(path('link'), path('staged')), {
        code: 'file_too_large',
      })
    }))
})
