// Strangers who hold connections, shake hands and guess tokens, all at once, while an agent goes on working.
//
// How it is measured. The first core is the hub's alone; the attacker, the agent that is measured, the CA and the hosts
// that enrol are on the other cores, the attacker with the scheduler's idle policy: it takes what they leave, so that
// what slows the agent down is the hub. The hub may use the other cores too, as it may on any machine: its event loop
// has one, and V8 collects and compiles beside it, which would otherwise share that one with it. The attackers'
// addresses are hundreds of 127.0.0.0/8, so that no limit of one address helps the hub; the agent's is another. The
// agent asks for its manifest, one request at a time, on a connection that it keeps and on new ones in turn, and each
// second another host enrols. Idle is the same, at the same hub, before and after the attack.
// What an operator sees of memory is VmRSS. It is compared with what it was after a first attack of the same kind, which is
// longer: glibc keeps the pages that 6,000 connections have once taken, and V8 has taken all that it will only when it has
// collected a few times. A leak would add to them. The figure of the fresh hub is told.
// The attacker's slow connections go on sending after the hub's answer and never close: held is until the hub lets go.

import { availableParallelism } from 'node:os'
import { residentMegabytes } from '../../bench/daemon.ts'
import { describeError } from '../../src/platform/errors.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { enrollHost } from '../../test/support/enrolled-host.ts'
import { HUB_NAME } from '../../test/support/hub.ts'
import { ensureSslyze } from '../../tools/install-sslyze.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { buildAbuseProgram, startHonestAgent } from '../support/abuse-program.ts'
import {
  type AbuseSetting,
  attackDuring,
  type AttackResult,
  type Footprint,
  type HonestResult,
  measureHonest,
  footprintOf,
  identityOf,
  type Scene,
} from '../support/abuse-scene.ts'
import {
  describeAttack,
  describeLatency,
  faultsOfAttack,
  isSlowed,
  latenciesOf,
  shortfallsOf,
} from '../support/judge-abuse.ts'
import { keepToCores } from '../support/own-cores.ts'
import { startPinnedHub } from '../support/pinned-hub.ts'
import { findSlowhttptestFaults, hasSlowhttptest } from '../support/run-slowhttptest.ts'
import { findSslyzeFaults } from '../support/run-sslyze.ts'

const RECOVERY_SECONDS_MAX = 60
const RECOVERY_STEP_SECONDS = 2

const SETTINGS = {
  // Lower limits, so that a connection reaches them in seconds. Other tests use the machine at the same time: nothing is
  // pinned, and ratios are told and not judged.
  small: {
    told: { slowConnections: 100, handshakesPerSecond: 20, guessesPerSecond: 100 },
    limits: { headersSeconds: 2, requestSeconds: 3, handshakeSeconds: 2, slackSeconds: 15 },
    slowhttptestConnections: 50,
    rampSeconds: 1,
    rehearsalSeconds: 8,
    settleSeconds: 0.5,
    idleSeconds: 1,
    attackSeconds: 2,
    memoryGrowthMax: 0.5,
    isMeasuredAlone: false,
  },
  full: {
    told: { slowConnections: 2000, handshakesPerSecond: 300, guessesPerSecond: 2000 },
    limits: { headersSeconds: 10, requestSeconds: 15, handshakeSeconds: 5, slackSeconds: 5 },
    slowhttptestConnections: 500,
    rampSeconds: 10,
    rehearsalSeconds: 120,
    settleSeconds: 45,
    idleSeconds: 20,
    attackSeconds: 60,
    memoryGrowthMax: 0.1,
    isMeasuredAlone: true,
  },
} as const satisfies Record<string, AbuseSetting>

export const abuse: ReliabilityRow = {
  name: 'abuse',
  promise:
    'the hub serves honest agents through abuse (p99 at most 3 times idle), and abuse leaves nothing behind',
  run: async (context) => {
    const setting = SETTINGS[context.setting]
    if (process.platform !== 'linux' || availableParallelism() < 2) {
      return { tried: 'nothing', broken: [], skipped: 'Linux with two cores is needed' }
    }
    const program = buildAbuseProgram(context.directory)
    if (program === undefined) return { tried: 'nothing', broken: [], skipped: 'Go is needed' }
    return tryAbuse(context, setting, program)
  },
}

async function tryAbuse(
  context: RowContext,
  setting: AbuseSetting,
  program: string,
): Promise<RowResult> {
  const { limits } = setting
  const sslyze = await ensureSslyze()
  const lastCore = availableParallelism() - 1
  await using _kept = setting.isMeasuredAlone ? await keepToCores(`1-${lastCore}`) : undefined
  await using ca = await startDevCaProcess()
  await using hub = await startPinnedHub({
    directory: context.directory,
    caEnvironment: ca.environment,
    environment: {
      SVC_LIMIT_HEADERS_SECONDS: String(limits.headersSeconds),
      SVC_LIMIT_REQUEST_SECONDS: String(limits.requestSeconds),
      SVC_LIMIT_HANDSHAKE_SECONDS: String(limits.handshakeSeconds),
    },
    cores: setting.isMeasuredAlone ? `0-${lastCore}` : undefined,
  })
  const [host, hostile] = [await enrollHost(hub, 'honest'), await enrollHost(hub, 'hostile')]
  const address = `127.0.0.1:${hub.ports.mtls}`
  await using honest = startHonestAgent(program, { ...identityOf(host), address })
  // Awaited here: what it uses ends with this function.
  return await attackAndJudge({ context, setting, program, hub, hostile, honest, sslyze })
}

async function attackAndJudge(scene: Scene): Promise<RowResult> {
  const { context, setting, hub, honest } = scene
  const fresh = await residentMegabytes(hub.pid)

  context.progress('slowhttptest and sslyze')
  // Before the attacks: they would take from the attacker what it needs to see when the hub lets go.
  const reports = await makeReports(scene).catch((error: unknown) => ({
    tried: 'reports incomplete',
    faults: [describeError(error)],
  }))
  context.progress('first attack')
  const rehearsal = await attackDuring(scene, 'first', setting.rehearsalSeconds)
  await honest.measure(setting.settleSeconds)

  context.progress('idle')
  const idle = await measureHonest(scene, 'before', setting.idleSeconds)
  const before = await footprintOf(hub)
  context.progress('second attack')
  const second = await attackDuring(scene, 'second', setting.attackSeconds)
  context.progress('after it')
  const idleAfter = await measureHonest(scene, 'after', setting.idleSeconds)
  const after = await awaitRecovery(scene, before)

  return judge(setting, { fresh, rehearsal, reports, idle, before, second, idleAfter, after })
}

interface Course {
  /** Megabytes of a hub that nobody has used yet. */
  readonly fresh: number
  readonly rehearsal: AttackResult
  readonly reports: Reports
  readonly idle: HonestResult
  readonly before: Footprint
  readonly second: AttackResult
  readonly idleAfter: HonestResult
  readonly after: Recovery
}

function judge(setting: AbuseSetting, course: Course): RowResult {
  const { rehearsal, reports, idle, before, second, idleAfter, after } = course
  const latencies = latenciesOf([idle.samples, idleAfter.samples], second.samples)
  const enrolled = rehearsal.enrolled + second.enrolled
  const seconds = second.outcome.seconds.toFixed(0)
  return {
    tried: `${describeAttack(second.outcome)}, for ${seconds} s, ${enrolled} honest enrolments beside it; ${reports.tried}`,
    broken: [
      ...reports.faults,
      ...[rehearsal, second].flatMap(({ outcome }) => faultsOfAttack(outcome, setting.limits)),
      ...[rehearsal, second].flatMap(({ failures }) => summarise('under attack', failures)),
      ...summarise('idle', [...idle.failures, ...idleAfter.failures]),
      ...after.faults,
      ...(setting.isMeasuredAlone ? shortfallsOf(second.outcome, setting.told) : []),
      ...(setting.isMeasuredAlone ? latencies.filter(isSlowed).map(describeLatency) : []),
    ],
    measured: [
      ...latencies.map(describeLatency),
      `hub busy ${Math.round(second.busy * 100)} % of a core`,
      `descriptors ${before.descriptors}, ${second.descriptors} at the end of the attack, ${after.footprint.descriptors} after`,
      `memory ${[course.fresh, before.megabytes, after.footprint.megabytes].map(Math.round).join(', ')} MB when fresh, before and after`,
    ].join('; '),
  }
}

/** An agent that fails once fails often, and always in the same way. */
function summarise(when: string, failures: readonly string[]): string[] {
  const [first] = failures
  return first === undefined ? [] : [`${failures.length} failures ${when}, first: ${first}`]
}

interface Recovery {
  readonly footprint: Footprint
  readonly faults: readonly string[]
}

/** The agent goes on meanwhile. */
async function awaitRecovery(
  { setting, hub, honest }: Scene,
  before: Footprint,
): Promise<Recovery> {
  const deadlineMs = performance.now() + (RECOVERY_SECONDS_MAX - setting.idleSeconds) * 1000
  const megabytesMax = before.megabytes * (1 + setting.memoryGrowthMax)
  for (;;) {
    const footprint = await footprintOf(hub)
    const isOpen = footprint.descriptors > before.descriptors
    const isLarge = footprint.megabytes > megabytesMax
    if ((!isOpen && !isLarge) || performance.now() > deadlineMs) {
      const faults = [
        ...(isOpen ? [`${footprint.descriptors} descriptors after ${before.descriptors}`] : []),
        ...(isLarge ? [`${footprint.megabytes} MB after ${before.megabytes}`] : []),
      ]
      return { footprint, faults }
    }
    await honest.measure(RECOVERY_STEP_SECONDS)
  }
}

interface Reports {
  /** Which of the tools were there. */
  readonly tried: string
  readonly faults: readonly string[]
}

async function makeReports(scene: Scene): Promise<Reports> {
  const { context, setting, hub, hostile, sslyze } = scene
  const { directory } = context
  const isThere = hasSlowhttptest()
  const [slow, scanned] = await Promise.all([
    isThere
      ? findSlowhttptestFaults({
          url: `http://127.0.0.1:${hub.ports.enroll}/v1/enroll`,
          directory,
          connections: setting.slowhttptestConnections,
          requestSeconds: setting.limits.requestSeconds,
          slackSeconds: setting.limits.slackSeconds,
        })
      : [],
    sslyze === undefined
      ? []
      : findSslyzeFaults({
          sslyze,
          port: hub.ports.mtls,
          serverName: HUB_NAME,
          identity: hostile,
          directory,
        }),
  ])
  const tried = `slowhttptest ${isThere ? 'four tests' : 'not installed'}, sslyze ${sslyze === undefined ? 'not installed' : 'two scans'}`
  return { tried, faults: [...slow, ...scanned] }
}
