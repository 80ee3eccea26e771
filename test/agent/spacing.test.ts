// How close two requests for one certificate come at the hub, when some take longer on their way than others.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FakeRoute } from '../fakes/hub-server.ts'
import { manifestEntry } from '../support/agent-host.ts'
import { type EnrolledAgent, startEnrolledAgent } from '../support/enrolled-agent.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { type HubConnections, networkConnections } from '../../src/agent/hub/gateway.ts'
import { openPollState, pollOnce, type PollState } from '../../src/agent/round/poll.ts'
import { openSession } from '../../src/agent/identity/session.ts'

const HOUR = 3_600_000
const STEP_MS = 5000
const STEPS = 50
/** Every second request is slow. */
const SLOW_MS = 14_000
const LOST = { kind: 'cut-after' } as const

interface Arrivals {
  readonly byRoute: Record<'issue' | 'recover', number[]>
  readonly connections: HubConnections
}

function passTime({ hub, host }: EnrolledAgent, durationMs: number): void {
  hub.clockOffsetMs += durationMs
  host.clock.offsetMs += durationMs
}

/** Of the first requests, the first is slow to arrive, the second is not, and so on. */
function slowConnections(agent: EnrolledAgent): Arrivals {
  const byRoute = { issue: [] as number[], recover: [] as number[] }
  const travel = (arrivals: number[]): void => {
    if (arrivals.length % 2 === 0) passTime(agent, SLOW_MS)
    arrivals.push(agent.host.clock.now().getTime())
  }
  return {
    byRoute,
    connections: {
      ...networkConnections,
      createHubClient: (options) => {
        const client = networkConnections.createHubClient(options)
        return {
          ...client,
          issueCertificate: (csrPem, deliveryId) => {
            travel(byRoute.issue)
            return client.issueCertificate(csrPem, deliveryId)
          },
        }
      },
      createEnrollClient: (options) => {
        const client = networkConnections.createEnrollClient(options)
        return {
          ...client,
          recover: (body) => {
            travel(byRoute.recover)
            return client.recover(body)
          },
        }
      },
    },
  }
}

async function openSlowAgent({ host }: EnrolledAgent, arrivals: Arrivals): Promise<PollState> {
  const session = await openSession({
    config: host.config(),
    clock: host.clock,
    random: () => 0.5,
    logging: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }),
    version: '0.0.0',
    connections: arrivals.connections,
  })
  return openPollState(session, host.hooks)
}

function assertCalm(times: readonly number[]): void {
  assert.ok(times.length >= 2, 'there were several')
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
  assert.ok(Math.min(...gaps) >= 60_000, `${gaps.join(', ')} ms apart`)
}

async function pollOften(agent: EnrolledAgent, state: PollState): Promise<void> {
  for (let step = 0; step < STEPS; step += 1) {
    await pollOnce(state)
    passTime(agent, STEP_MS)
  }
  await state.session.hub.close()
}

function loseReplies({ hub }: EnrolledAgent, route: FakeRoute): void {
  hub.misbehave(route, ...Array.from({ length: STEPS }, () => LOST))
}

describe('[AGT-19] attempts whose replies are lost are a minute apart at the hub, too:', () => {
  test('renewals of the identity', async () => {
    await using agent = await startEnrolledAgent(HOUR)
    passTime(agent, 0.8 * HOUR)
    loseReplies(agent, 'issue')
    const arrivals = slowConnections(agent)
    await pollOften(agent, await openSlowAgent(agent, arrivals))
    assertCalm(arrivals.byRoute.issue)
  })

  test('recoveries', async () => {
    await using agent = await startEnrolledAgent(-2000)
    loseReplies(agent, 'recover')
    const arrivals = slowConnections(agent)
    await pollOften(agent, await openSlowAgent(agent, arrivals))
    assertCalm(arrivals.byRoute.recover)
  })

  test('renewals of a delivered certificate', async () => {
    await using agent = await startEnrolledAgent()
    const { hub } = agent
    hub.lifetimeMs = HOUR
    hub.entregas = [manifestEntry()]
    const arrivals = slowConnections(agent)
    const state = await openSlowAgent(agent, arrivals)
    await pollOnce(state)
    passTime(agent, 0.8 * HOUR)
    loseReplies(agent, 'issue')
    await pollOften(agent, state)
    assertCalm(arrivals.byRoute.issue.slice(1))
  })
})

test('[AGT-19] renewals that succeed are a minute apart at the hub, too', async () => {
  await using agent = await startEnrolledAgent()
  const { hub } = agent
  Object.assign(hub, { lifetimeMs: HOUR, backdateMs: HOUR - 30_000 })
  hub.entregas = [manifestEntry()]
  const arrivals = slowConnections(agent)
  const state = await openSlowAgent(agent, arrivals)
  await pollOnce(state)
  await pollOften(agent, state)
  assertCalm(arrivals.byRoute.issue.slice(1))
})
