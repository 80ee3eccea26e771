// The packages as Debian's own checker sees them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildPackages } from './support/built-packages.ts'

const isThere = spawnSync('lintian', ['--version']).status === 0
const skip = process.env['CI'] === 'true' || isThere ? false : 'lintian is not installed'

test('lintian finds no errors in the packages', { skip }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lintian-'))
  try {
    const packages = await buildPackages(directory, '0.1.0')
    // The spelling of all words in Node.js is no error of ours, and takes more time than all the rest.
    const options = ['--allow-root', '--dont-check-part', 'binaries/spelling']
    const args = [...options, '--fail-on', 'error', ...packages]
    const { status, stdout, stderr } = spawnSync('lintian', args, { encoding: 'utf8' })
    assert.equal(status, 0, `${stdout}\n${stderr}`)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
