// Builds a program that is written in Go and that tests can use, once, into the user's cache.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '../src/platform/clock.ts'
import { errnoCode, SvcError } from '../src/platform/errors.ts'
import { tryLockFile, type FileLock } from '../src/platform/file-lock.ts'
import { exists } from '../src/platform/files.ts'

export interface GoProgram {
  readonly name: string
  readonly version: string
  /** Of its main package, without the version. */
  readonly module: string
  /** How long a first build takes, in words. */
  readonly duration: string
}

const BUILD_MS_MAX = 15 * 60_000
const POLL_MS = 1000

/** The program's path, built if need be; undefined where there is no Go, which is an error under CI. */
export async function ensureGoProgram(program: GoProgram): Promise<string | undefined> {
  const path = pathOf(program)
  if (await exists(path)) return path
  if (!(await hasGo())) {
    if (process.env['CI'] !== 'true') return undefined
    const message = `${program.name} is needed under CI=true, and there is no Go to build it`
    throw new SvcError('no_go', message)
  }
  await mkdir(dirname(path), { recursive: true })
  const lock = await waitForLock(program, join(dirname(path), 'build.lock'))
  try {
    // Another process may have built it while this one waited.
    if (!(await exists(path))) await build(program, path)
  } finally {
    lock.release()
  }
  return path
}

function pathOf({ name, version }: GoProgram): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'cartorio', `${name}-${version}`, name)
}

async function hasGo(): Promise<boolean> {
  try {
    return (await run('go', ['version'], {}, 'ignore')) === 0
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false
    throw error
  }
}

async function waitForLock({ name }: GoProgram, path: string): Promise<FileLock> {
  const deadlineMs = systemClock.now().getTime() + BUILD_MS_MAX
  while (systemClock.now().getTime() < deadlineMs) {
    const lock = tryLockFile(path)
    if (lock !== undefined) return lock
    await systemClock.sleep(POLL_MS)
  }
  throw new SvcError(
    'build_locked',
    `another process has been building ${name} for too long: ${path}`,
  )
}

/** Built in a directory of its own and renamed, so that nobody ever runs half a program. */
async function build({ name, version, module, duration }: GoProgram, path: string): Promise<void> {
  process.stderr.write(`building ${name} ${version} (${duration} the first time)\n`)
  const staging = await mkdtemp(join(dirname(path), 'build-'))
  try {
    const source = `${module}@${version}`
    const environment = { CGO_ENABLED: '0', GOBIN: staging }
    const status = await run('go', ['install', source], environment, 'inherit')
    if (status !== 0) throw new SvcError('build_failed', `go install ${source} failed`)
    await rename(join(staging, name), path)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  process.stderr.write(`${name} is at ${path}\n`)
}

async function run(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  output: 'inherit' | 'ignore',
): Promise<number | null> {
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    // What a tool says about its work is not this program's result, so it goes to stderr.
    stdio: ['ignore', output === 'inherit' ? 2 : 'ignore', output],
    // Not the timeout option: its timer outlives a program that could not be started.
    signal: AbortSignal.timeout(BUILD_MS_MAX),
  })
  // Rejects with the spawn error when there is no such program.
  const [status] = (await once(child, 'exit')) as [number | null]
  return status
}
