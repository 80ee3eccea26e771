// A storm: what a fleet has is taken from all of its agents at once, and they get it back.

import { join } from 'node:path'
import { connectToHub } from '../src/admin/doors/socket-client.ts'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import { HubEventType } from '../src/protocol/words.ts'
import type { FleetWorld } from './fleet-world.ts'
import { type MeasuredPhase, measurePhase } from './measured-fleet.ts'
import type { RunContext } from './run-step.ts'
import { startAgents } from './run-step.ts'
import { renderFailures, renderOperations, renderVerdict } from './report.ts'
import type { AgentStorm } from './fleet-options.ts'

const INTERVAL_SECONDS = 5
/** Then whoever has not been served is counted. */
const STORM_SECONDS_MAX = 600
const RESTART_SECONDS_MAX = 60
/** docs/protocol.md CAX-10. */
const CA_CALLS_MAX = 16
/** What the agents can see of a hub that is really gone. */
const HUB_AWAY_MS = 1000

export async function runStorm(
  context: RunContext,
  world: FleetWorld,
  storm: AgentStorm,
): Promise<void> {
  const { plan, print } = context
  await startAgents(context, world, false)
  if (plan.newHosts > 0) await world.driver.send({ do: 'hosts', count: plan.newHosts })
  const toServe = plan.running + plan.newHosts
  const began = systemClock.now()
  const [phase] = await Promise.all([
    measurePhase({
      world,
      agents: plan.enrolled,
      name: storm,
      intervalSeconds: INTERVAL_SECONDS,
      isOver: ({ served }, atSeconds) => served >= toServe || atSeconds > STORM_SECONDS_MAX,
      print,
    }),
    STORMS[storm](context, world),
  ])
  print(renderOperations(phase.sample))
  print(renderFailures(phase.sample))
  print(await judge(context, world, phase, { toServe, began }))
  const { served } = phase.sample
  if (served < toServe) throw new UserError('fleet', `${served} of ${toServe} agents were served`)
}

const STORMS: Readonly<
  Record<AgentStorm, (context: RunContext, world: FleetWorld) => Promise<void>>
> = {
  async restart({ plan }, world) {
    await world.killHub()
    await world.driver.send({ do: 'restart', streams: plan.streams })
    await systemClock.sleep(HUB_AWAY_MS)
    await world.startHub()
  },
  async renewal(_, world) {
    await world.driver.send({ do: 'renewal' })
  },
  async 'ca-outage'({ options, progress }, world) {
    await world.authority.stop()
    await world.driver.send({ do: 'renewal' })
    progress(`the CA is away for ${options.seconds} s`)
    await systemClock.sleep(options.seconds * 1000)
    await world.authority.start()
    progress('the CA is back')
  },
}

async function judge(
  { plan, options }: RunContext,
  world: FleetWorld,
  { sample }: MeasuredPhase,
  { toServe, began }: { readonly toServe: number; readonly began: Date },
): Promise<string> {
  const { served, served_last_seconds: servedSeconds, lost_tokens: lostTokens } = sample
  const isAll = served >= toServe
  const took = `${servedSeconds.toFixed(1)} s`
  const isRestart = options.storm === 'restart'
  const lines = [
    renderVerdict(
      `${served} of ${toServe} agents served, the last after ${took}${isRestart ? `, at most ${RESTART_SECONDS_MAX} s` : ''}`,
      isAll && (!isRestart || servedSeconds <= RESTART_SECONDS_MAX),
    ),
    renderVerdict(
      `CA calls at once: ${sample.ca_at_once}, at most ${CA_CALLS_MAX}`,
      sample.ca_at_once <= CA_CALLS_MAX,
    ),
  ]
  if (plan.newHosts > 0) {
    const usedTwice = await countTokensUsedTwice(world, began)
    lines.push(
      renderVerdict(
        `${plan.newHosts} hosts enrolled meanwhile, ${lostTokens} need a second token`,
        lostTokens === 0,
      ),
      renderVerdict(`tokens used twice: ${usedTwice}`, usedTwice === 0),
    )
  }
  return lines.join('')
}

/** By the audit log, which names the token of each enrolment. */
async function countTokensUsedTwice({ vaultRoot }: FleetWorld, since: Date): Promise<number> {
  const session = await connectToHub(join(vaultRoot, 'admin.sock'))
  if (session === undefined) throw new UserError('fleet', 'the hub does not answer its socket')
  const used: unknown[] = []
  for (let after: number | null = 0; after !== null;) {
    const page = await session.operations.listEntries({
      after,
      tipo: HubEventType.agentEnrolled,
      since: since.toISOString(),
    })
    used.push(...page.eventos.map(({ payload }) => payload['token_id']))
    after = page.next
  }
  return used.length - new Set(used).size
}
