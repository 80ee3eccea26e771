// Builds the real step-ca that tests and the demo can use, once, into the user's cache.
// Run by itself it prints where the program is.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '../src/platform/clock.ts'
import { errnoCode, SvcError } from '../src/platform/errors.ts'
import { tryLockFile, type FileLock } from '../src/platform/file-lock.ts'
import { exists } from '../src/platform/files.ts'
import { runProgram } from '../src/platform/program.ts'

const VERSION = 'v0.30.2'
const MODULE = `github.com/smallstep/certificates/cmd/step-ca@${VERSION}`
const BUILD_MS_MAX = 15 * 60_000
const POLL_MS = 1000

/** The path of step-ca, built if need be; undefined where there is no Go, which is an error under CI. */
export async function ensureStepCa(): Promise<string | undefined> {
  const path = stepCaPath()
  if (await exists(path)) return path
  if (!(await hasGo())) {
    if (process.env['CI'] !== 'true') return undefined
    throw new SvcError('no_go', 'step-ca is needed under CI=true, and there is no Go to build it')
  }
  await mkdir(dirname(path), { recursive: true })
  const lock = await waitForLock(join(dirname(path), 'build.lock'))
  try {
    // Another process may have built it while this one waited.
    if (!(await exists(path))) await build(path)
  } finally {
    lock.release()
  }
  return path
}

function stepCaPath(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'cartorio', `step-ca-${VERSION}`, 'step-ca')
}

async function hasGo(): Promise<boolean> {
  try {
    return (await run('go', ['version'], {}, 'ignore')) === 0
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false
    throw error
  }
}

async function waitForLock(path: string): Promise<FileLock> {
  const deadlineMs = systemClock.now().getTime() + BUILD_MS_MAX
  while (systemClock.now().getTime() < deadlineMs) {
    const lock = tryLockFile(path)
    if (lock !== undefined) return lock
    await systemClock.sleep(POLL_MS)
  }
  throw new SvcError(
    'build_locked',
    `another process has been building step-ca for too long: ${path}`,
  )
}

/** Built in a directory of its own and renamed, so that nobody ever runs half a program. */
async function build(path: string): Promise<void> {
  process.stderr.write(`building step-ca ${VERSION} (about three minutes the first time)\n`)
  const staging = await mkdtemp(join(dirname(path), 'build-'))
  try {
    const status = await run(
      'go',
      ['install', MODULE],
      { CGO_ENABLED: '0', GOBIN: staging },
      'inherit',
    )
    if (status !== 0) throw new SvcError('build_failed', `go install ${MODULE} failed`)
    await rename(join(staging, 'step-ca'), path)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  process.stderr.write(`step-ca is at ${path}\n`)
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

if (import.meta.main) {
  await runProgram('install-step-ca', async () => {
    const path = await ensureStepCa()
    if (path === undefined) throw new SvcError('no_go', 'there is no Go to build step-ca with')
    process.stdout.write(`${path}\n`)
  })
}
