// A week in a minute: the real agents, the real services, a real vault, and a clock that jumps.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { presentCertificate } from '../../src/hub/service/agent/authenticate-agent.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import { findIssuedCertificateFault } from '../../src/pki/issued-certificate.ts'
import { parsePrivateKeyPem } from '../../src/pki/keys.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { parseLogFilter } from '../../src/platform/log-filter.ts'
import { predictRenewals } from './predict-renewals.ts'
import { seedFrom } from './seeded-random.ts'
import { hasCargo, simulateWeek, type SimulatedWeek, WEEK_ENDS } from './simulate-week.ts'
import type { SimulatedHost } from './simulated-host.ts'
import type { RunningHub } from './simulated-hub.ts'
import { followRenewals, type LoggedEntry, readVerifiedLog, shortestGapMs } from './week-log.ts'

const MINUTE_MS = 60_000

interface Aftermath {
  readonly week: SimulatedWeek
  readonly hub: RunningHub
  readonly log: readonly LoggedEntry[]
  readonly agentIds: ReadonlyMap<string, string>
  /** By agent id, then the name of the file. */
  readonly deliveryIds: ReadonlyMap<string, ReadonlyMap<string, string>>
}

const seed = seedFrom(process.env['SIM_SEED'])
test(`[AGT-19] [AGT-25] [AGT-26] [AGT-28] a week of outages, naps and wrong clocks ends with everything in order (SIM_SEED=${seed})`, (context) =>
  liveThrough(context))

async function liveThrough(context: TestContext): Promise<void> {
  const logging = createLogging({
    filter: parseLogFilter(process.env['SIM_LOG'] ?? 'off') ?? { levelOf: () => 'off' },
    format: 'json',
  })
  const startedMs = performance.now()
  await using week = await simulateWeek(seed, logging)
  const aftermath = await lookAround(week)
  for (const host of week.hosts) {
    await assertIdentityWorks(aftermath, host)
    await assertDelivered(aftermath, host)
    await assertEventsOnce(aftermath, host)
    assertRecoveries(aftermath, host)
  }
  assertNoNewTokens(aftermath)
  assertCalm(aftermath)
  context.diagnostic(`${summarise(aftermath)}, ${Math.round(performance.now() - startedMs)} ms`)
}

async function lookAround(week: SimulatedWeek): Promise<Aftermath> {
  const hub = week.hub.running
  assert.ok(hub !== undefined, 'the hub is back')
  const { agentes } = await hub.admin.listAgents({})
  const deliveryIds = new Map<string, Map<string, string>>()
  for (const { id, agente_id: agentId, nome, status } of (await hub.admin.listDeliveries({}))
    .entregas) {
    assert.equal(status, 'instalada')
    deliveryIds.set(agentId, (deliveryIds.get(agentId) ?? new Map<string, string>()).set(nome, id))
  }
  return {
    week,
    hub,
    log: await readVerifiedLog(hub.store.reader),
    agentIds: new Map(agentes.map(({ hostname, id }) => [hostname, id])),
    deliveryIds,
  }
}

async function assertIdentityWorks(aftermath: Aftermath, host: SimulatedHost): Promise<void> {
  const { week, hub, log } = aftermath
  const identity = await host.readIdentity()
  const now = week.time.now()
  assert.ok(identity.leaf.notBefore <= now && identity.leaf.notAfter > now)
  const outcome = await hub.authenticateAgent(
    presentCertificate(identity.leaf.x509.toLegacyObject()),
  )
  assert.ok(outcome.ok, `${host.hostname}: ${outcome.ok ? '' : outcome.refusal}`)
  const serials = followRenewals(renewalsOf(aftermath, host, undefined))
  assert.equal(serials.at(-1), identity.leaf.serial)
  const first = log.find(
    ({ type, payload }) => type === 'certificate_issued' && payload['hostname'] === host.hostname,
  )
  assert.equal(serials[0], first?.payload['serial'])
  assertAsOftenAsPredicted(aftermath, host, first, serials.length - 1)
}

async function assertDelivered(aftermath: Aftermath, host: SimulatedHost): Promise<void> {
  const { week, log } = aftermath
  for (const { name, sans } of week.cargoes) {
    const deliveryId = deliveryOf(aftermath, host, name)
    assert.equal(deliveryId !== undefined, hasCargo(week.hosts, host, name))
    if (deliveryId === undefined) continue
    const chain = parseCertificatesPem(await host.readOut(`${name}.crt`))
    const fault = findIssuedCertificateFault(chain, {
      publicKeySpki: parsePrivateKeyPem(await host.readOut(`${name}.key`)).publicKeySpki,
      commonName: host.hostname,
      sans: [host.hostname, ...sans],
      roots: parseCertificatesPem(week.hub.rootPem),
      now: week.time.now(),
      clockSkewMsMax: 0,
    })
    assert.equal(fault, undefined, `${host.hostname} ${name}`)
    const serials = followRenewals(renewalsOf(aftermath, host, deliveryId))
    assert.equal(serials.at(-1), chain[0]?.serial)
    const installed = log.filter(
      (entry) => entry.type === 'entrega_instalada' && entry.deliveryId === deliveryId,
    )
    assert.equal(installed.length, 1)
    assertAsOftenAsPredicted(aftermath, host, installed[0], serials.length - 1)
    const hooked = new Set(
      host.hookRuns
        .filter((run) => run.deliveryId === deliveryId)
        .map(({ environment }) => environment['SVC_SERIAL']),
    )
    assert.deepEqual([...hooked], serials, 'a hook ran for each version, in order')
  }
}

/** What the agent sent, however often, is there once; nothing waits, and nothing was set aside. */
async function assertEventsOnce({ log, agentIds }: Aftermath, host: SimulatedHost): Promise<void> {
  const logged = log.filter(({ agentId }) => agentId === agentIds.get(host.hostname))
  const sent = new Map(host.sentEvents.map((event) => [event.request_id ?? null, event]))
  const counts = new Map<string | null, number>()
  for (const { requestId, type } of logged) {
    counts.set(requestId, (counts.get(requestId) ?? 0) + 1)
    assert.equal(type, sent.get(requestId)?.tipo_evento)
  }
  assert.deepEqual(new Set(counts.keys()), new Set(sent.keys()))
  assert.deepEqual(new Set(counts.values()), new Set([1]))
  assert.equal(host.eventsWaiting, 0)
  assert.deepEqual(await readdir(host.outboxDir), ['refused'])
  assert.deepEqual(await readdir(join(host.outboxDir, 'refused')), [])
}

/** One outage longer than the identity lives, one recovery; a nap of its own is another. */
function assertRecoveries(aftermath: Aftermath, host: SimulatedHost): void {
  const { hubAway } = aftermath.week
  const isNapApart = host.options.naps.some((nap) => nap.from > hubAway.to)
  const recoveries = renewalsOf(aftermath, host, undefined).filter(
    ({ payload }) => payload['trigger'] === 'recovery',
  )
  assert.equal(recoveries.length, isNapApart ? 2 : 1, host.hostname)
}

function assertAsOftenAsPredicted(
  { week }: Aftermath,
  host: SimulatedHost,
  first: LoggedEntry | undefined,
  count: number,
): void {
  const outages = [week.hubAway, ...host.options.naps]
  const { min, max } = predictRenewals(new Date(first?.atMs ?? 0), WEEK_ENDS, outages)
  assert.ok(count >= min && count <= max, `${host.hostname}: ${count}, not ${min} to ${max}`)
}

function assertNoNewTokens({ week, log }: Aftermath): void {
  const tokens = log.filter(({ type }) => type === 'token_created')
  assert.equal(tokens.length, week.hosts.length)
  assert.ok(tokens.every(({ atMs }) => atMs <= week.startedAt.getTime()))
  const enrolled = log.filter(({ type }) => type === 'agent_enrolled')
  assert.equal(enrolled.length, week.hosts.length)
}

/** No certificate is asked for twice within a minute, neither by the log nor on the way to the hub. */
function assertCalm(aftermath: Aftermath): void {
  const { week, log } = aftermath
  for (const host of week.hosts) {
    const ids = [...(aftermath.deliveryIds.get(aftermath.agentIds.get(host.hostname) ?? '') ?? [])]
    for (const deliveryId of [null, ...ids.map(([, id]) => id)]) {
      const installed = log.find(
        (entry) => entry.type === 'entrega_instalada' && entry.deliveryId === deliveryId,
      )
      const sinceMs = installed?.atMs ?? 0
      const issued = log.filter(
        (entry) =>
          entry.type === 'certificate_issued' &&
          entry.payload['hostname'] === host.hostname &&
          entry.deliveryId === deliveryId &&
          entry.atMs > sinceMs,
      )
      assert.ok(shortestGapMs(issued) >= MINUTE_MS, `${host.hostname} ${deliveryId}`)
      for (const route of ['issue', 'recover']) {
        const times = host.attempts
          .filter((attempt) => attempt.route === route)
          .filter(({ subject, at }) => subject === (deliveryId ?? 'identity') && +at > sinceMs)
          .map(({ at }) => at.getTime())
        const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))
        assert.ok(Math.min(MINUTE_MS, ...gaps) >= MINUTE_MS, `${host.hostname} ${route}`)
      }
    }
  }
}

function renewalsOf(
  { log, agentIds }: Aftermath,
  host: SimulatedHost,
  deliveryId: string | undefined,
): readonly LoggedEntry[] {
  const agentId = agentIds.get(host.hostname)
  return log.filter(
    (entry) =>
      entry.type === 'cert_renewed' &&
      entry.agentId === agentId &&
      entry.deliveryId === (deliveryId ?? null),
  )
}

function deliveryOf(
  { agentIds, deliveryIds }: Aftermath,
  { hostname }: SimulatedHost,
  name: string,
): string | undefined {
  return deliveryIds.get(agentIds.get(hostname) ?? '')?.get(name)
}

function summarise({ week, log }: Aftermath): string {
  const renewals = log.filter(({ type }) => type === 'cert_renewed')
  const recoveries = renewals.filter(({ payload }) => payload['trigger'] === 'recovery')
  const delivered = renewals.filter(({ deliveryId }) => deliveryId !== null)
  const sum = (count: (host: SimulatedHost) => number): number =>
    week.hosts.reduce((total, host) => total + count(host), 0)
  return [
    `7 virtual days, ${week.hosts.length} agents`,
    `${sum(({ polls }) => polls)} polls`,
    `${renewals.length} renewals (${delivered.length} delivered)`,
    `${recoveries.length} recoveries`,
    `${sum(({ hookRuns }) => hookRuns.length)} hook runs`,
    `${sum(({ lostReplies }) => lostReplies)} replies lost`,
    `${log.length} log entries`,
  ].join(', ')
}
