// The Debian packages of released versions, as `npm run release` of their commits makes them: put into the user's cache once.

import { join } from 'node:path'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { DEBIAN_NAMES, ownArchitecture } from '../../tools/build/architecture.ts'
import {
  chooseReleases,
  ensureMadeOf,
  installDependencies,
  must,
  type ReleaseSources,
  unpackInto,
} from './released-versions.ts'

export interface ReleasedPackages {
  readonly version: string
  /** Holds the packages, and nothing else. */
  readonly directory: string
  /** Why there are none here. */
  readonly skip: string | false
}

/** Of the oldest and the newest of releases.json, with TEST_VERSIONS=all of every one; oldest first. */
export async function ensureReleasedPackages(): Promise<ReleasedPackages[]> {
  const packages: ReleasedPackages[] = []
  for (const sources of await chooseReleases('released-packages')) {
    packages.push(await ensureMadeOf(sources, (staging) => makePackages(sources, staging)))
  }
  return packages
}

async function makePackages(sources: ReleaseSources, staging: string): Promise<void> {
  process.stderr.write(
    `making the packages of version ${sources.version} (half a minute, the first time)\n`,
  )
  const checkout = join(staging, 'checkout')
  await mkdir(checkout)
  await unpackInto(checkout, sources)
  await installDependencies(checkout)
  // The checkout is no repository that could say when it was.
  const release = [join(checkout, 'node_modules/.bin/node'), join(checkout, 'tools/release.ts')]
  await must('env', ['SOURCE_DATE_EPOCH=0', ...release], checkout)
  const made = join(checkout, 'dist/release')
  // Newer versions make those of the other architecture too.
  const suffix = `_${DEBIAN_NAMES[ownArchitecture()]}.deb`
  const names = (await readdir(made)).filter((name) => name.endsWith(suffix))
  for (const name of names) await rename(join(made, name), join(staging, name))
  await rm(checkout, { recursive: true })
}
