// `npm test`: the first tier of the tests, on the pinned Node, with pinned seeds. `npm run test:all`: both tiers, with new
// seeds; `npm run test:second`: only what that adds to the first tier. `npm test -- enroll hub/vault` runs the files of both
// tiers whose path contains one of the words; what starts with `-` goes to each file's Node (`-- --test-name-pattern=token`).

import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { parseTestStore, startTestStore } from '../test/support/test-store.ts'
import { ensureStepCa } from './install-step-ca.ts'
import { findFiles, readSources, ROOT } from './source-files.ts'
import { makeTestPrograms } from './test-programs.ts'
import { chooseFiles, SEED_VARIABLES, type TestRun, tierOf } from './test-tiers.ts'

/**
 * For the two cores of the smallest machine that we run on. A file of the first tier waits for a fourth of its time, so that
 * three keep both cores busy; those of the second have load of their own.
 */
const CONCURRENCY: Readonly<Record<TestRun, number>> = { first: 3, second: 2, all: 2 }
const TEST_TIMEOUT_MS = 120_000
/** Of the files, how many are named. */
const SLOWEST = 20
/** What fails for one contributor fails for all. */
const PINNED_SEED = 20_261_122
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'node-compile')

const RUNS: Readonly<Record<string, TestRun>> = { '--all': 'all', '--second': 'second' }

await runProgram('test', () => main(process.argv.slice(2)))

async function main(args: readonly string[]): Promise<void> {
  const asked = args.flatMap((word) => RUNS[word] ?? [])[0]
  const flags = args.filter((word) => word.startsWith('-') && RUNS[word] === undefined)
  const words = args.filter((word) => !word.startsWith('-'))
  const testRun = asked ?? (words.length === 0 ? 'first' : 'all')
  const sources = readSources(findFiles(['src', 'test', 'tools'], ['.test.ts']))
  const paths = chooseFiles(sources, testRun).filter(
    (path) => words.length === 0 || words.some((word) => path.includes(word)),
  )
  if (paths.length === 0) throw new UserError('no_test', `no test file matches ${words.join(' ')}`)
  const ofFirst = paths.filter((path) => tierOf(path) === 'first').length
  process.stdout.write(
    `${paths.length} test files (first tier ${ofFirst}, second ${paths.length - ofFirst}), Node ${process.versions.node}\n`,
  )
  // Whoever runs everything wants every released version; the second tier alone takes the oldest and the newest.
  if (asked === 'all') process.env['TEST_VERSIONS'] ||= 'all'
  // Whoever names their file wants all of these, too.
  if (testRun === 'all') process.env['TEST_KNOWN_BUGS'] ||= 'all'
  setSeeds(asked === undefined ? PINNED_SEED : Date.now() % 1_000_000_007)
  if (paths.some((path) => path.startsWith('test/foreign/'))) await announceStepCa()
  const built = await mkdtemp(join(tmpdir(), 'built-once-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(built, { recursive: true, force: true }))
  process.env['TEST_BUILT'] ||= built
  if (testRun !== 'all') process.env['TEST_BUNDLES'] ||= await makeTestPrograms()
  const store = parseTestStore(process.env['TEST_STORE'])
  process.stdout.write(`store of the test hubs: ${store}\n`)
  stack.use(await startTestStore(store))
  // The tests start some thousand programs, and half of such a start was to compile the same files again.
  process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE
  process.exitCode = (await runTests(paths, flags, CONCURRENCY[testRun])) ? 0 : 1
}

/** A test of chance reads its variable; whoever gave one keeps it. */
function setSeeds(seed: number): void {
  for (const name of SEED_VARIABLES) process.env[name] ||= String(seed)
  const shown = SEED_VARIABLES.map((name) => `${name}=${process.env[name]}`).join(' ')
  process.stdout.write(`seeds: ${shown}\n`)
}

/** Built here, if need be: it takes minutes the first time, longer than any test may. */
async function announceStepCa(): Promise<void> {
  const path = await ensureStepCa()
  process.stdout.write(
    path === undefined
      ? 'step-ca: there is no Go to build it with; the tests that need it skip\n'
      : `step-ca: ${path}\n`,
  )
}

async function runTests(
  paths: readonly string[],
  flags: readonly string[],
  concurrency: number,
): Promise<boolean> {
  let succeeded = false
  const began = readCpuTimes()
  const events = run({
    files: paths.map((path) => join(ROOT, path)),
    cwd: ROOT,
    concurrency,
    timeout: TEST_TIMEOUT_MS,
    execArgv: [...flags],
  })
  const secondsOf = new Map<string, number>()
  events.on('test:summary', ({ file, success, duration_ms: durationMs }) => {
    if (file === undefined) succeeded = success
    else secondsOf.set(file, Math.round(durationMs / 1000))
  })
  const report = events.compose(new spec())
  report.pipe(process.stdout)
  await finished(report)
  process.stdout.write(`slowest files: ${describeSlowest(secondsOf)}\n`)
  process.stdout.write(`cores busy: ${describeBusy(began, readCpuTimes())}\n`)
  return succeeded
}

interface CpuTimes {
  readonly idleMs: number
  readonly allMs: number
}

/** Of the machine since its start, all cores together. */
function readCpuTimes(): CpuTimes {
  const times = cpus().map((core) => core.times)
  const idleMs = times.reduce((sum, { idle }) => sum + idle, 0)
  const allMs = times.flatMap((one) => Object.values(one)).reduce((sum, ms) => sum + ms, 0)
  return { idleMs, allMs }
}

/** Whether a run that is too long waits or works. */
function describeBusy(before: CpuTimes, after: CpuTimes): string {
  const allMs = after.allMs - before.allMs
  const busyMs = allMs - (after.idleMs - before.idleMs)
  return `${Math.round((100 * busyMs) / allMs)} % of the time, ${Math.round(busyMs / 1000)} s of CPU`
}

/** What to look at first when the tests take too long. */
function describeSlowest(secondsOf: ReadonlyMap<string, number>): string {
  const slowest = [...secondsOf].toSorted(([, one], [, other]) => other - one).slice(0, SLOWEST)
  return slowest.map(([file, seconds]) => `${relative(ROOT, file)} ${seconds} s`).join(', ')
}
