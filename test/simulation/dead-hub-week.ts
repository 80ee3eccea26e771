// A hub that dies, stays away for six days, and comes back from a backup that was a day old; and the same with an operator who drops
// entries of the log before the restore. Real agents, real services, a real vault; the clock jumps.

import { invariant } from '../../src/platform/errors.ts'
import type { Logging } from '../../src/platform/logger.ts'
import { presentCertificate } from '../../src/hub/service/agent/authenticate-agent.ts'
import { createCsrPem } from '../../src/pki/csr.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import { createSeededRandom } from './seeded-random.ts'
import { createSimulatedCa } from './simulated-authority.ts'
import { dropEntries } from './simulated-backup.ts'
import { SimulatedHost } from './simulated-host.ts'
import { createSimulatedHub, type SimulatedHub } from './simulated-hub.ts'
import { type Nap, VirtualTime } from './virtual-time.ts'
import { type LoggedEntry, readVerifiedLog } from './week-log.ts'

export interface DeadHubOptions {
  readonly seed: number
  /** That enrolled before the backup. */
  readonly agents: number
  /** How many entries an operator drops from the middle of the log before the restore. */
  readonly dropped: number
  readonly logging: Logging
}

/** One thing that has to be so. */
export interface Promised {
  readonly text: string
  readonly isKept: boolean
}

const START = new Date('2030-01-01T00:00:00Z')
const DAY_MS = 24 * 3_600_000
const MINUTE_MS = 60_000
/** A certificate lives for a day, and is renewed twice in it at most. */
const POLL_INTERVAL = '2h'
const [BACKUP, DEATH, RETURN, END] = [1.2, 2.15, 8.15, 8.55].map(atDay) as [Date, Date, Date, Date]
/** Most hosts are where the hub was, and lose their power with it. One goes on trying, at both ends of the six days. */
const TRYING = 1
/** Nobody waits for webhooks here. */
const LATENESS = 10
/** One of so many is revoked, and one of so many more enrols, between the backup and the death of the hub. */
const SHARE = 10

interface Fleet {
  readonly time: VirtualTime
  readonly hub: SimulatedHub
  /** All, in the order in which they enrolled. */
  readonly hosts: SimulatedHost[]
  readonly early: readonly SimulatedHost[]
  readonly late: readonly SimulatedHost[]
  readonly revoked: readonly SimulatedHost[]
  /** Revoked and enrolled again, all after the backup. */
  readonly rebuilt: SimulatedHost
  /** Spent or ended after the backup, which knows them as open. */
  readonly usedTokens: { readonly hostname: string; readonly token: string }[]
}

export async function liveThroughDeadHub(options: DeadHubOptions): Promise<readonly Promised[]> {
  const { seed, logging, dropped } = options
  await using stack = new AsyncDisposableStack()
  const random = createSeededRandom(seed)
  const time = new VirtualTime(START)
  const ca = await createSimulatedCa(time, createSeededRandom(seed + 1))
  const hub = stack.use(await createSimulatedHub({ time, ca, random, logging, lateness: LATENESS }))
  const hosts: SimulatedHost[] = []
  const lateCount = Math.ceil(options.agents / SHARE)
  for (let index = 0; index < options.agents + lateCount; index += 1) {
    const host = await SimulatedHost.create({
      hostname: `web-${index}.example`,
      hub,
      time,
      logging,
      random: createSeededRandom(Math.floor(random() * 2 ** 32)),
      pollInterval: POLL_INTERVAL,
      clockOffsetMs: 0,
      naps: index < TRYING ? [IDLE] : [DARK],
      hasTrouble: () => false,
    })
    hosts.push(stack.use(host))
  }
  const early = hosts.slice(0, options.agents)
  const fleet: Fleet = {
    time,
    hub,
    hosts,
    early,
    late: hosts.slice(options.agents),
    // The one that goes on trying is among them.
    revoked: early.filter((_, index) => index % SHARE === 0),
    rebuilt: early[1] ?? early[0] ?? fail(),
    usedTokens: [],
  }
  let returned: Returned | undefined
  time.start(async () => {
    returned = await dieAndReturn(fleet, dropped)
  })
  await time.runUntil(END)
  invariant(returned !== undefined, 'the hub came back')
  return dropped > 0 ? judgeDropped(fleet) : await judge(fleet, returned)
}

const HOUR_MS = 3_600_000
const DARK: Nap = { from: new Date(DEATH.getTime() + HOUR_MS), to: RETURN }
/** All of the rounds in between would be the same. */
const IDLE: Nap = {
  from: new Date(DEATH.getTime() + 6 * HOUR_MS),
  to: new Date(RETURN.getTime() - 6 * HOUR_MS),
}

interface Returned {
  /** Of the log, when the hub came back. */
  readonly restoredEntries: number
  /** Tokens that enrolled a host again. */
  readonly spentIn: number
}

async function dieAndReturn(fleet: Fleet, dropped: number): Promise<Returned> {
  const { time, hub, early, late, revoked, rebuilt, usedTokens } = fleet
  const { admin } = await hub.start()
  for (const host of early) {
    await enrolAndRun(fleet, host, (await admin.createToken(requestOf(host))).token)
  }
  // A token lives for a week at most: made just before the backup, it is still good when the hub is back.
  await sleepUntil(time, new Date(BACKUP.getTime() - 10 * MINUTE_MS))
  const prepared = new Map<SimulatedHost, string>()
  // Every second one of those that come later has a token that the backup knows.
  for (const host of late.filter((_, index) => index % 2 === 0)) {
    const { token } = await admin.createToken(requestOf(host, 7))
    prepared.set(host, token)
  }
  const unwanted = await admin.createToken({
    hostname: 'never.example',
    role: ROLE,
    ttl_seconds: (7 * DAY_MS) / 1000,
  })
  await sleepUntil(time, BACKUP)
  const backup = await hub.backUp()

  for (const host of late) {
    const token = prepared.get(host) ?? (await admin.createToken(requestOf(host))).token
    usedTokens.push({ hostname: host.hostname, token })
    await enrolAndRun(fleet, host, token)
  }
  await admin.revokeToken({ token: unwanted.token })
  usedTokens.push({ hostname: 'never.example', token: unwanted.token })
  for (const { hostname } of revoked) await admin.revokeAgent({ agente: hostname })
  await admin.revokeAgent({ agente: rebuilt.hostname })
  const again = await admin.createToken({ ...requestOf(rebuilt), reenroll: true })
  usedTokens.push({ hostname: rebuilt.hostname, token: again.token })
  await rebuilt.enroll(again.token, { replace: true })
  await sleepUntil(time, DEATH)
  await hub.lose()

  await sleepUntil(time, RETURN)
  const middle = { from: early.length, to: early.length + dropped - 1 }
  const put = dropped > 0 ? await dropEntries(backup, middle) : backup
  const { head, actsDone, gap } = await hub.restore(put)
  if (dropped === 0) invariant(gap === undefined && actsDone > 0, gap ?? 'acts are done again')
  await hub.start()
  return { restoredEntries: head.log.entries, spentIn: await countAccepted(fleet, usedTokens) }
}

const ROLE = 'web'
const requestOf = ({ hostname }: SimulatedHost, days?: number) => ({
  hostname,
  role: ROLE,
  ...(days !== undefined && { ttl_seconds: (days * DAY_MS) / 1000 }),
})

async function enrolAndRun({ time }: Fleet, host: SimulatedHost, token: string): Promise<void> {
  await host.enroll(token)
  time.start(() => host.run())
  await time.sleep(MINUTE_MS)
}

async function judge(
  fleet: Fleet,
  { restoredEntries, spentIn }: Returned,
): Promise<readonly Promised[]> {
  const { hub, hosts, revoked, usedTokens } = fleet
  const log = await readVerifiedLog((hub.running ?? fail()).store.reader)
  const since = log.slice(restoredEntries)
  const idOf = new Map(
    log
      .filter(({ type }) => type === 'agent_enrolled')
      .map(({ payload }) => [payload['hostname'], payload['agente_id']]),
  )
  const sentBy = (host: SimulatedHost): readonly LoggedEntry[] =>
    since.filter(({ agentId }) => agentId !== null && agentId === idOf.get(host.hostname))
  const honest = hosts.filter((host) => !revoked.includes(host))
  const back: SimulatedHost[] = []
  for (const host of honest) {
    if (sentBy(host).length > 0 && (await isLetIn(fleet, host))) back.push(host)
  }
  const badlyIn: SimulatedHost[] = []
  for (const host of revoked) {
    if (sentBy(host).length > 0 || (await isLetIn(fleet, host))) badlyIn.push(host)
  }
  const tokens = since.filter(({ type }) => type === 'token_created').length
  const alarms = hosts.filter((host) => (host.knownLog?.alarms.length ?? 0) > 0).length
  const once = honest.filter(
    (host) => sentBy(host).filter(({ type }) => type === 'log_epoch_adopted').length === 1,
  ).length
  return [
    promise(`${tokens} tokens made by hand`, tokens === 0),
    promise(
      `${back.length} of ${honest.length} agents are back by themselves`,
      back.length === honest.length,
    ),
    promise(`${badlyIn.length} of ${revoked.length} revoked agents let in`, badlyIn.length === 0),
    promise(`${spentIn} of ${usedTokens.length} spent tokens accepted`, spentIn === 0),
    promise(`${once} of ${honest.length} agents report one epoch change`, once === honest.length),
    promise(`${alarms} alarms about the log`, alarms === 0),
  ]
}

/** Every agent that saw the entries: that kept a checkpoint of the day before the backup. */
function judgeDropped({ early, revoked }: Fleet): readonly Promised[] {
  const isRevoked = new Set(revoked)
  const witnesses = early.filter((host) => !isRevoked.has(host))
  const alarmed = witnesses.filter((host) => (host.knownLog?.alarms.length ?? 0) > 0).length
  return [
    promise(
      `${alarmed} of ${witnesses.length} agents that saw what was dropped raise the alarm`,
      alarmed === witnesses.length,
    ),
  ]
}

async function isLetIn({ hub }: Fleet, host: SimulatedHost): Promise<boolean> {
  const { leaf } = await host.readIdentity()
  const presented = presentCertificate(leaf.x509.toLegacyObject())
  return (await (hub.running ?? fail()).authenticateAgent(presented)).ok
}

async function countAccepted({ hub }: Fleet, tokens: Fleet['usedTokens']): Promise<number> {
  let accepted = 0
  for (const { hostname, token } of tokens) {
    const csrPem = await createCsrPem(hostname, await generateEcP256Key())
    const body = { token, hostname, role: ROLE, csr_pem: csrPem }
    const outcome = await (hub.running ?? fail()).enrollAgent(body, undefined)
    if (outcome.ok) accepted += 1
  }
  return accepted
}

function promise(text: string, isKept: boolean): Promised {
  return { text, isKept }
}

async function sleepUntil(time: VirtualTime, instant: Date): Promise<void> {
  await time.sleep(instant.getTime() - time.now().getTime())
}

function atDay(days: number): Date {
  return new Date(START.getTime() + days * DAY_MS)
}

function fail(): never {
  throw new Error('there is one')
}
