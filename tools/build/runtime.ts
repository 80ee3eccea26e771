// The Node that goes into a single executable: the pinned one without its symbols. They have to go before anything is
// injected; a stripped executable that had something injected before crashes.

import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errnoCode, UserError } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'

const CACHE = join(ROOT, 'node_modules/.cache/cartorio')

/** The path of the pinned Node itself. */
export function pinnedNode(): string {
  const path = join(ROOT, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (existsSync(path)) return path
  throw new UserError('node_missing', `there is no pinned Node at ${path}`, {
    hint: 'run npm ci; Linux on x64 and arm64 is supported',
  })
}

/** Made once and kept below node_modules, since it takes seconds. */
export function strippedNode(): string {
  const source = pinnedNode()
  const { size } = statSync(source)
  const path = join(CACHE, `node-${process.versions.node}-${process.arch}-${size}-stripped`)
  if (existsSync(path)) return path
  mkdirSync(CACHE, { recursive: true })
  const staged = `${path}.${process.pid}`
  try {
    strip(source, staged)
    // Two builds at once make the same file.
    renameSync(staged, path)
  } finally {
    rmSync(staged, { force: true })
  }
  return path
}

function strip(source: string, target: string): void {
  try {
    execFileSync('strip', ['-o', target, source], { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error
    process.stderr.write('build: there is no strip (binutils): the executable is larger for it\n')
    copyFileSync(source, target)
  }
}
