// A reporter that says how many files knip looked at: a checker that sees nothing finds no fault either.

import type { ReporterOptions } from 'knip'

// oxlint-disable-next-line import/no-default-export -- knip takes a reporter by its default export
export default function reportCount({ counters }: ReporterOptions): void {
  process.stdout.write(`knip looked at ${counters.processed} files\n`)
}
