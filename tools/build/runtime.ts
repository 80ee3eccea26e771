// The Node that goes into a single executable: the pinned one without its symbols. They have to go before anything is
// injected; a stripped executable that had something injected before crashes.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errnoCode, UserError } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'
import { type Architecture, GNU_NAMES, ownArchitecture } from './architecture.ts'
import { BUILD_CACHE } from './build-cache.ts'
import { foreignNodePackage } from './foreign-node.ts'

/** The path of the pinned Node itself, which runs here. */
export function pinnedNode(): string {
  const path = join(installedNodePackage(), 'bin/node')
  if (existsSync(path)) return path
  throw new UserError('node_missing', `there is no pinned Node at ${path}`, {
    hint: 'run npm ci; Linux on x64 and arm64 is supported',
  })
}

/** The directory of the pinned Node's package, for any architecture. */
export function nodePackage(architecture: Architecture): string {
  return architecture === process.arch ? installedNodePackage() : foreignNodePackage(architecture)
}

function installedNodePackage(): string {
  return join(ROOT, `node_modules/node-${process.platform}-${process.arch}`)
}

/** Made once and kept below node_modules, since it takes seconds. */
export function strippedNode(architecture: Architecture = ownArchitecture()): string {
  const isOwn = architecture === process.arch
  const source = isOwn ? pinnedNode() : join(nodePackage(architecture), 'bin/node')
  const { size } = statSync(source)
  const path = join(BUILD_CACHE, `node-${process.versions.node}-${architecture}-${size}-stripped`)
  if (existsSync(path)) return path
  mkdirSync(BUILD_CACHE, { recursive: true })
  const staged = `${path}.${process.pid}`
  try {
    if (!strip(isOwn ? 'strip' : `${GNU_NAMES[architecture]}-linux-gnu-strip`, source, staged)) {
      return source
    }
    // Two builds at once make the same file.
    renameSync(staged, path)
  } finally {
    rmSync(staged, { force: true })
  }
  return path
}

/** Whether it could. */
function strip(program: string, source: string, target: string): boolean {
  try {
    execFileSync(program, ['-o', target, source], { stdio: ['ignore', 'ignore', 'pipe'] })
    return true
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error
    process.stderr.write(
      `build: there is no ${program} (binutils): the executable is larger for it\n`,
    )
    return false
  }
}
