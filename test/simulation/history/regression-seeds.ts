// Seeds whose histories were wrong once, each with what it found: `regression-seeds.txt`.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HubCount } from './run-history.ts'

export interface RegressionSeed {
  readonly seed: number
  readonly hubs: HubCount
  readonly found: string
}

const PATH = fileURLToPath(new URL('regression-seeds.txt', import.meta.url))

export function readRegressionSeeds(): RegressionSeed[] {
  return readFileSync(PATH, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [seed = '', hubs, ...found] = line.split(/\s+/)
      return { seed: Number(seed), hubs: hubs === '2' ? 2 : 1, found: found.join(' ') }
    })
}
