// Holds package-lock.json to hashes: what has none is installed as it comes, unchecked, and npm says nothing of it.
// `node tools/lockfile.ts` prints the faults.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './source-files.ts'

interface LockedPackage {
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
}

export interface LockedPackages {
  readonly count: number
  readonly faults: readonly string[]
}

/** One hash of the strongest kind that npm knows; of several it takes the strongest, of `sha1` alone that. */
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/
const REGISTRY = 'https://registry.npmjs.org/'

export function checkLockfile(text: string): LockedPackages {
  const { packages = {} } = JSON.parse(text) as { packages?: Record<string, LockedPackage> }
  // The one without a name is this project itself.
  const entries = Object.entries(packages).filter(([path]) => path !== '')
  const faults = entries.flatMap(([path, entry]) => {
    const fault = findFault(entry)
    return fault === undefined ? [] : [`${path}: ${fault}`]
  })
  return { count: entries.length, faults }
}

function findFault({ integrity, resolved, link }: LockedPackage): string | undefined {
  if (link !== undefined) return 'is a link to somewhere else'
  if (resolved !== undefined && !resolved.startsWith(REGISTRY)) {
    return `comes from ${resolved}`
  }
  if (integrity === undefined) return 'has no integrity'
  return INTEGRITY.test(integrity) ? undefined : `has the integrity ${integrity}`
}

if (import.meta.main) {
  const { count, faults } = checkLockfile(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  for (const fault of faults) process.stdout.write(`package-lock.json: ${fault}\n`)
  process.stdout.write(`${faults.length} faults in ${count} locked packages\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
