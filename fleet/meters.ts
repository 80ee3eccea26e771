// What the processes of a fleet have spent, and what the rest of the machine did meanwhile.

import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { cpuSeconds, residentMegabytes } from '../bench/daemon.ts'
import { errnoCode } from '../src/platform/errors.ts'
import type { FleetWorld } from './fleet-world.ts'

export interface Reading {
  readonly atSeconds: number
  /** A hub that was started again counts from nothing. */
  readonly hubPid: number
  readonly hubSeconds: number
  readonly hubMegabytes: number
  readonly authoritySeconds: number
  readonly driverSeconds: number
  /** Of all processes of the machine. */
  readonly machineSeconds: number
}

export async function readMeters({ hub, authority, driver }: FleetWorld): Promise<Reading> {
  return {
    atSeconds: performance.now() / 1000,
    hubPid: hub.pid,
    hubSeconds: await unlessGone(cpuSeconds(hub.pid)),
    hubMegabytes: await unlessGone(residentMegabytes(hub.pid)),
    authoritySeconds: await unlessGone(cpuSeconds(authority.pid)),
    driverSeconds: await unlessGone(cpuSeconds(driver.pid)),
    machineSeconds: await machineSeconds(),
  }
}

/** proc_stat(5): all but idle and iowait, in 1/100 s; what guests take is in user and nice already. */
async function machineSeconds(): Promise<number> {
  const stat = await readFile('/proc/stat', 'utf8')
  const [user, nice, system, , , irq, softirq, steal] = (stat.split('\n')[0] ?? '')
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const busy = [user, nice, system, irq, softirq, steal]
  return busy.reduce((sum: number, ticks) => sum + (ticks ?? 0), 0) / 100
}

/** Killed on purpose, or not started yet. */
async function unlessGone(figure: Promise<number>): Promise<number> {
  try {
    const value = await figure
    return Number.isNaN(value) ? 0 : value
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(errnoCode(error) ?? '')) return 0
    throw error
  }
}
