// One command on a disk that has too little room for it: it fails and says so, nothing that was there is gone, and with room it succeeds.

import { mkdir } from 'node:fs/promises'
import { describeError } from '../../../src/platform/errors.ts'
import { runProgram } from '../../../test/support/processes.ts'
import { isClearExit } from '../faults/process-faults.ts'
import { mountSmallDisk } from '../faults/small-disk.ts'
import type { Work } from './works.ts'

const DISK_BYTES = 128 * 1024 * 1024

export interface FullOutcome {
  /** The room was enough after all. */
  readonly isDone: boolean
  readonly faults: readonly string[]
}

export async function runOnFullDisk(
  work: Work,
  root: string,
  freeBytes: number,
): Promise<FullOutcome> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  await using disk = await mountSmallDisk({ vaultRoot: root }, DISK_BYTES)
  const attempt = await work.prepare(root)
  await disk.fillUpTo(freeBytes)
  const ended = await runProgram('svc', attempt.args, attempt.environment)
  const faults: string[] = []
  if (ended.status !== 0 && !isClearExit(ended)) {
    faults.push(`ended with ${ended.signal ?? ended.status}: ${ended.stderr}`)
  }
  await disk.empty()
  try {
    faults.push(...(await attempt.inspect()), ...(await attempt.again()))
  } catch (error) {
    faults.push(describeError(error))
  }
  const when = `${work.name}, with ${freeBytes / 1024} KiB free`
  return { isDone: ended.status === 0, faults: faults.map((fault) => `${when}: ${fault}`) }
}
