// Whether the tests with real services can run here. CI has to have all that they need.

import { globSync } from 'node:fs'
import { withTools } from '../../support/tools.ts'

/** For the `skip` of a suite: why it cannot run, or false. In CI nothing is skipped; there it then fails, and says why. */
export function skipUnlessRunnable(programs: readonly string[]): string | false {
  if (process.geteuid?.() !== 0 && process.env['CI'] !== 'true') {
    return 'only root has places that nobody else can write in'
  }
  return withTools(...programs).skip
}

/** Debian keeps these where no PATH leads, one directory for each version: the newest. */
export function postgresProgram(name: string): string {
  return globSync(`/usr/lib/postgresql/*/bin/${name}`).sort().at(-1) ?? name
}
