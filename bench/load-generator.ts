// bench/load, built with the machine's Go and spoken to in JSON lines.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { UserError } from '../src/platform/errors.ts'
import { pinned, stop } from './daemon.ts'

export interface Measurement {
  readonly count: number
  readonly seconds: number
  /** CPU seconds of the load generator for each second of the clock: near its cores, it is the limit. */
  readonly busy: number
}

export interface LoadGenerator extends AsyncDisposable {
  send(command: { readonly do: string; readonly [field: string]: unknown }): Promise<void>
  measure(name: string, options: MeasureOptions): Promise<Measurement>
}

export interface MeasureOptions {
  readonly seconds: number
  readonly address?: string | undefined
  readonly path?: string | undefined
}

const SOURCE = fileURLToPath(new URL('./load', import.meta.url))

/** The path of the built program. */
export function buildLoadGenerator(cacheDirectory: string): string {
  const program = join(cacheDirectory, 'load')
  mkdirSync(cacheDirectory, { recursive: true })
  const build = spawnSync('go', ['build', '-o', program, '.'], { cwd: SOURCE, encoding: 'utf8' })
  if (build.error !== undefined) {
    throw new UserError('no_go', 'the load generator is written in Go, and there is no go here', {
      hint: 'install Go 1.21 or newer; nothing is downloaded for the build',
    })
  }
  if (build.status !== 0) throw new UserError('bench', `go build failed:\n${build.stderr}`)
  return program
}

export function startLoadGenerator(path: string, cores: string | undefined): LoadGenerator {
  const [program, ...args] = pinned([path], cores)
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })
  const closed = once(answers, 'close')
  const ask = async (command: object): Promise<unknown> => {
    const answered = once(answers, 'line') as Promise<[string]>
    child.stdin.write(`${JSON.stringify(command)}\n`)
    const [line] = (await Promise.race([answered, closed])) as [string?]
    if (line === undefined) throw new UserError('bench', 'the load generator ended')
    const answer = JSON.parse(line) as { error?: string }
    if (answer.error !== undefined) throw new UserError('bench', answer.error)
    return answer
  }
  return {
    send: async (command) => {
      await ask(command)
    },
    measure: async (name, options) =>
      // The shape is that of measure.go.
      (await ask({ do: 'measure', name, ...options })) as Measurement,
    [Symbol.asyncDispose]: () => stop(child),
  }
}
