// Runs one row in a directory of its own; what it throws is a broken promise too.

import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { describeError } from '../src/platform/errors.ts'
import { createSeededRandom } from '../test/simulation/seeded-random.ts'
import { makeOwnDirectory } from '../test/support/own-place.ts'
import type { ReliabilityRow, RowResult, Setting } from './row.ts'

export interface RunOptions {
  readonly setting: Setting
  readonly seed: number
  progress(text: string): void
}

export async function runRow(row: ReliabilityRow, options: RunOptions): Promise<RowResult> {
  const directory = await makeOwnDirectory('cartorio-reliability-')
  try {
    return await row.run({
      setting: options.setting,
      random: createSeededRandom(seedOf(row.name, options.seed)),
      directory,
      progress: (text) => options.progress(`${row.name}: ${text}`),
    })
  } catch (error) {
    return { tried: 'ended early', broken: [describeError(error)] }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function seedOf(name: string, seed: number): number {
  return createHash('sha256').update(`${seed} ${name}`).digest().readUInt32LE(0)
}
