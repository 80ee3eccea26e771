// Requests that cost the hub as much as they can: for each route and each place of its requests a search that keeps what
// cost most and changes it, judged by the CPU that the whole hub spends. docs/protocol.md LIM-37.

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { cpuSeconds } from '../../bench/daemon.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { enrollHost } from '../../test/support/enrolled-host.ts'
import { send } from '../../test/support/wire-client.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { type CostlyRoute, createCostlyRoutes } from '../support/costly/costly-routes.ts'
import { describeGenome, type Genome, mutate, randomGenome } from '../support/costly/genome.ts'
import { pickInteger } from '../support/pick.ts'
import { type PinnedHub, startPinnedHub } from '../support/pinned-hub.ts'

/** Of the hub's CPU, for one request, all that serving any takes included. */
const STRANGER_MS_MAX = 5
const KNOWN_MS_MAX = 10

const SETTINGS = {
  // Other tests use the machine at the same time, and the caches of its cores with it.
  small: { first: 0, more: 1, requests: 4, tolerance: 2 },
  full: { first: 30, more: 120, requests: 20, tolerance: 1 },
} as const

interface Setting {
  /** Candidates of each place besides the earlier findings: made by chance, then from the worst so far. */
  readonly first: number
  readonly more: number
  /** Of each candidate: the kernel counts CPU in hundredths of a second. */
  readonly requests: number
  /** How many times what is promised is too much. */
  readonly tolerance: number
}

interface Candidate {
  readonly route: CostlyRoute
  readonly genome: Genome
  readonly milliseconds: number
  readonly status: number
}

/** Rates are no part of what one request costs, so none is limited. */
const UNLIMITED = {
  SVC_LIMIT_EVENTS: '0',
  SVC_LIMIT_ISSUE: '0',
  SVC_LIMIT_ENROLL_FAILURES: '0',
  SVC_TRUSTED_PROXIES: '127.0.0.0/8',
  SVC_LOG: 'warn',
}

export const costlyRequests: ReliabilityRow = {
  name: 'costly-requests',
  promise: `a request costs the hub at most ${STRANGER_MS_MAX} ms before it knows who asks, ${KNOWN_MS_MAX} ms after`,
  run: async (context) => {
    await using ca = await startDevCaProcess()
    await using hub = await startPinnedHub({
      directory: context.directory,
      caEnvironment: ca.environment,
      environment: UNLIMITED,
      cores: undefined,
    })
    // Awaited here: what it uses ends with this function.
    return await searchAll(context, hub)
  },
}

async function searchAll(context: RowContext, hub: PinnedHub): Promise<RowResult> {
  const setting = SETTINGS[context.setting]
  const openHostname = 'open'
  const routes = await createCostlyRoutes({
    enroll: { port: hub.ports.enroll },
    health: { port: hub.ports.health },
    host: await enrollHost(hub, 'costly'),
    openHostname,
    openToken: await hub.createToken({ hostname: openHostname }),
  })
  const worst: Candidate[] = []
  let count = 0
  for (const route of routes) {
    const tried = await search(context.random, route, setting, hub)
    count += tried.length
    const [first] = tried
    if (first === undefined) continue
    worst.push(await confirm(context.random, first, setting, hub))
    context.progress(worst.slice(-1).map(describe).join())
  }
  worst.sort((a, b) => b.milliseconds / limitOf(b.route) - a.milliseconds / limitOf(a.route))
  const broken = worst.filter(
    ({ route, milliseconds }) => milliseconds > limitOf(route) * setting.tolerance,
  )
  return {
    tried: `${routes.length} places in requests, ${count} candidates of ${setting.requests} requests`,
    broken: broken.map(describe),
    measured: worst.slice(0, 4).map(describe).join('; '),
  }
}

/** The most costly first. */
async function search(
  random: Random,
  route: CostlyRoute,
  { first, more, requests }: Setting,
  hub: PinnedHub,
): Promise<Candidate[]> {
  const tried: Candidate[] = []
  const attempt = async (genome: Genome): Promise<void> => {
    tried.push(await measure(random, { route, genome }, requests, hub))
    tried.sort((a, b) => b.milliseconds - a.milliseconds)
  }
  for (const genome of route.grammar.found) await attempt(genome)
  for (let count = 0; count < first; count += 1) await attempt(randomGenome(route.grammar, random))
  for (let count = 0; count < more; count += 1) {
    const parent = tried[pickInteger(random, 0, Math.min(2, tried.length - 1))]
    if (parent !== undefined) await attempt(mutate(parent.genome, route.grammar, random))
  }
  return tried
}

/** Of what comes near its limit the least of three times: what else the hub did meanwhile, such as collecting garbage of others, is not this request's. */
async function confirm(
  random: Random,
  candidate: Candidate,
  { requests }: Setting,
  hub: PinnedHub,
): Promise<Candidate> {
  if (candidate.milliseconds <= limitOf(candidate.route) / 2) return candidate
  const again = [candidate]
  for (let count = 0; count < 2; count += 1) {
    again.push(await measure(random, candidate, requests * 2, hub))
  }
  const milliseconds = Math.min(...again.map((each) => each.milliseconds))
  return { ...candidate, milliseconds }
}

/** On one connection that is kept, from another address each: what the hub does with an address is another row's matter. */
async function measure(
  random: Random,
  { route, genome }: Pick<Candidate, 'route' | 'genome'>,
  requests: number,
  hub: PinnedHub,
): Promise<Candidate> {
  const options = { keepAlive: true, maxSockets: 1 }
  const agent = route.target.tls === undefined ? new HttpAgent(options) : new HttpsAgent(options)
  try {
    const wires = await Promise.all(
      Array.from({ length: requests + 1 }, async () => {
        const content = route.grammar.write(genome, route.bytesMax, random)
        return { ...(await route.request(content, genome.wrapper)), agent }
      }),
    )
    let status = 0
    let spent = 0
    for (const [index, wire] of wires.entries()) {
      // The first opens the connection.
      if (index === 1) spent = await cpuSeconds(hub.pid)
      const headers = { 'x-forwarded-for': randomAddress(random), ...wire.headers }
      ;({ status } = await send(route.target, { ...wire, headers }))
    }
    const milliseconds = (((await cpuSeconds(hub.pid)) - spent) / requests) * 1000
    return { route, genome, milliseconds, status }
  } finally {
    agent.destroy()
  }
}

function randomAddress(random: Random): string {
  return [198, 51, 1, 1].map((part) => (part > 1 ? part : pickInteger(random, 1, 254))).join('.')
}

function limitOf({ isKnown }: CostlyRoute): number {
  return isKnown ? KNOWN_MS_MAX : STRANGER_MS_MAX
}

function describe({ route, genome, milliseconds, status }: Candidate): string {
  return `${route.name}: ${milliseconds.toFixed(1)} ms, answered ${status} (${describeGenome(genome)})`
}
