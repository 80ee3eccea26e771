// The packages as Debian's own checker sees them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathOfTool, TOOL_PATH, withTools } from '../support/tools.ts'
import { buildPackages } from './support/built-packages.ts'

test('lintian finds no errors in the packages', withTools('lintian'), async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lintian-'))
  try {
    const packages = await buildPackages(directory, '0.1.0')
    // The spelling of all words in Node.js is no error of ours, and takes more time than all the rest.
    const options = ['--allow-root', '--dont-check-part', 'binaries/spelling']
    const args = [...options, '--fail-on', 'error', ...packages]
    const { status, stdout, stderr } = spawnSync(pathOfTool('lintian'), args, {
      encoding: 'utf8',
      env: { PATH: TOOL_PATH },
    })
    assert.equal(status, 0, `${stdout}\n${stderr}`)
    // Its warnings are no errors, but each program has a manual page, which man can show and list.
    assert.doesNotMatch(stdout, /manual-page|groff|whatis/)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
