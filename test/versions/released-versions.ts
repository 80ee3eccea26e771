// The programs of every released version, as its commit has them, with the dependencies of its own lockfile: put into
// the user's cache once, from the objects of this repository.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { systemClock } from '../../src/platform/clock.ts'
import { SvcError } from '../../src/platform/errors.ts'
import { tryLockFile, type FileLock } from '../../src/platform/file-lock.ts'
import { exists } from '../../src/platform/files.ts'
import { ROOT } from '../../tools/source-files.ts'

export interface ReleasedVersion {
  readonly version: string
  /** Its checkout, whether it is there or not. */
  readonly directory: string
  /** The checkout's bin/. */
  readonly programs: string
  /** Why it cannot be run here. */
  readonly skip: string | false
}

export interface ReleaseSources {
  readonly version: string
  readonly commit: string
  /** The repository whose objects have the commit. */
  readonly repository: string
  /** Where the checkouts are kept. */
  readonly cache: string
  readonly isCi: boolean
}

const INSTALL_MS_MAX = 10 * 60_000
const POLL_MS = 250

/** The oldest and the newest of releases.json, with TEST_VERSIONS=all every one; oldest first. */
export async function ensureReleasedVersions(): Promise<ReleasedVersion[]> {
  const releases = JSON.parse(await readFile(join(ROOT, 'releases.json'), 'utf8')) as Record<
    string,
    { commit: string }
  >
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const versions: ReleasedVersion[] = []
  const all = Object.entries(releases)
  const chosen = process.env['TEST_VERSIONS'] === 'all' ? all : [all[0], all.at(-1)]
  for (const [version, { commit }] of new Map(chosen.filter((one) => one !== undefined))) {
    versions.push(
      await ensureReleasedVersion({
        version,
        commit,
        repository: ROOT,
        cache: join(cache, 'cartorio', 'released'),
        isCi: process.env['CI'] === 'true',
      }),
    )
  }
  return versions
}

/** A clone that lacks the commit is a reason to skip, and an error under CI. */
export async function ensureReleasedVersion(sources: ReleaseSources): Promise<ReleasedVersion> {
  const { version, commit, cache, isCi } = sources
  const directory = join(cache, commit)
  const released = { version, directory, programs: join(directory, 'bin'), skip: false } as const
  if (await exists(directory)) return released
  if (!(await hasCommit(sources))) {
    const reason = `version ${version} is commit ${commit}, which this clone does not have`
    if (!isCi) return { ...released, skip: reason }
    throw new SvcError('no_commit', `${reason}: CI=true needs one with its whole history`)
  }
  await mkdir(cache, { recursive: true })
  const lock = await waitForLock(join(cache, 'install.lock'))
  try {
    // Another process may have done it while this one waited.
    if (!(await exists(directory))) await install(sources, directory)
  } finally {
    lock.release()
  }
  return released
}

async function hasCommit({ repository, commit }: ReleaseSources): Promise<boolean> {
  const { status } = await run('git', [
    ...inRepository(repository),
    'cat-file',
    '-e',
    `${commit}^{tree}`,
  ])
  return status === 0
}

/** Another user's clone will do: nothing is run that its configuration could change. */
function inRepository(path: string): string[] {
  return ['-C', path, '-c', `safe.directory=${path}`]
}

async function waitForLock(path: string): Promise<FileLock> {
  const deadlineMs = systemClock.now().getTime() + INSTALL_MS_MAX
  while (systemClock.now().getTime() < deadlineMs) {
    const lock = tryLockFile(path)
    if (lock !== undefined) return lock
    await systemClock.sleep(POLL_MS)
  }
  throw new SvcError('install_locked', `another process has held ${path} for too long`)
}

/** Made in a directory of its own and renamed, so that nobody ever runs half a version. */
async function install(
  { repository, version, commit }: ReleaseSources,
  checkout: string,
): Promise<void> {
  process.stderr.write(`installing version ${version} (seconds, the first time)\n`)
  const staging = await mkdtemp(join(dirname(checkout), 'install-'))
  try {
    const archive = join(staging, 'archive.tar')
    const tree = join(staging, 'tree')
    await mkdir(tree)
    await must('git', [
      ...inRepository(repository),
      'archive',
      '--format=tar',
      '-o',
      archive,
      commit,
    ])
    await must('tar', ['-xf', archive, '-C', tree])
    // What it takes to run: the pinned Node is one of the optional dependencies.
    await must(
      'npm',
      ['ci', '--prefix', tree, '--ignore-scripts', '--omit=dev', '--prefer-offline'],
      tree,
    )
    await rename(tree, checkout)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function must(command: string, args: readonly string[], directory = ROOT): Promise<void> {
  const { status, output } = await run(command, args, directory)
  if (status === 0) return
  throw new SvcError('install_failed', `${command} ${args.join(' ')} failed: ${output}`)
}

async function run(
  command: string,
  args: readonly string[],
  cwd = ROOT,
): Promise<{ readonly status: number | null; readonly output: string }> {
  const child = spawn(command, args, {
    cwd,
    env: environmentForTools(),
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.timeout(INSTALL_MS_MAX),
  })
  // Rejects with the spawn error when there is no such program.
  const [[status], output] = await Promise.all([
    once(child, 'exit') as Promise<[number | null]>,
    text(child.stderr),
  ])
  return { status, output }
}

/** What `npm test` and the test runner say of this tree is not about the one that is installed. */
function environmentForTools(): NodeJS.ProcessEnv {
  const ours = /^(?:NODE_|GIT_|npm_(?:package|lifecycle|command|execpath|config_local_prefix))/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}
