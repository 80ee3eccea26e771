// reliability/support/abuse, built with the machine's Go and spoken to in JSON lines.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  buildGoProgram,
  buildNeededGoProgram,
  startTalkingProgram,
} from '../../tools/talking-program.ts'

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
  if (process.env['CI'] === 'true') return buildNeededGoProgram('the attacker', SOURCE, program)
  return buildGoProgram(SOURCE, program) ? program : undefined
}

/** One that yields takes what others leave over: it must not hold up what is measured beside it. */
export function startAttack(path: string, attack: Attack, yields: boolean): RunningAttack {
  const yielding = yields ? ['chrt', '--idle', '0'] : []
  const program = startTalkingProgram('the attacker', [...yielding, path, 'attack'])
  program.tell(attack)
  return {
    end: async () => {
      program.endTelling()
      return (await program.hear()) as AttackOutcome
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

export function startHonestAgent(
  path: string,
  told: AbuserIdentity & { readonly address: string },
): HonestAgent {
  const program = startTalkingProgram('the honest agent', [path, 'honest'])
  program.tell(told)
  return {
    measure: async (seconds) => (await program.ask({ seconds })) as HonestSamples,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}
