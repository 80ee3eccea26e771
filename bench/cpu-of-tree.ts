// CPU time as the kernel counts it, which another program on the same core does not change: what the rows are judged by.

import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

const TICKS_PER_SECOND = 100
const MS_PER_TICK = 1000 / TICKS_PER_SECOND

/** What a process, all its threads and its children have spent so far, user and system; to the nearest 10 ms. */
export async function cpuMsOfTree(pid: number): Promise<number> {
  const children = await childrenOf(pid)
  const spent = await Promise.all([cpuMsOf(pid), ...children.map(cpuMsOfTree)])
  return spent.reduce((sum, ms) => sum + ms, 0)
}

/** What all children of this process spent that have ended. */
export function cpuMsOfEndedChildren(): number {
  return sumTicks(readFileSync('/proc/self/stat', 'utf8'), 13, 15)
}

async function cpuMsOf(pid: number): Promise<number> {
  return sumTicks(await readUnlessEnded(`/proc/${pid}/stat`), 11, 15)
}

/** proc(5): after the name in brackets, which may hold anything, utime and stime, and those of the children that have ended. */
function sumTicks(stat: string, from: number, to: number): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(from, to).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(
    threads.map((thread) => readUnlessEnded(`/proc/${pid}/task/${thread}/children`)),
  )
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

/** A thread may end at any time; what it spent is the process's, and what a child spent is its parent's then. */
async function readUnlessEnded(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}
