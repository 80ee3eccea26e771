// For a program that has time: others that need the CPU go first.

import { readdir } from 'node:fs/promises'
import { setPriority } from 'node:os'

const NICENESS = 10

/** All threads of this process: Linux knows niceness by the thread, and a new one has that of its maker. */
export async function giveWay(): Promise<void> {
  try {
    for (const thread of await readdir('/proc/self/task')) setPriority(Number(thread), NICENESS)
  } catch {
    // A thread that ended meanwhile, or a system that knows no niceness: a courtesy is no reason to fail.
  }
}
