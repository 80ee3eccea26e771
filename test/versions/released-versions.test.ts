// Where the released versions come from, with repositories that do not have what is asked of them.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runTool } from '../support/processes.ts'
import { isBefore } from './pairings.ts'
import { ensureReleasedVersion } from './released-versions.ts'

const ABSENT = '0123456789abcdef0123456789abcdef01234567'

describe('a released version', () => {
  let directory = ''
  let repository = ''
  let commit = ''
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'released-'))
    repository = join(directory, 'repository')
    const git = (...args: string[]): Promise<string> => runTool('git', ['-C', repository, ...args])
    await runTool('git', ['init', '--quiet', repository])
    await writeFile(join(repository, 'README.md'), 'no lockfile here\n')
    await git('add', '.')
    const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org']
    await git(...author, 'commit', '--quiet', '--message', 'without a lockfile')
    commit = (await git('rev-parse', 'HEAD')).trim()
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const ensure = (wanted: string, isCi: boolean) => {
    const cache = join(directory, 'cache')
    return ensureReleasedVersion({ version: '1.2.3', commit: wanted, repository, cache, isCi })
  }

  test('that the clone does not have is a reason to skip', async () => {
    const { skip } = await ensure(ABSENT, false)
    assert.equal(skip, `version 1.2.3 is commit ${ABSENT}, which this clone does not have`)
  })

  test('that the clone does not have is an error under CI=true', async () => {
    await assert.rejects(ensure(ABSENT, true), {
      message: `version 1.2.3 is commit ${ABSENT}, which this clone does not have: CI=true needs one with its whole history`,
    })
  })

  test('whose dependencies cannot be had leaves nothing behind', async () => {
    await assert.rejects(ensure(commit, false), /npm ci .* failed: /)
    assert.deepEqual(await readdir(join(directory, 'cache')), [`${commit}.lock`])
  })
})

test('versions are compared by number', () => {
  assert.equal(isBefore('0.9.0', '0.10.0'), true)
  assert.equal(isBefore('0.10.0', '0.9.9'), false)
  assert.equal(isBefore('1.0.0', '0.2.0'), false)
  assert.equal(isBefore('0.2.0', '0.2.0'), false)
  assert.equal(isBefore('0.1.9', '0.2.0'), true)
})
