// What a hub does with a vault that shares its journal is what it does with one by itself: the same tests, with the other store.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pinnedNode } from '../../tools/build/runtime.ts'
import { ROOT } from '../../tools/source-files.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'

/** Of all of test/conformance, what reads or copies the whole vault, and what changes most of its tables. */
const CHOSEN = ['backup', 'doctor.test', 'enroll.test', 'evidence', 'log-archive', 'log-export']
const FILES_MIN = 6
/** On a machine that does other work too. */
const TIMEOUT_MS = 300_000

describe(
  'hubs whose vaults have their journal in PostgreSQL',
  { skip: skipUnlessRunnable([postgresProgram('postgres')]) },
  () => {
    test('pass the tests that other hubs pass', { timeout: TIMEOUT_MS }, async (context) => {
      const { NODE_TEST_CONTEXT: _ours, ...env } = process.env
      const words = CHOSEN.map((name) => `test/conformance/${name}`)
      const output = await new Promise<string>((resolve) => {
        const args = [join(ROOT, 'tools/test.ts'), ...words]
        const options = { env: { ...env, TEST_STORE: 'postgresql' }, maxBuffer: 64 * 1024 * 1024 }
        execFile(pinnedNode(), args, options, (_error, stdout, stderr) => resolve(stdout + stderr))
      })
      assert.match(output, /^store of the test hubs: postgresql$/m, output)
      assert.match(output, /^ℹ fail 0$/m, output)
      const [, files = '0'] = /^(\d+) test files/m.exec(output) ?? []
      assert.ok(Number(files) >= FILES_MIN, output)
      context.diagnostic(/^ℹ pass \d+$/m.exec(output)?.[0] ?? '')
    })
  },
)
