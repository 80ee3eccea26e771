// A clock that is set while programs run by it: libfaketime reads what it shows from a file. Timers go on by the real
// one, as they do when an operator or NTP sets a machine's clock.

import { access, rename, writeFile } from 'node:fs/promises'
import type { Variables } from '../../test/support/processes.ts'

export interface FakedClock {
  /** Of the programs that go by it. */
  readonly environment: Variables
  readonly offsetMs: number
  /** From now on it shows the real time and this. */
  set(offsetMs: number): Promise<void>
}

const LIBRARIES = ['x86_64', 'aarch64'].map(
  (machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`,
)

/** Undefined where there is none. */
export async function findFaketimeLibrary(): Promise<string | undefined> {
  for (const path of LIBRARIES) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

export async function createFakedClock(library: string, path: string): Promise<FakedClock> {
  let shown = 0
  const set = async (offsetMs: number): Promise<void> => {
    shown = offsetMs
    // In one rename: an empty file would be the real time for a moment.
    await writeFile(`${path}.new`, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1000}\n`)
    await rename(`${path}.new`, path)
  }
  await set(0)
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    get offsetMs() {
      return shown
    },
    set,
  }
}
