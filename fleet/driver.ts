// fleet/driver, built with the machine's Go and spoken to in JSON lines.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pinned } from '../bench/daemon.ts'
import { buildNeededGoProgram, startTalkingProgram } from '../tools/talking-program.ts'
import type { Latencies } from './latencies.ts'

/** What happened since the last one, and what is held; the shape is that of driver/tally.go. */
export interface Sample {
  readonly latencies: Readonly<Record<string, Latencies>>
  /** `operation: what went wrong`, and how often. */
  readonly failures: Readonly<Record<string, number>>
  readonly streams: number
  readonly connections: number
  /** Of the agents, since the start or the storm. */
  readonly served: number
  readonly served_last_seconds: number
  /** Hosts that could not use their one token. */
  readonly lost_tokens: number
  readonly enrolled: number
  readonly renewed: number
  /** Entregas that were installed, and those of them whose target was put back. */
  readonly delivered: number
  readonly broken: number
  /** Calls to the CA under way, the most since the last sample. */
  readonly ca_at_once: number
  readonly ca_calls: number
  readonly cpu_seconds: number
}

export interface Driver extends AsyncDisposable {
  readonly pid: number
  send(command: { readonly do: string; readonly [field: string]: unknown }): Promise<unknown>
  sample(): Promise<Sample>
}

const SOURCE = fileURLToPath(new URL('./driver', import.meta.url))

/** The path of the built program. */
export function buildDriver(directory: string): string {
  return buildNeededGoProgram('the driver', SOURCE, join(directory, 'driver'))
}

export function startDriver(path: string, cores: string | undefined): Driver {
  const program = startTalkingProgram('the driver', pinned([path], cores))
  return {
    pid: program.pid,
    send: program.ask,
    sample: async () => (await program.ask({ do: 'sample' })) as Sample,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}
