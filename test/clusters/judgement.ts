// What became of a run under load: what clients were told, held against what is left, and told in the same words whatever struck.

import { checkHistory, type Violation } from './check-history.ts'
import type { Clients } from './clients.ts'
import type { Entry, FinalState } from './operation.ts'
import type { SharedHubs } from './shared-hubs.ts'

export interface Judgement {
  readonly acknowledged: number
  readonly unknown: number
  readonly entries: number
  readonly violations: readonly Violation[]
  /** What no hub may answer, or do. */
  readonly surprises: readonly string[]
}

const SHOWN = 20

export function judge(
  { operations, surprises }: Clients,
  state: FinalState,
  others: readonly string[],
): Judgement {
  const count = (outcome: string): number =>
    operations.filter((operation) => operation.outcome === outcome).length
  return {
    acknowledged: count('acknowledged'),
    unknown: count('unknown'),
    entries: state.log.length,
    violations: checkHistory(operations, state),
    surprises: [...surprises, ...others],
  }
}

/** `ask` answers each question of `svc` with its JSON, all of one vault. */
export async function readWhatIsLeft(
  ask: SharedHubs['askNewVault'],
): Promise<Omit<FinalState, 'logsOfHubs'>> {
  const [log, tokens, agents] = (await ask(
    ['evento', 'list', '--json'],
    ['token', 'list', '--json'],
    ['agente', 'list', '--json'],
  )) as [
    { readonly eventos: readonly Entry[] },
    { readonly tokens: readonly { readonly hostname: string; readonly consumed_at: unknown }[] },
    { readonly agentes: readonly { readonly hostname: string }[] },
  ]
  const consumed = tokens.tokens.filter(({ consumed_at: at }) => at !== null)
  return {
    log: log.eventos,
    consumedTokens: new Set(consumed.map(({ hostname }) => hostname)),
    enrolledHosts: new Set(agents.agentes.map(({ hostname }) => hostname)),
  }
}

/** To a person; the process fails when anything is wrong. */
export function reportJudgement(
  { acknowledged, unknown, entries, violations, surprises }: Judgement,
  say: (text: string) => void,
): void {
  say(`${acknowledged} answers, ${unknown} requests without one, ${entries} entries in the log`)
  const lost = violations.filter(({ kind }) => kind === 'lost').length
  say(`acknowledged and lost: ${lost}; violations: ${violations.length}`)
  for (const { kind, text } of violations.slice(0, SHOWN)) say(`  ${kind}: ${text}`)
  for (const text of surprises.slice(0, SHOWN)) say(`  unexpected: ${text}`)
  if (violations.length + surprises.length > 0) process.exitCode = 1
}
