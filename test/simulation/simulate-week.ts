// A week of twelve hosts: certificates of a day, a hub that is away for three days, and what happens to hosts.

import { invariant } from '../../src/platform/errors.ts'
import type { Logging } from '../../src/platform/logger.ts'
import { createSeededRandom } from './seeded-random.ts'
import { createSimulatedCa } from './simulated-authority.ts'
import { SimulatedHost } from './simulated-host.ts'
import { createSimulatedHub, type SimulatedHub } from './simulated-hub.ts'
import { type Nap, VirtualTime } from './virtual-time.ts'

export interface SimulatedWeek extends AsyncDisposable {
  readonly time: VirtualTime
  readonly hub: SimulatedHub
  readonly hosts: readonly SimulatedHost[]
  readonly cargoes: readonly { readonly name: string; readonly sans: readonly string[] }[]
  /** When agents and deliveries are all there; nobody makes tokens after it. */
  readonly startedAt: Date
  readonly hubAway: Nap
}

const START = new Date('2030-01-01T00:00:00Z')
const DAY_MS = 24 * 3_600_000
const MINUTE_MS = 60_000
const HOST_COUNT = 12
/**
 * An agent's default is half a minute. Every round looks for work in the same way, so more of them show nothing but
 * the same; with half an hour the week fits into a minute, and a certificate's day still has fifty rounds.
 */
const POLL_INTERVAL = '30m'
const CARGOES = [
  { name: 'site', sans: ['site.example', '192.0.2.1'] },
  { name: 'db', sans: [] },
] as const

const HUB_AWAY: Nap = { from: atDay(1.5), to: atDay(4.5) }
/**
 * Most hosts are where the hub is, and lose their power an hour after it did. The others keep trying for three
 * days; all of them would, at twenty rounds an hour, take minutes of real time to show the same.
 */
const SITE_DARK: Nap = { from: atDay(1.55), to: atDay(4.5) }
const HOSTS_ELSEWHERE: ReadonlySet<number> = new Set([3, 11])
/** One wakes while the hub is away, one has an outage all of its own. */
const NAPS: ReadonlyMap<number, Nap> = new Map([
  [3, { from: atDay(1), to: atDay(2) }],
  [7, { from: atDay(5.2), to: atDay(6.2) }],
])
const CLOCK_OFFSETS_MS: ReadonlyMap<number, number> = new Map([
  [5, 10 * MINUTE_MS],
  [11, -10 * MINUTE_MS],
])
/** Replies are lost and hooks fail until shortly before the end, when everything has to come right. */
const TROUBLE_ENDS = atDay(6.9)
export const WEEK_ENDS = atDay(7)

/** The week up to its end, with one more round of every agent. */
export async function simulateWeek(seed: number, logging: Logging): Promise<SimulatedWeek> {
  await using stack = new AsyncDisposableStack()
  const random = createSeededRandom(seed)
  const time = new VirtualTime(START)
  const ca = await createSimulatedCa(time, createSeededRandom(seed + 1))
  const hub = stack.use(await createSimulatedHub({ time, ca, random, logging }))
  const hosts: SimulatedHost[] = []
  for (let index = 0; index < HOST_COUNT; index += 1) {
    const host = await SimulatedHost.create({
      hostname: `web-${index}.example`,
      hub,
      time,
      logging,
      random: createSeededRandom(Math.floor(random() * 2 ** 32)),
      pollInterval: POLL_INTERVAL,
      clockOffsetMs: CLOCK_OFFSETS_MS.get(index) ?? 0,
      naps: napsOf(index),
      hasTrouble: () => time.now() < TROUBLE_ENDS,
    })
    hosts.push(stack.use(host))
  }
  let startedAt: Date | undefined
  time.start(async () => {
    await startFleet(time, hub, hosts)
    startedAt = time.now()
    await sleepUntil(time, HUB_AWAY.from)
    await hub.stop()
    await sleepUntil(time, HUB_AWAY.to)
    await hub.start()
  })
  await time.runUntil(WEEK_ENDS)
  await lastRounds(time, hosts)
  invariant(startedAt !== undefined, 'the fleet was started')
  const kept = stack.move()
  return {
    time,
    hub,
    hosts,
    cargoes: CARGOES,
    startedAt,
    hubAway: HUB_AWAY,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** `site` is everybody's, `db` every second host's. */
export function hasCargo(
  hosts: readonly SimulatedHost[],
  host: SimulatedHost,
  name: string,
): boolean {
  return name === 'site' || hosts.indexOf(host) % 2 === 0
}

async function startFleet(
  time: VirtualTime,
  hub: SimulatedHub,
  hosts: readonly SimulatedHost[],
): Promise<void> {
  const { admin } = await hub.start()
  for (const host of hosts) {
    const { token } = await admin.createToken({ hostname: host.hostname, role: 'web' })
    await host.enroll(token)
    time.start(() => host.run())
    await time.sleep(MINUTE_MS)
  }
  for (const { name, sans } of CARGOES) {
    const agentes = hosts.filter((host) => hasCargo(hosts, host, name)).map((host) => host.hostname)
    await admin.createCargo({ tipo: 'csr_cert', nome: name, agentes, roles: [], sans: [...sans] })
  }
}

async function lastRounds(time: VirtualTime, hosts: readonly SimulatedHost[]): Promise<void> {
  let finished = 0
  const rounds = hosts.map((host) =>
    host.pollNow().then((problems) => {
      finished += 1
      invariant(problems.length === 0, `${host.hostname}: ${problems.join('; ')}`)
      return undefined
    }),
  )
  await time.runUntil(new Date(time.now().getTime() + 2 * MINUTE_MS))
  invariant(finished === hosts.length, 'a round takes less than two minutes')
  await Promise.all(rounds)
}

function napsOf(index: number): Nap[] {
  const own = NAPS.get(index)
  const naps = HOSTS_ELSEWHERE.has(index) ? [] : [SITE_DARK]
  return own === undefined ? naps : [...naps, own]
}

async function sleepUntil(time: VirtualTime, instant: Date): Promise<void> {
  await time.sleep(instant.getTime() - time.now().getTime())
}

function atDay(days: number): Date {
  return new Date(START.getTime() + days * DAY_MS)
}
