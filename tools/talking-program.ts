// Programs of this repository that are written in Go: built when they are wanted, and spoken to in lines of JSON.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { UserError } from '../src/platform/errors.ts'
import { createSerialQueue } from '../src/platform/serial-queue.ts'

export interface TalkingProgram extends AsyncDisposable {
  readonly pid: number
  /** Says something, and waits for no answer. */
  tell(words: object): void
  /** It has been told everything. */
  endTelling(): void
  /** What it says next. */
  hear(): Promise<unknown>
  /** Says one thing at a time, and hears the answer; an answer with an `error` is one. */
  readonly ask: (words: object) => Promise<unknown>
}

/** Builds the main package in the directory `source` as the file `program`; false where there is no Go. Downloads nothing. */
export function buildGoProgram(source: string, program: string): boolean {
  mkdirSync(dirname(program), { recursive: true })
  const build = spawnSync('go', ['build', '-o', program, '.'], { cwd: source, encoding: 'utf8' })
  if (build.error !== undefined) return false
  if (build.status !== 0) throw new UserError('build_failed', `go build failed:\n${build.stderr}`)
  return true
}

/** As `buildGoProgram`, for who cannot do without it; `what` is its name in the error. */
export function buildNeededGoProgram(what: string, source: string, program: string): string {
  if (buildGoProgram(source, program)) return program
  throw new UserError('no_go', `${what} is written in Go, and there is no go here`, {
    hint: 'install Go 1.21 or newer; nothing is downloaded for the build',
  })
}

/** `what` is its name in errors. */
export function startTalkingProgram(what: string, command: readonly string[]): TalkingProgram {
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const closed = once(lines, 'close')
  const turns = createSerialQueue()
  const tell = (words: object): void => void child.stdin.write(`${JSON.stringify(words)}\n`)
  const hear = async (): Promise<unknown> => {
    const heard = once(lines, 'line') as Promise<[string]>
    const [line] = (await Promise.race([heard, closed])) as [string?]
    if (line === undefined) throw new UserError('program_ended', `${what} ended without an answer`)
    const answer = JSON.parse(line) as { readonly error?: string }
    if (answer.error !== undefined) throw new UserError('program_failed', answer.error)
    return answer
  }
  return {
    pid: child.pid ?? 0,
    tell,
    endTelling: () => void child.stdin.end(),
    hear,
    ask: (words) =>
      turns.run(() => {
        tell(words)
        return hear()
      }),
    [Symbol.asyncDispose]: () => kill(child),
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
