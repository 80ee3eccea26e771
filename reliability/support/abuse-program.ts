// reliability/support/abuse, built with the machine's Go and spoken to in JSON lines.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SvcError } from '../../src/platform/errors.ts'

export interface AbuserIdentity {
  readonly cert_pem: string
  readonly key_pem: string
  readonly ca_pem: string
  readonly server_name: string
}

/** The fields are those of attack.go. */
export interface Attack {
  readonly ports: Readonly<Record<'health' | 'enroll' | 'mtls', string>>
  readonly slow_connections: number
  readonly handshakes_per_second: number
  readonly guesses_per_second: number
  readonly ramp_seconds: number
  readonly identity: AbuserIdentity
}

/** The fields are those of slow.go. */
export interface SlowOutcome {
  readonly port: 'health' | 'enroll' | 'mtls'
  readonly kind: 'silent' | 'hello' | 'headers' | 'body'
  readonly opened: number
  readonly ended: number
  readonly failed: number
  readonly open_mean: number
  readonly longest_seconds: number
}

/** The fields are those of attack.go and strangers.go. */
export interface AttackOutcome {
  readonly seconds: number
  readonly slow: readonly SlowOutcome[]
  readonly handshakes: Readonly<Record<'tried' | 'refused' | 'answered' | 'cut', number>>
  readonly guesses: {
    readonly answered: number
    readonly failed: number
    readonly statuses: Readonly<Record<string, number>>
  }
}

/** The fields are those of honest.go. */
export interface HonestSamples {
  readonly kept_ms: readonly number[]
  readonly new_ms: readonly number[]
  readonly failures: readonly string[]
}

export interface RunningAttack extends AsyncDisposable {
  end(): Promise<AttackOutcome>
}

export interface HonestAgent extends AsyncDisposable {
  measure(seconds: number): Promise<HonestSamples>
}

const SOURCE = fileURLToPath(new URL('./abuse', import.meta.url))

/** The path of the built program; undefined where there is no Go, which is an error under CI. */
export function buildAbuseProgram(directory: string): string | undefined {
  const program = join(directory, 'abuse')
  const build = spawnSync('go', ['build', '-o', program, '.'], { cwd: SOURCE, encoding: 'utf8' })
  if (build.error === undefined) {
    if (build.status === 0) return program
    throw new SvcError('build_failed', `go build failed: ${build.stderr}`)
  }
  if (process.env['CI'] !== 'true') return undefined
  throw new SvcError('no_go', 'the attacker is written in Go, and there is no Go to build it')
}

/** One that yields takes what others leave over: it must not hold up what is measured beside it. */
export function startAttack(program: string, attack: Attack, yields: boolean): RunningAttack {
  const child = spawnTalking([...(yields ? ['chrt', '--idle', '0'] : []), program, 'attack'])
  const ask = talkTo(child)
  child.stdin?.write(`${JSON.stringify(attack)}\n`)
  return {
    end: async () => {
      child.stdin?.end()
      return (await ask()) as AttackOutcome
    },
    [Symbol.asyncDispose]: () => kill(child),
  }
}

export function startHonestAgent(
  program: string,
  told: AbuserIdentity & { readonly address: string },
): HonestAgent {
  const child = spawnTalking([program, 'honest'])
  const ask = talkTo(child)
  child.stdin?.write(`${JSON.stringify(told)}\n`)
  return {
    measure: async (seconds) => {
      child.stdin?.write(`${JSON.stringify({ seconds })}\n`)
      return (await ask()) as HonestSamples
    },
    [Symbol.asyncDispose]: () => kill(child),
  }
}

function spawnTalking([program = '', ...args]: readonly string[]): ChildProcess {
  return spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
}

/** The next line that it prints. */
function talkTo(child: ChildProcess): () => Promise<unknown> {
  const { stdout } = child
  if (stdout === null) throw new SvcError('abuse', 'the attacker has no output')
  const answers = createInterface({ input: stdout })
  const closed = once(answers, 'close')
  return async () => {
    const answered = once(answers, 'line') as Promise<[string]>
    const [line] = (await Promise.race([answered, closed])) as [string?]
    if (line === undefined) throw new SvcError('abuse', 'the attacker ended without an answer')
    return JSON.parse(line) as unknown
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
