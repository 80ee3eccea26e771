// bench/load, built with the machine's Go and spoken to in JSON lines.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildNeededGoProgram, startTalkingProgram } from '../tools/talking-program.ts'
import { cpuMsOfTree } from './cpu-of-tree.ts'

export interface Measurement {
  readonly count: number
  readonly seconds: number
  readonly p99Ms: number
  readonly maxMs: number
  /** What each process of `pids` spent meanwhile. */
  readonly cpuMs: readonly number[]
}

export interface LoadGenerator extends AsyncDisposable {
  readonly pid: number
  send(command: { readonly do: string; readonly [field: string]: unknown }): Promise<unknown>
  measure(name: string, options: MeasureOptions): Promise<Measurement>
}

export interface MeasureOptions {
  /**
   * Of CPU, of the first process: on a busy machine that takes longer, and so every measurement has as many operations. Of the clock
   * where there is no process.
   */
  readonly seconds: number
  /** Those whose CPU time is asked for, with that of their children. */
  readonly pids: readonly number[]
  /** 16 unless given. */
  readonly clients?: number | undefined
  /** Of each client, one after the other; as fast as it can unless given. */
  readonly perSecond?: number | undefined
  readonly address?: string | undefined
  readonly path?: string | undefined
  /** Handshakes without the post-quantum key exchange. */
  readonly isClassic?: boolean | undefined
}

/** Of the CPU time that was asked for; a saturated core spends a little less in that time of the clock. */
const ENOUGH = 0.8
const RUNS_MAX = 10
const SOURCE = fileURLToPath(new URL('./load', import.meta.url))

/** The path of the built program. */
export function buildLoadGenerator(cacheDirectory: string): string {
  return buildNeededGoProgram('the load generator', SOURCE, join(cacheDirectory, 'load'))
}

export function startLoadGenerator(built: string): LoadGenerator {
  const program = startTalkingProgram('the load generator', [built])
  const { ask } = program
  return {
    pid: program.pid,
    send: ask,
    measure: async (name, { seconds, pids, clients, perSecond, address, path, isClassic }) => {
      // Connections are open and have been used before CPU time is first read.
      await ask({ do: 'ready', name, clients, address, path, is_classic: isClassic })
      const before = await Promise.all(pids.map(cpuMsOfTree))
      for (let runs = 1, countBefore = 0; ; runs += 1) {
        const ran = await ask({ do: 'run', seconds, per_second: perSecond })
        const { count, seconds: took, p99_ms: p99Ms, max_ms: maxMs } = ran as Run
        const after = await Promise.all(pids.map(cpuMsOfTree))
        const cpuMs = after.map((spent, index) => spent - (before[index] ?? 0))
        const isEnough = (cpuMs[0] ?? Number.POSITIVE_INFINITY) >= seconds * 1000 * ENOUGH
        const isEnd = runs === RUNS_MAX || count === countBefore
        if (isEnough || isEnd) return { count, seconds: took, p99Ms, maxMs, cpuMs }
        countBefore = count
      }
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

/** The shape is that of measure.go. */
interface Run {
  readonly count: number
  readonly seconds: number
  readonly p99_ms: number
  readonly max_ms: number
}
