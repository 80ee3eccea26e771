// A program from PyPI, installed once into a virtual environment of its own in the user's cache.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/platform/clock.ts'
import { errnoCode, SvcError } from '../src/platform/errors.ts'
import { tryLockFile, type FileLock } from '../src/platform/file-lock.ts'
import { exists } from '../src/platform/files.ts'

const INSTALL_MS_MAX = 5 * 60_000
const POLL_MS = 1000

export interface PythonPackage {
  readonly name: string
  readonly version: string
  /** What `python3 -m` runs. */
  readonly module: string
}

/** How it is run: a virtual environment's Python, since its programs name the place where they were made. */
export type PythonProgram = readonly [python: string, ...args: string[]]

/** Installed if need be; undefined where that cannot be done, which is an error under CI. */
export async function ensurePythonProgram(
  wanted: PythonPackage,
): Promise<PythonProgram | undefined> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'cartorio')
  const place = join(cache, `${wanted.name}-${wanted.version}`)
  const program: PythonProgram = [join(place, 'bin', 'python3'), '-m', wanted.module]
  if (await exists(place)) return program
  await mkdir(cache, { recursive: true })
  const lock = await waitForLock(`${place}.lock`)
  try {
    // Another process may have installed it while this one waited.
    if (!(await exists(place))) await install(wanted, place)
    return program
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    return undefined
  } finally {
    lock.release()
  }
}

async function waitForLock(path: string): Promise<FileLock> {
  const deadlineMs = systemClock.now().getTime() + INSTALL_MS_MAX
  while (systemClock.now().getTime() < deadlineMs) {
    const lock = tryLockFile(path)
    if (lock !== undefined) return lock
    await systemClock.sleep(POLL_MS)
  }
  throw new SvcError('install_locked', `another process has been installing for too long: ${path}`)
}

/** Made beside its place and renamed, so that nobody ever runs half of it. */
async function install({ name, version }: PythonPackage, place: string): Promise<void> {
  process.stderr.write(`installing ${name} ${version} (about half a minute the first time)\n`)
  const staging = `${place}.new`
  await rm(staging, { recursive: true, force: true })
  try {
    await run(['/usr/bin/python3', '-m', 'venv', staging])
    const pip = [join(staging, 'bin', 'python3'), '-m', 'pip'] as const
    await run([...pip, 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`])
    await rename(staging, place)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function run([command, ...args]: readonly [string, ...string[]]): Promise<void> {
  // What a tool says about its work is not this program's result, so it goes to stderr.
  const child = spawn(command, args, {
    stdio: ['ignore', 2, 2],
    signal: AbortSignal.timeout(INSTALL_MS_MAX),
  })
  try {
    const [status] = (await once(child, 'exit')) as [number | null]
    if (status === 0) return
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error
  }
  throw new SvcError('install_failed', `${command} ${args.join(' ')} failed`, {
    hint: 'python3-venv and a way to PyPI are needed',
  })
}
