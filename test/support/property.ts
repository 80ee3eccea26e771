// How property tests run. fast-check prints the seed of a failure; FC_SEED repeats it, FC_RUNS looks harder.

import * as fc from 'fast-check'

/** `runs` is what a test can afford in everyday use. */
export function propertyRuns<Values = unknown>(runs = 200): fc.Parameters<Values> {
  const seed = process.env['FC_SEED'] ?? ''
  const wanted = process.env['FC_RUNS'] ?? ''
  return {
    numRuns: wanted === '' ? runs : Number(wanted),
    ...(seed === '' ? {} : { seed: Number(seed) }),
  }
}

/** Any string that JavaScript can hold, lone surrogates too; fast-check's own takes seconds to build. */
export function anyText(charactersMax = 60): fc.Arbitrary<string> {
  const character = fc.oneof(fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 0xffff }))
  return fc
    .array(character, { maxLength: charactersMax })
    .map((codes) => String.fromCharCode(...codes))
}
