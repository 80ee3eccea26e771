// What `npm run build` makes does the main job as the sources do: the same stories, told by the built programs.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildAgentExecutable } from '../../tools/build/agent-executable.ts'
import { ownArchitecture } from '../../tools/build/architecture.ts'
import { bundleProgram, STORE_ADDON } from '../../tools/build/bundle-program.ts'
import { pinnedNode } from '../../tools/build/runtime.ts'
import { copyStoreAddon } from '../../tools/build/store-addon.ts'
import { ROOT } from '../../tools/source-files.ts'
import { builtConsole } from '../support/built-console.ts'

const SETTINGS = { version: '7.8.9', releasePublicKey: undefined }

describe('the built programs', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'programs-'))
    await chmod(directory, 0o755)
    await copyStoreAddon(join(directory, STORE_ADDON), ownArchitecture())
    await buildAgentExecutable(join(directory, 'svc-agent'), SETTINGS)
    const console = await builtConsole()
    for (const [name, entry] of [
      ['svc-server', 'src/hub/main.ts'],
      ['svc', 'src/admin/main.ts'],
    ] as const) {
      const bundle = join(directory, `${name}.cjs`)
      await bundleProgram(entry, bundle, { ...SETTINGS, console })
      const launcher = `#!/bin/sh\nexec ${pinnedNode()} ${bundle} "$@"\n`
      await writeFile(join(directory, name), launcher, { mode: 0o755 })
    }
  })
  after(() => rm(directory, { recursive: true, force: true }))

  test('[WRD-9] [VER-4] say their version, and help, with nothing in the environment', () => {
    for (const name of ['svc-agent', 'svc-server', 'svc']) {
      const run = (argument: string): string =>
        execFileSync(join(directory, name), [argument], { cwd: '/', env: {}, encoding: 'utf8' })
      assert.match(run('--version'), /^(?:svc-server )?7\.8\.9\n$/)
      assert.match(run('--help'), /Examples?:/)
    }
  })

  test('keep nothing of the machine that they were built on', async () => {
    for (const name of ['svc-agent', 'svc-server.cjs', 'svc.cjs']) {
      const content = await readFile(join(directory, name))
      assert.equal(content.includes(ROOT), false, name)
      assert.equal(content.includes(directory), false, name)
    }
  })

  const stories = [
    ['[AGT-20] do the main job', 'test/e2e/main-job.test.ts', 'the main job with svc-ca', 4],
    ['[SLD-5] open what is sealed', 'test/agent/sealed-files.test.ts', 'opened by the program', 1],
    [
      '[LOC-1] serve the console',
      'test/e2e/served-console.test.ts',
      'the hub serves the console',
      1,
    ],
  ] as const
  for (const [title, path, pattern, count] of stories) {
    test(title, async () => {
      const { TEST_BIN: _none, NODE_TEST_CONTEXT: _ours, ...env } = process.env
      const output = await new Promise<string>((resolve) => {
        execFile(
          pinnedNode(),
          ['--test', '--test-reporter=tap', `--test-name-pattern=${pattern}`, join(ROOT, path)],
          { env: { ...env, TEST_BIN: directory } },
          (_error, stdout) => resolve(stdout),
        )
      })
      assert.match(output, /^# fail 0$/m, output)
      assert.match(output, new RegExp(`^# pass ${count}$`, 'm'), output)
    })
  }
})
