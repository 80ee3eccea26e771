// The hub of the row "abuse" with an agent that is measured, and one attack on it.

import { readdir } from 'node:fs/promises'
import { cpuSeconds, residentMegabytes } from '../../bench/daemon.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { describeError } from '../../src/platform/errors.ts'
import { enrollHost, type EnrolledHost } from '../../test/support/enrolled-host.ts'
import { HUB_NAME } from '../../test/support/hub.ts'
import type { Sslyze } from '../../tools/install-sslyze.ts'
import type { RowContext } from '../row.ts'
import {
  type AbuserIdentity,
  type AttackOutcome,
  type HonestAgent,
  type HonestSamples,
  startAttack,
} from './abuse-program.ts'
import type { SlowLimits, Told } from './judge-abuse.ts'
import type { PinnedHub } from './pinned-hub.ts'

export interface AbuseSetting {
  readonly told: Told
  readonly limits: SlowLimits
  /** Of each of its four tests. */
  readonly slowhttptestConnections: number
  readonly rampSeconds: number
  readonly rehearsalSeconds: number
  readonly settleSeconds: number
  readonly idleSeconds: number
  readonly attackSeconds: number
  /** Of what it was before. */
  readonly memoryGrowthMax: number
  /** The machine does nothing else: the hub has a core to itself, and times are judged. */
  readonly isMeasuredAlone: boolean
}

export interface Scene {
  readonly context: RowContext
  readonly setting: AbuseSetting
  readonly program: string
  readonly hub: PinnedHub
  readonly hostile: EnrolledHost
  readonly honest: HonestAgent
  readonly sslyze: Sslyze | undefined
}

const ENROLMENT_PAUSE_MS = 1000

export interface HonestResult {
  readonly samples: HonestSamples
  /** Of honest agents. */
  readonly failures: readonly string[]
  readonly enrolled: number
}

/** What is measured begins once all slow connections are open. */
export interface AttackResult extends HonestResult {
  readonly outcome: AttackOutcome
  readonly descriptors: number
  /** CPU seconds of the hub for each second of the clock. */
  readonly busy: number
}

export async function attackDuring(
  scene: Scene,
  name: string,
  seconds: number,
): Promise<AttackResult> {
  const { setting, program, hub, hostile, honest } = scene
  const { ports } = hub
  await using attack = startAttack(
    program,
    {
      ports: {
        health: `127.0.0.1:${ports.health}`,
        enroll: `127.0.0.1:${ports.enroll}`,
        mtls: `127.0.0.1:${ports.mtls}`,
      },
      slow_connections: setting.told.slowConnections,
      handshakes_per_second: setting.told.handshakesPerSecond,
      guesses_per_second: setting.told.guessesPerSecond,
      ramp_seconds: setting.rampSeconds,
      identity: identityOf(hostile),
    },
    setting.isMeasuredAlone,
  )
  const opening = await honest.measure(setting.rampSeconds)
  const spentBefore = await cpuSeconds(hub.pid)
  const measured = await measureHonest(scene, name, seconds)
  const busy = ((await cpuSeconds(hub.pid)) - spentBefore) / seconds
  const { descriptors } = await footprintOf(hub)
  const outcome = await attack.end()
  const failures = [...opening.failures, ...measured.failures]
  return { ...measured, outcome, failures, descriptors, busy }
}

/** The agent, with honest enrolments beside it: what they cost it is no work of strangers. */
export async function measureHonest(
  { hub, honest }: Scene,
  name: string,
  seconds: number,
): Promise<HonestResult> {
  const measuring = honest.measure(seconds)
  const enrolments = await enrollUntil(hub, name, measuring)
  const samples = await measuring
  const failures = [...samples.failures, ...enrolments.failures]
  return { samples, failures, enrolled: enrolments.done }
}

/** New hosts are let in too, one after the other. */
async function enrollUntil(
  hub: PinnedHub,
  name: string,
  end: Promise<unknown>,
): Promise<{ done: number; failures: string[] }> {
  const failures: string[] = []
  const over = new AbortController()
  const finish = (): void => over.abort()
  const finished = end.then(finish, finish)
  let done = 0
  while (!over.signal.aborted) {
    try {
      await enrollHost(hub, `${name}-${done + failures.length}`)
      done += 1
    } catch (error) {
      failures.push(`enrolment: ${describeError(error)}`)
    }
    await Promise.race([finished, systemClock.sleep(ENROLMENT_PAUSE_MS)])
  }
  return { done, failures }
}

export interface Footprint {
  readonly descriptors: number
  readonly megabytes: number
}

export async function footprintOf({ pid }: PinnedHub): Promise<Footprint> {
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length
  return { descriptors, megabytes: await residentMegabytes(pid) }
}

export function identityOf({ certPem, keyPem, caPem }: EnrolledHost): AbuserIdentity {
  return { cert_pem: certPem, key_pem: keyPem, ca_pem: caPem, server_name: HUB_NAME }
}
