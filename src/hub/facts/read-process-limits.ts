// What the system allows this process, for `svc doctor`: open files, core dumps, swap. docs/protocol.md DOC-15.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProcessFacts, ProcessLimit } from '../../protocol/admin/examination.ts'

const CGROUPS = '/sys/fs/cgroup'

export async function readProcessLimits(): Promise<ProcessFacts> {
  const limits = await readIfThere('/proc/self/limits')
  return {
    open_files_max: findLimit(limits, 'Max open files'),
    core_bytes_max: findLimit(limits, 'Max core file size'),
    swap_bytes_max: await readSwapLimit(),
  }
}

/** The soft limit of a line of /proc/self/limits. */
export function findLimit(limits: string, name: string): ProcessLimit {
  const line = limits.split('\n').find((each) => each.startsWith(name))
  return line === undefined ? null : parseLimit(line.slice(name.length).trim().split(/\s+/)[0])
}

export function parseLimit(text: string | undefined): ProcessLimit {
  if (text === 'unlimited' || text === 'max' || text === 'infinity') return 'unlimited'
  return text !== undefined && /^\d{1,20}$/.test(text) ? Number(text) : null
}

/** The least of the group and of those that it is in; null where this kernel has no such groups. */
async function readSwapLimit(): Promise<ProcessLimit> {
  const group = /^0::(\/.*)$/m.exec(await readIfThere('/proc/self/cgroup'))?.[1]
  if (group === undefined) return null
  const parts = group.split('/').filter((part) => part !== '')
  const limits = await Promise.all(
    parts.map(async (_part, at) => {
      const path = join(CGROUPS, ...parts.slice(0, at + 1), 'memory.swap.max')
      return parseLimit((await readIfThere(path)).trim())
    }),
  )
  const numbers = limits.filter((limit) => typeof limit === 'number')
  if (numbers.length > 0) return Math.min(...numbers)
  return limits.includes('unlimited') ? 'unlimited' : null
}

async function readIfThere(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
