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
  const releases = JSON.parse(await readFile(join(ROOT, 'releases.json'), 'utf8')) as Record<
    string,
    { commit: string }
  >
  const versions: ReleasedVersion[] = []
  const all = Object.entries(releases)
  const chosen = process.env['TEST_VERSIONS'] === 'all' ? all : [all[0], all.at(-1)]
  for (const [version, { commit }] of new Map(chosen.filter((one) => one !== undefined))) {
    versions.push(
      await ensureReleasedVersion({
        version,
        commit,
        repository: ROOT,
        cache: placeInCache('released'),
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
  await installOnce(directory, (staging) => install(sources, staging))
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

async function install(
  { repository, version, commit }: ReleaseSources,
  directory: string,
): Promise<void> {
  process.stderr.write(`installing version ${version} (seconds, the first time)\n`)
  const archive = join(directory, 'archive.tar')
  const tree = [...inRepository(repository), 'archive', '--format=tar', '-o', archive, commit]
  await must('git', tree)
  await must('tar', ['-xf', archive, '-C', directory])
  await rm(archive)
  // What it takes to run: the pinned Node is one of the optional dependencies.
  const npm = ['ci', '--prefix', directory, '--ignore-scripts', '--omit=dev', '--prefer-offline']
  await must('npm', npm, directory)
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
