// `npm test`: all tests on the pinned Node. `npm test -- enroll hub/vault` runs the test files whose path contains
// one of the words; what starts with `-` goes to the runner as it is (`-- --test-name-pattern=token`).

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ensureStepCa } from './install-step-ca.ts'
import { findFiles, ROOT } from './source-files.ts'

// Two: the smallest machine that we run on has two cores, and the stories on real processes want some of them.
const CONCURRENCY = 2
const TEST_TIMEOUT_MS = 120_000
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'node-compile')

const words = process.argv.slice(2)
const flags = words.filter((word) => word.startsWith('-'))
const patterns = words.filter((word) => !word.startsWith('-'))
const files = findFiles(['src', 'test', 'tools'], ['.test.ts']).filter(
  (path) => patterns.length === 0 || patterns.some((pattern) => path.includes(pattern)),
)

await runProgram('test', async () => {
  if (files.length === 0)
    throw new UserError('no_test', `no test file matches ${patterns.join(' ')}`)
  process.stdout.write(`${files.length} test files, Node ${process.versions.node}\n`)
  if (files.some((path) => path.startsWith('test/'))) await announceStepCa()
  process.exitCode = runTests(files)
})

/** Built here, if need be: it takes minutes the first time, longer than any test may. */
async function announceStepCa(): Promise<void> {
  const path = await ensureStepCa()
  process.stdout.write(
    path === undefined
      ? 'step-ca: there is no Go to build it with; the tests that need it skip\n'
      : `step-ca: ${path}\n`,
  )
}

function runTests(paths: readonly string[]): number {
  const child = spawnSync(
    process.execPath,
    [
      '--test',
      '--test-reporter=spec',
      `--test-concurrency=${CONCURRENCY}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      ...flags,
      ...paths,
    ],
    {
      cwd: ROOT,
      stdio: 'inherit',
      // The tests start some thousand programs, and half of such a start was to compile the same files again.
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
    },
  )
  if (child.error !== undefined) throw child.error
  return child.status ?? 1
}
