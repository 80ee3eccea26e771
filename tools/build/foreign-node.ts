// The pinned Node for another architecture than this machine's: npm installs only the one that runs here.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errnoCode, UserError } from '../../src/platform/errors.ts'
import { ROOT } from '../source-files.ts'
import type { Architecture } from './architecture.ts'
import { BUILD_CACHE } from './build-cache.ts'

const FETCH_MS_MAX = 5 * 60_000

interface LockedPackage {
  readonly version: string
  readonly integrity: string
}

/** The directory of its package, fetched from the registry once and checked against the hash in package-lock.json. */
export function foreignNodePackage(architecture: Architecture): string {
  const name = `node-linux-${architecture}`
  const locked = readLocked(name)
  const directory = join(BUILD_CACHE, `${name}-${locked.version}`)
  if (existsSync(directory)) return directory
  mkdirSync(BUILD_CACHE, { recursive: true })
  const staging = mkdtempSync(join(BUILD_CACHE, `.${name}-`))
  try {
    fetchPackage(name, locked, staging)
    renameSync(join(staging, 'package'), directory)
  } catch (error) {
    // Two builds at once fetch the same; the first one stays.
    if (errnoCode(error) !== 'ENOTEMPTY') throw error
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  return directory
}

function fetchPackage(name: string, { version, integrity }: LockedPackage, staging: string): void {
  const pack = ['pack', `${name}@${version}`, '--silent', '--pack-destination', staging]
  const file = execFileSync('npm', pack, {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: FETCH_MS_MAX,
    killSignal: 'SIGKILL',
  }).trim()
  const archive = join(staging, file)
  const hash = createHash('sha512').update(readFileSync(archive)).digest('base64')
  if (`sha512-${hash}` !== integrity) {
    throw new UserError(
      'hash_differs',
      `what the registry has as ${name}@${version} is not what package-lock.json has`,
    )
  }
  execFileSync('tar', ['--extract', '--gzip', '--file', archive, '--directory', staging])
}

function readLocked(name: string): LockedPackage {
  const text = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> }
  const locked = packages[`node_modules/${name}`]
  if (locked !== undefined) return locked
  throw new UserError('package_missing', `package-lock.json has no ${name}`)
}
