// Strangers who choose what it costs to refuse them: chains of all lengths with keys of all kinds, looked through for the one
// that costs the hub most; then three clients who send that one without a pause, beside an honest agent.

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SecureVersion } from 'node:tls'
import { cpuSeconds, stop } from '../../bench/daemon.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { enrollHost } from '../../test/support/enrolled-host.ts'
import {
  createHostileChain,
  HOSTILE_SHAPES,
  type HostileChain,
  type HostileShape,
} from '../../test/support/hostile-chain.ts'
import { pinnedNode } from '../../tools/build/runtime.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { buildAbuseProgram, type HonestAgent, startHonestAgent } from '../support/abuse-program.ts'
import { identityOf } from '../support/abuse-scene.ts'
import {
  describeLatency,
  isSlowed,
  LATENCY_RATIO_MAX,
  latenciesOf,
} from '../support/judge-abuse.ts'
import { keepToCores } from '../support/own-cores.ts'
import { type PinnedHub, startPinnedHub } from '../support/pinned-hub.ts'
import { shakeHandsOnce } from '../support/shake-hands-once.ts'

/** Of the hub's CPU, for one handshake that is refused. */
const HANDSHAKE_MS_MAX = 40
const CLIENTS = 3

const SETTINGS = {
  // Other tests use the machine at the same time: what three clients do to an agent is not tried.
  small: { lengths: [4, 20], versions: ['TLSv1.3'], handshakes: 6, extra: 0, seconds: 0 },
  full: {
    lengths: [1, 2, 3, 4, 5, 20, 70],
    versions: ['TLSv1.2', 'TLSv1.3'],
    handshakes: 40,
    extra: 40,
    seconds: 30,
  },
} as const satisfies Record<string, Setting>

interface Setting {
  readonly lengths: readonly number[]
  readonly versions: readonly SecureVersion[]
  /** Of each kind: the kernel counts CPU in hundredths of a second. */
  readonly handshakes: number
  /** Kinds that are tried besides, around the worst so far. */
  readonly extra: number
  /** How long three clients go on. */
  readonly seconds: number
}

interface Kind {
  readonly shape: HostileShape
  readonly length: number
  readonly version: SecureVersion
}

interface Measured extends Kind {
  readonly milliseconds: number
  readonly chain: HostileChain
}

export const costlyHandshakes: ReliabilityRow = {
  name: 'costly-handshakes',
  promise: `a refused handshake costs the hub at most ${HANDSHAKE_MS_MAX} ms; ${CLIENTS} clients of the worst kind slow no agent down (p99 at most ${LATENCY_RATIO_MAX} times idle)`,
  run: async (context) => {
    const setting = SETTINGS[context.setting]
    const isJudged = setting.seconds > 0
    const program = isJudged ? buildAbuseProgram(context.directory) : undefined
    if (isJudged && (program === undefined || availableParallelism() < 2)) {
      return { tried: 'nothing', broken: [], skipped: 'Go and two cores are needed' }
    }
    const lastCore = availableParallelism() - 1
    await using _kept = isJudged ? await keepToCores(`1-${lastCore}`) : undefined
    await using ca = await startDevCaProcess()
    await using hub = await startPinnedHub({
      directory: context.directory,
      caEnvironment: ca.environment,
      environment: {},
      cores: isJudged ? `0-${lastCore}` : undefined,
    })
    // Awaited here: what it uses ends with this function.
    return await tryHandshakes(context, setting, hub, program)
  },
}

async function tryHandshakes(
  context: RowContext,
  setting: Setting,
  hub: PinnedHub,
  program: string | undefined,
): Promise<RowResult> {
  const kinds = await findWorst(context, setting, hub)
  const [worst] = kinds
  const beside =
    program === undefined || worst === undefined
      ? undefined
      : await tryBeside(context, setting, hub, program, worst)
  return {
    tried: `${kinds.length} kinds of chains, ${setting.handshakes} handshakes each${beside === undefined ? '' : `, then ${CLIENTS} clients of the worst for ${setting.seconds} s`}`,
    broken: [
      ...kinds.filter(({ milliseconds }) => milliseconds > HANDSHAKE_MS_MAX).map(describe),
      ...(beside?.broken ?? []),
    ],
    measured: [...kinds.slice(0, 3).map(describe), ...(beside?.measured ?? [])].join('; '),
  }
}

/** The most costly first. */
async function findWorst(
  context: RowContext,
  { lengths, versions, handshakes, extra }: Setting,
  hub: PinnedHub,
): Promise<Measured[]> {
  const { random } = context
  // What is compiled once is not what one of them costs.
  for (let warmUp = 0; warmUp < 2; warmUp += 1) {
    await measure(hub, random, { shape: 'p-256', length: 4, version: 'TLSv1.3' }, handshakes)
  }
  const tried: Measured[] = []
  const attempt = async (kind: Kind): Promise<void> => {
    tried.push(await measure(hub, random, kind, handshakes))
    tried.sort((a, b) => b.milliseconds - a.milliseconds)
    context.progress(
      `${tried.length} kinds of chains, the worst: ${tried.slice(0, 1).map(describe).join()}`,
    )
  }
  for (const version of versions) {
    for (const shape of HOSTILE_SHAPES) {
      for (const length of lengths)
        if (canBeSent(shape, length)) await attempt({ shape, length, version })
    }
  }
  for (let more = 0; more < extra; more += 1) {
    const [worst] = tried.slice(Math.floor(random() * 3))
    if (worst === undefined) break
    const length = Math.max(1, Math.round(worst.length * (0.5 + random())))
    if (canBeSent(worst.shape, length)) await attempt({ ...worst, length })
  }
  return tried
}

/** OpenSSL's clients take no more than about 100 KB. */
function canBeSent(shape: HostileShape, length: number): boolean {
  return length * (shape === 'rsa-16384' ? 4400 : 1400) < 100_000
}

/** Each handshake comes from another address: what one of them costs is no matter of turns. */
async function measure(
  hub: PinnedHub,
  random: Random,
  kind: Kind,
  handshakes: number,
): Promise<Measured> {
  const chain = createHostileChain(kind.shape, kind.length)
  const spent = await cpuSeconds(hub.pid)
  for (let count = 0; count < handshakes; count += 1) {
    await shakeHandsOnce({
      port: hub.ports.mtls,
      address: randomAddress(random),
      cert: chain.certificatePem,
      key: chain.keyPem,
      version: kind.version,
    })
  }
  const milliseconds = (((await cpuSeconds(hub.pid)) - spent) / handshakes) * 1000
  return { ...kind, chain, milliseconds }
}

function randomAddress(random: Random): string {
  return `127.${[1, 2, 3].map(() => 1 + Math.floor(random() * 253)).join('.')}`
}

interface Beside {
  readonly broken: readonly string[]
  readonly measured: readonly string[]
}

async function tryBeside(
  context: RowContext,
  { seconds }: Setting,
  hub: PinnedHub,
  program: string,
  { chain }: Measured,
): Promise<Beside> {
  const host = await enrollHost(hub, 'honest')
  const address = `127.0.0.1:${hub.ports.mtls}`
  await using honest: HonestAgent = startHonestAgent(program, { ...identityOf(host), address })
  await honest.measure(seconds / 3)
  const before = await honest.measure(seconds)
  await using attack = await startClients(context, hub, chain)
  context.progress(`${CLIENTS} clients`)
  const spent = await cpuSeconds(hub.pid)
  const attacked = await honest.measure(seconds)
  const busy = ((await cpuSeconds(hub.pid)) - spent) / seconds
  await attack[Symbol.asyncDispose]()
  const after = await honest.measure(seconds)
  const latencies = latenciesOf([before, after], attacked)
  return {
    broken: [...latencies.filter(isSlowed).map(describeLatency), ...attacked.failures.slice(0, 1)],
    measured: [...latencies.map(describeLatency), `hub busy ${Math.round(busy * 100)} % of a core`],
  }
}

const CLIENT = fileURLToPath(new URL('../support/costly-client.ts', import.meta.url))

/** They yield to everybody else: what slows the agent down is the hub. */
async function startClients(
  { directory, random }: RowContext,
  hub: PinnedHub,
  { certificatePem, keyPem }: HostileChain,
): Promise<AsyncDisposable> {
  const file = join(directory, 'chain.pem')
  await writeFile(file, `${certificatePem}${keyPem}`)
  const clients = Array.from({ length: CLIENTS }, () => {
    const args = [CLIENT, String(hub.ports.mtls), randomAddress(random), file]
    return spawn('chrt', ['--idle', '0', pinnedNode(), ...args], { stdio: 'ignore' })
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map((client) => stop(client)))
    },
  }
}

function describe({ shape, length, version, milliseconds }: Measured): string {
  return `${length} intermediates, ${shape}, ${version}: ${milliseconds.toFixed(1)} ms`
}
