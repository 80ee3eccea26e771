// fleet/driver, built with the machine's Go and spoken to in JSON lines.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pinned, stop } from '../bench/daemon.ts'
import { UserError } from '../src/platform/errors.ts'
import { createSerialQueue } from '../src/platform/serial-queue.ts'
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
  const program = join(directory, 'driver')
  mkdirSync(directory, { recursive: true })
  const build = spawnSync('go', ['build', '-o', program, '.'], { cwd: SOURCE, encoding: 'utf8' })
  if (build.error !== undefined) {
    throw new UserError('no_go', 'the driver is written in Go, and there is no go here', {
      hint: 'install Go 1.21 or newer; nothing is downloaded for the build',
    })
  }
  if (build.status !== 0) throw new UserError('fleet', `go build failed:\n${build.stderr}`)
  return program
}

export function startDriver(path: string, cores: string | undefined): Driver {
  const [program, ...args] = pinned([path], cores)
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })
  const closed = once(answers, 'close')
  const turns = createSerialQueue()
  const ask = async (command: object): Promise<unknown> => {
    const answered = once(answers, 'line') as Promise<[string]>
    child.stdin.write(`${JSON.stringify(command)}\n`)
    const [line] = (await Promise.race([answered, closed])) as [string?]
    if (line === undefined) throw new UserError('fleet', 'the driver ended')
    const answer = JSON.parse(line) as { error?: string }
    if (answer.error !== undefined) throw new UserError('fleet', answer.error)
    return answer
  }
  const send = (command: object): Promise<unknown> => turns.run(() => ask(command))
  return {
    pid: child.pid ?? 0,
    send,
    sample: async () => (await send({ do: 'sample' })) as Sample,
    [Symbol.asyncDispose]: () => stop(child),
  }
}
