// Agents with deliveries that wait for the CA while it is out of order, in one way and another. Nobody does anything.

import { systemClock } from '../../src/platform/clock.ts'
import { invariant, SvcError } from '../../src/platform/errors.ts'
import type { CaBehaviour, SignCall } from '../../test/fakes/ca-server.ts'
import { readEvents } from '../../test/support/audit-log.ts'
import { createDelivery, type ListedDelivery } from '../../test/support/deliveries.ts'
import { type HubProcess, startHubProcess } from '../../test/support/hub-process.ts'
import { enrolHost, type ManagedHost } from '../../test/support/managed-host.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import { pickOne } from './pick.ts'

export interface PendingDeliveriesOptions {
  readonly hosts: number
  readonly deliveriesPerHost: number
  readonly outageMs: number
  /** A CA that takes a call and never answers costs ten seconds. */
  readonly hasSilence: boolean
  readonly random: Random
}

export interface PendingDeliveriesFindings {
  readonly broken: readonly string[]
  readonly measured: string
}

/** The agent waits five minutes at most before it tries again. */
const COMPLETE_MS_MAX = 360_000

export async function tryPendingDeliveries(
  options: PendingDeliveriesOptions,
): Promise<PendingDeliveriesFindings> {
  const { hosts, deliveriesPerHost, outageMs } = options
  await using stack = new AsyncDisposableStack()
  let isOut = false
  const ca = stack.use(
    await startScriptedCa(() => (isOut ? pickOutage(options) : { kind: 'sign' })),
  )
  const environment = { SVC_SERVER_SANS: 'localhost' }
  const hub = stack.use(await startHubProcess({ caEnvironment: ca.environment, environment }))
  const managed: ManagedHost[] = []
  for (let n = 1; n <= hosts; n += 1) {
    managed.push(stack.use(await enrolHost(hub, `pending-${n}.example`)))
  }
  for (const { hostname } of managed) {
    for (let n = 1; n <= deliveriesPerHost; n += 1) {
      await createDelivery(hub, hostname, `site-${n}`)
    }
  }
  const callsBefore = ca.hostCalls().length
  const callsMeanwhile = (): readonly SignCall[] => ca.hostCalls().slice(callsBefore)
  isOut = true
  const agents = managed.map((host) => host.run())
  const outage = systemClock.sleep(outageMs)
  await waitUntil('every agent to ask the CA in vain', () => {
    const asked = new Set(callsMeanwhile().map(({ claims }) => claims.sub))
    return asked.size === hosts ? true : undefined
  })
  await outage
  const broken = await findEarly(hub)
  const calls = callsMeanwhile().length
  isOut = false
  const returnedMs = performance.now()
  broken.push(...(await findIncomplete(hub, hosts * deliveriesPerHost)))
  const tookMs = performance.now() - returnedMs
  broken.push(...(await findNotOnce(hub)))
  for (const agent of agents) {
    if (agent.hasEnded()) broken.push(`an agent ended: ${agent.stderr()}`)
  }
  return {
    broken,
    measured: `the last of ${hosts * deliveriesPerHost} deliveries was installed ${(tookMs / 1000).toFixed(1)} s after the return, ${calls} calls to the CA meanwhile`,
  }
}

function pickOutage({ random, hasSilence }: PendingDeliveriesOptions): CaBehaviour {
  const ways: readonly CaBehaviour[] = [
    { kind: 'cut' },
    { kind: 'answer', status: 503, body: '' },
    { kind: 'answer', status: 500, body: '{"status":500,"message":"no"}' },
    ...(hasSilence ? [{ kind: 'silence' } as const] : []),
  ]
  return pickOne(random, ways)
}

async function listDeliveries(hub: HubProcess): Promise<ListedDelivery[]> {
  const path = '/v1/admin/entregas'
  return (await hub.admin<{ entregas: ListedDelivery[] }>('GET', path)).entregas
}

async function findEarly(hub: HubProcess): Promise<string[]> {
  const early = (await listDeliveries(hub)).filter(({ status }) => status === 'instalada')
  return early.map(({ id }) => `delivery ${id} installed while the CA was out of order`)
}

async function findIncomplete(hub: HubProcess, expected: number): Promise<string[]> {
  const incomplete = async (): Promise<ListedDelivery[]> => {
    const deliveries = await listDeliveries(hub)
    invariant(deliveries.length === expected, 'all deliveries are listed')
    return deliveries.filter(({ status }) => status !== 'instalada')
  }
  try {
    const isComplete = async (): Promise<true | undefined> =>
      (await incomplete()).length === 0 ? true : undefined
    await waitUntil('all deliveries to be installed', isComplete, COMPLETE_MS_MAX)
    return []
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const left = await incomplete()
    return left.map(({ id, status }) => `delivery ${id} is ${status} and not installed`)
  }
}

async function findNotOnce(hub: HubProcess): Promise<string[]> {
  const events = await readEvents(hub, 'entrega_instalada')
  const byDelivery = Map.groupBy(events, (event) => event.entrega_id)
  return [...byDelivery]
    .filter(([, entries]) => entries.length !== 1)
    .map(([id, entries]) => `delivery ${id} was reported ${entries.length} times`)
}
