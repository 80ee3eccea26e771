// How property tests run. fast-check prints the seed of a failure; FC_SEED repeats it, FC_RUNS looks harder.

import type { Parameters } from 'fast-check'

/** `runs` is what a test can afford in everyday use. */
export function propertyRuns<Values = unknown>(runs = 200): Parameters<Values> {
  const seed = process.env['FC_SEED'] ?? ''
  const wanted = process.env['FC_RUNS'] ?? ''
  return {
    numRuns: wanted === '' ? runs : Number(wanted),
    ...(seed === '' ? {} : { seed: Number(seed) }),
  }
}
