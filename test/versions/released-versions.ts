// The programs of every released version, as its commit has them, with the dependencies of its own lockfile: put into
// the user's cache once, from the objects of this repository.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SvcError } from '../../src/platform/errors.ts'
import { exists } from '../../src/platform/files.ts'
import { INSTALL_MS_MAX, installOnce, placeInCache } from '../../tools/install-once.ts'
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

/** The oldest and the newest of releases.json, with TEST_VERSIONS=all every one; oldest first. */
export async function ensureReleasedVersions(): Promise<ReleasedVersion[]> {
  const versions: ReleasedVersion[] = []
  for (const sources of await chooseReleases('released')) {
    versions.push(await ensureReleasedVersion(sources))
  }
  return versions
}

/** What is made of each is kept in the cache under that name. */
export async function chooseReleases(cacheName: string): Promise<ReleaseSources[]> {
  const releases = JSON.parse(await readFile(join(ROOT, 'releases.json'), 'utf8')) as Record<
    string,
    { commit: string }
  >
  const all = Object.entries(releases)
  const chosen = process.env['TEST_VERSIONS'] === 'all' ? all : [all[0], all.at(-1)]
  const cache = placeInCache(cacheName)
  const isCi = process.env['CI'] === 'true'
  return [...new Map(chosen.filter((one) => one !== undefined))].map(([version, { commit }]) => ({
    version,
    commit,
    repository: ROOT,
    cache,
    isCi,
  }))
}

export async function ensureReleasedVersion(sources: ReleaseSources): Promise<ReleasedVersion> {
  const made = await ensureMadeOf(sources, async (staging) => {
    const { version } = sources
    process.stderr.write(`installing version ${version} (seconds, the first time)\n`)
    await unpackInto(staging, sources)
    // What it takes to run: the pinned Node is one of the optional dependencies.
    await installDependencies(staging, '--omit=dev')
  })
  return { ...made, programs: join(made.directory, 'bin') }
}

/** A clone that lacks the commit is a reason to skip, and an error under CI. */
export async function ensureMadeOf(
  sources: ReleaseSources,
  make: (staging: string) => Promise<void>,
): Promise<Omit<ReleasedVersion, 'programs'>> {
  const { version, commit, cache, isCi } = sources
  const directory = join(cache, commit)
  const made = { version, directory, skip: false } as const
  if (await exists(directory)) return made
  if (!(await hasCommit(sources))) {
    const reason = `version ${version} is commit ${commit}, which this clone does not have`
    if (!isCi) return { ...made, skip: reason }
    throw new SvcError('no_commit', `${reason}: CI=true needs one with its whole history`)
  }
  await installOnce(directory, make)
  return made
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

export async function unpackInto(
  directory: string,
  { repository, commit }: ReleaseSources,
): Promise<void> {
  const archive = join(directory, 'archive.tar')
  const tree = [...inRepository(repository), 'archive', '--format=tar', '-o', archive, commit]
  await must('git', tree)
  await must('tar', ['-xf', archive, '-C', directory])
  await rm(archive)
}

/** As its own lockfile has them. */
export async function installDependencies(
  directory: string,
  ...options: readonly string[]
): Promise<void> {
  const npm = ['ci', '--prefix', directory, '--ignore-scripts', '--prefer-offline', ...options]
  await must('npm', npm, directory)
}

/** Runs a command to its end; one that fails is an error with what it printed. */
export async function must(
  command: string,
  args: readonly string[],
  directory = ROOT,
): Promise<void> {
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

/** What `npm test` and the test runner say of this tree is not about the one that is installed; whom npm trusts is. */
function environmentForTools(): NodeJS.ProcessEnv {
  const ours =
    /^(?:NODE_(?!EXTRA_CA_CERTS$)|GIT_|npm_(?:package|lifecycle|command|execpath|config_local_prefix))/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}
