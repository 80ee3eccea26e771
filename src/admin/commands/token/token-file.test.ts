import assert from 'node:assert/strict'
import { chmod, link, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { openSync, closeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openTokenFile, refuseExposedOutput } from './token-file.ts'

const TOKEN = `svct_${'A'.repeat(43)}`

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
