// What an attack may do to the hub and to its honest agents, as figures to hold the measured ones against.

import type { AttackOutcome, HonestSamples, SlowOutcome } from './abuse-program.ts'

export interface SlowLimits {
  /** How long a connection may stay beyond its limit. */
  readonly slackSeconds: number
  readonly headersSeconds: number
  readonly requestSeconds: number
  readonly handshakeSeconds: number
}

export interface Told {
  readonly slowConnections: number
  readonly handshakesPerSecond: number
  readonly guessesPerSecond: number
}

/** After which an attack must have seen the end of connections: the hub looks once a second, and lingers for one. */
const ENDED_SLACK_SECONDS = 4
/** An attack that was much weaker than told says nothing. */
const DELIVERED_LEAST = 0.9

/** What the hub did that it must never do, however strong the attack was. */
export function faultsOfAttack(outcome: AttackOutcome, limits: SlowLimits): string[] {
  const { handshakes, guesses } = outcome
  const statuses = Object.keys(guesses.statuses).filter((status) => !/^(401|429)$/.test(status))
  return [
    ...outcome.slow.flatMap((slow) => faultsOfSlow(slow, limits, outcome.seconds)),
    ...(handshakes.answered > 0 ? [`${handshakes.answered} strangers were answered on mtls`] : []),
    ...statuses.map((status) => `guesses were answered ${status}: ${guesses.statuses[status]}`),
    ...(guesses.failed > 0 ? [`${guesses.failed} guesses got no answer`] : []),
  ]
}

function faultsOfSlow(slow: SlowOutcome, limits: SlowLimits, attackSeconds: number): string[] {
  const name = `${slow.port}, ${slow.kind}`
  const limitSeconds = limitOf(slow, limits)
  const isEndless = slow.ended === 0 && attackSeconds > limitSeconds + ENDED_SLACK_SECONDS
  const isHeld = slow.longest_seconds > limitSeconds + limits.slackSeconds
  return [
    ...(isEndless ? [`${name}: none of ${slow.opened} slow connections was ended`] : []),
    ...(isHeld ? [`${name}: held ${slow.longest_seconds} s, limit ${limitSeconds} s`] : []),
  ]
}

/** LIM-6, LIM-7 and LIM-8. */
function limitOf({ port, kind }: SlowOutcome, limits: SlowLimits): number {
  if (kind === 'body') return limits.requestSeconds
  const isHandshake = port === 'mtls' && kind !== 'headers'
  return isHandshake ? limits.handshakeSeconds : limits.headersSeconds
}

/** Where the attack fell short of what it was told to be. */
export function shortfallsOf(outcome: AttackOutcome, told: Told): string[] {
  const { seconds, slow, handshakes, guesses } = outcome
  const rates: readonly (readonly [string, number, number])[] = [
    ...(['health', 'enroll', 'mtls'] as const).map(
      (port) => [`slow connections on ${port}`, openOn(slow, port), told.slowConnections] as const,
    ),
    ['handshakes/s', handshakes.tried / seconds, told.handshakesPerSecond],
    ['guesses/s', guesses.answered / seconds, told.guessesPerSecond],
  ]
  const unopened = slow.filter(({ failed }) => failed > 0)
  const weak = rates
    .filter(([, got, wanted]) => got < wanted * DELIVERED_LEAST)
    .map(
      ([what, got, wanted]) =>
        `the attack was weaker than told: ${got.toFixed(0)} of ${wanted} ${what}`,
    )
  return [
    ...weak,
    ...unopened.map(({ port, kind, failed }) => `${port}, ${kind}: ${failed} could not be opened`),
  ]
}

export function openOn(slow: readonly SlowOutcome[], port: SlowOutcome['port']): number {
  return slow.filter((kind) => kind.port === port).reduce((sum, kind) => sum + kind.open_mean, 0)
}

export interface Latency {
  readonly what: string
  readonly idleMs: number
  readonly attackedMs: number
}

/** The 99th percentiles. */
export function latenciesOf(idle: readonly HonestSamples[], attacked: HonestSamples): Latency[] {
  return (['kept', 'new'] as const).map((kind) => ({
    what: `${kind} connections`,
    idleMs: percentile99(idle.flatMap((samples) => samples[`${kind}_ms`])),
    attackedMs: percentile99(attacked[`${kind}_ms`]),
  }))
}

/** How many times its p99 when idle an agent may wait, whatever strangers do. */
export const LATENCY_RATIO_MAX = 3

export function isSlowed({ idleMs, attackedMs }: Latency): boolean {
  // Not a number when nothing was answered.
  return !(attackedMs <= idleMs * LATENCY_RATIO_MAX)
}

export function describeLatency({ what, idleMs, attackedMs }: Latency): string {
  const ratio = (attackedMs / idleMs).toFixed(1)
  return `p99 on ${what} ${attackedMs.toFixed(1)} ms, idle ${idleMs.toFixed(1)} ms (${ratio} times)`
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
}

export function describeAttack({ seconds, slow, handshakes, guesses }: AttackOutcome): string {
  const ports = (['health', 'enroll', 'mtls'] as const).map(
    (port) => `${openOn(slow, port).toFixed(0)} ${port}`,
  )
  const perSecond = (count: number): string => (count / seconds).toFixed(0)
  return [
    `slow connections open ${ports.join(', ')}`,
    `${perSecond(handshakes.tried)} handshakes/s`,
    `${perSecond(guesses.answered)} guesses/s`,
  ].join('; ')
}
