// Faults of the disk as the kernel would report them: strace answers the n-th call of a kind in its place. It counts the
// calls of each thread by itself.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { invariant } from '../../../src/platform/errors.ts'
import { pathOfTool } from '../../../test/support/tools.ts'

export const FAULT_CALLS = ['pwrite64', 'fsync', 'fdatasync', 'rename'] as const
export type FaultCall = (typeof FAULT_CALLS)[number] | 'write'
export type FaultError = 'EIO' | 'ENOSPC'

export interface Fault {
  readonly call: FaultCall
  readonly error: FaultError
  /** From 1. */
  readonly nth: number
  /** Every later one fails too. */
  readonly isLasting: boolean
  /** Only calls on this file. */
  readonly path?: string
}

export interface Tracer {
  /** Lets the process go on alone, and answers the calls that were made to fail. */
  detach(): Promise<string[]>
}

export function describeFault({ call, error, nth, isLasting }: Fault): string {
  return `${error} at ${call} ${nth}${isLasting ? ' and all later ones' : ''}`
}

/** Options of strace, without the process that it is for. */
export function straceOptions({ call, error, nth, isLasting, path }: Fault, log: string): string[] {
  const when = `${nth}${isLasting ? '+' : ''}`
  const inject = `inject=${call}:error=${error}:when=${when}`
  const onPath = path === undefined ? [] : ['-P', path]
  const quiet = ['-f', '-y', '-s', '0', '-e', 'signal=none']
  return [...quiet, '-o', log, '-e', `trace=${call}`, '-e', inject, ...onPath]
}

/** Resolves when every thread of the process is under strace's eyes. */
export async function attachStrace(pid: number, fault: Fault, log: string): Promise<Tracer> {
  const options = [...straceOptions(fault, log), '-p', String(pid)]
  const strace = spawn(pathOfTool('strace'), options, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(strace, 'exit')
  const said: string[] = []
  await new Promise<void>((resolve, reject) => {
    strace.on('error', reject)
    strace.on('exit', () => reject(new Error(`strace ended: ${said.join('')}`)))
    strace.stderr.on('data', (chunk: Buffer) => {
      said.push(chunk.toString())
      if (said.join('').includes(' attached')) resolve()
    })
  })
  return {
    detach: async () => {
      strace.kill('SIGINT')
      await ended
      return readInjected(log)
    },
  }
}

/** The calls in this log that were made to fail. */
export async function readInjected(log: string): Promise<string[]> {
  return (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes('(INJECTED)'))
}

/** Why faults cannot be injected here; undefined when they can. */
export async function findStraceObstacle(log: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'strace is a Linux tool'
  const victim = spawn('sleep', ['60'], { stdio: 'ignore' })
  try {
    invariant(victim.pid, 'sleep was started')
    const fault: Fault = { call: 'fsync', error: 'EIO', nth: 1, isLasting: false }
    await (await attachStrace(victim.pid, fault, log)).detach()
    return undefined
  } catch (error) {
    return `strace cannot be used: ${String(error)}`
  } finally {
    victim.kill('SIGKILL')
  }
}
