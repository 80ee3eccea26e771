// Whether the tests with real services can run here. CI has to have all that they need.

import { accessSync, constants, globSync } from 'node:fs'
import { join } from 'node:path'

const SEARCH_PATH = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** For the `skip` of a suite: why it cannot run, or false. In CI nothing is skipped; there it then fails, and says why. */
export function skipUnlessRunnable(programs: readonly string[]): string | false {
  const missing = programs.filter((program) => findProgram(program) === undefined)
  const reasons = [
    ...(process.geteuid?.() === 0 ? [] : ['only root has places that nobody else can write in']),
    ...missing.map((program) => `${program} is not installed`),
  ]
  return reasons.length === 0 || process.env['CI'] === 'true' ? false : reasons.join('; ')
}

/** Debian keeps these where no PATH leads, one directory for each version: the newest. */
export function postgresProgram(name: string): string {
  return globSync(`/usr/lib/postgresql/*/bin/${name}`).sort().at(-1) ?? name
}

function findProgram(program: string): string | undefined {
  const candidates = program.startsWith('/')
    ? [program]
    : SEARCH_PATH.map((directory) => join(directory, program))
  return candidates.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
