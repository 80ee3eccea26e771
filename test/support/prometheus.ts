// Debian's Prometheus. Where it is missing its tests are skipped; with CI=true they have to run.

import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

const isInstalled = ['prometheus', 'promtool'].every((program) =>
  (process.env['PATH'] ?? '').split(':').some((directory) => isExecutable(directory, program)),
)

export const PROMETHEUS: { readonly skip: string | false } = {
  skip:
    isInstalled || process.env['CI'] === 'true'
      ? false
      : 'prometheus and promtool are not installed (apt install prometheus)',
}

function isExecutable(directory: string, program: string): boolean {
  try {
    accessSync(join(directory, program), constants.X_OK)
    return true
  } catch {
    return false
  }
}
