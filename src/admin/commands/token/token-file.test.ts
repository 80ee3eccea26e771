import assert from 'node:assert/strict'
import {
  chmod,
  type FileHandle,
  link,
  mkdtemp,
  open,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { openSync, closeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { openTokenFile, refuseExposedOutput } from './token-file.ts'

const TOKEN = `svct_${'A'.repeat(43)}`

const full = (): Error =>
  Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

/** Each open file of this process is one of these. */
async function handlesOf(path: string): Promise<FileHandle> {
  const file = await open(path, 'a', 0o600)
  await file.close()
  return Object.getPrototypeOf(file) as FileHandle
}

describe('[CLI-63] a file of tokens', () => {
  let directory = ''
  const at = (name: string): string => join(directory, name)

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tokens-'))
  })
  after(() => rm(directory, { recursive: true }))

  test('is made for its owner alone, and says next time whose tokens it holds', async () => {
    const umask = process.umask(0)
    try {
      const file = await openTokenFile(at('new'))
      assert.equal(file.hosts.size, 0)
      await file.add('web-1', TOKEN)
      await file.close()
    } finally {
      process.umask(umask)
    }
    assert.equal((await stat(at('new'))).mode & 0o777, 0o600)
    // A line that was cut is nobody's.
    await writeFile(at('new'), 'web-2 svct_AAAA', { flag: 'a' })
    const again = await openTokenFile(at('new'))
    assert.deepEqual([...again.hosts], ['web-1'])
    await again.add('web-2', TOKEN)
    await again.close()
    assert.equal(
      await readFile(at('new'), 'utf8'),
      `web-1 ${TOKEN}\nweb-2 svct_AAAA\nweb-2 ${TOKEN}\n`,
    )
  })

  const failOnce = async (t: TestContext, path: string, method: 'appendFile' | 'datasync') => {
    const handles = await handlesOf(path)
    const original = handles[method] as (this: FileHandle, ...given: unknown[]) => Promise<void>
    const { mock } = t.mock.method(handles, method)
    mock.mockImplementationOnce(async function (this: FileHandle, ...given: unknown[]) {
      // As much as fits: all but the end of the line.
      if (method === 'appendFile') await original.call(this, String(given[0]).slice(0, -1))
      throw full()
    })
    return handles
  }

  for (const [method, what] of [
    ['datasync', 'was written and does not stay'],
    ['appendFile', 'lacks its end alone'],
  ] as const) {
    test(`has nothing of a line that ${what}, so that its host is not done`, async (t) => {
      const path = at(`fails-${method}`)
      await writeFile(path, `web-1 ${TOKEN}\n`, { mode: 0o600 })
      await failOnce(t, path, method)
      const file = await openTokenFile(path)
      await assert.rejects(file.add('web-2', TOKEN), {
        code: 'file_unwritable',
        message: `--out: cannot write ${path}: ENOSPC: no space left on device`,
        hint: 'free space there',
      })
      await file.close()
      assert.equal(await readFile(path, 'utf8'), `web-1 ${TOKEN}\n`)
      const again = await openTokenFile(path)
      assert.deepEqual([...again.hosts], ['web-1'])
      await again.close()
    })
  }

  test('names the line that cannot be taken back', async (t) => {
    const path = at('stays')
    const handles = await failOnce(t, path, 'datasync')
    t.mock.method(handles, 'truncate', () => Promise.reject(full()))
    const file = await openTokenFile(path)
    await assert.rejects(file.add('web-1', TOKEN), {
      code: 'file_unwritable',
      hint: 'free space there, and remove the line of web-1',
    })
    await file.close()
  })

  test('gets one line at a time, and none after one that it did not take', async (t) => {
    const path = at('at-once')
    const handles = await handlesOf(path)
    let underWay = 0
    let most = 0
    let count = 0
    t.mock.method(handles, 'datasync', async () => {
      most = Math.max(most, (underWay += 1))
      await new Promise((resolve) => setImmediate(resolve))
      underWay -= 1
      if ((count += 1) === 2) throw full()
    })
    const file = await openTokenFile(path)
    const added = ['web-1', 'web-2', 'web-3', 'web-4'].map((host) => file.add(host, TOKEN))
    const outcomes = await Promise.allSettled(added)
    await file.close()
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'rejected'],
    )
    assert.equal(most, 1)
    assert.equal(await readFile(path, 'utf8'), `web-1 ${TOKEN}\n`)
  })

  test('is refused when others can read it, when it has another name, and when it is none', async () => {
    await writeFile(at('open'), '', { mode: 0o600 })
    await chmod(at('open'), 0o640)
    await assert.rejects(openTokenFile(at('open')), { code: 'tokens_exposed' })
    await writeFile(at('twice'), '', { mode: 0o600 })
    await link(at('twice'), at('other-name'))
    await assert.rejects(openTokenFile(at('twice')), { code: 'tokens_exposed' })
    await symlink(at('new'), at('link'))
    for (const path of [at('link'), directory, at('missing/file')]) {
      await assert.rejects(openTokenFile(path), { code: 'file_unwritable' })
    }
  })

  test('is not standard output that a shell sends to a file for everybody', async () => {
    await writeFile(at('stdout'), '')
    await chmod(at('stdout'), 0o644)
    const descriptor = openSync(at('stdout'), 'a')
    try {
      assert.throws(() => refuseExposedOutput(descriptor), {
        message: 'standard output is a file that others can read',
      })
      await chmod(at('stdout'), 0o600)
      refuseExposedOutput(descriptor)
    } finally {
      closeSync(descriptor)
    }
  })
})
