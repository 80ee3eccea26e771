// A hub that lists what no honest hub would to the real agent, and requests that no honest agent sends to the real hub.

import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { FakeHub } from '../../test/fakes/hub-server.ts'
import { FUZZED_HUB, FuzzTally, prepareFuzzedHub, sendAll } from '../../test/fuzz/fuzz-hub.ts'
import { malformedRequest } from '../../test/fuzz/malformed-request.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { startHubProcess } from '../../test/support/hub-process.ts'
import { type Ended, runProgram } from '../../test/support/processes.ts'
import { send } from '../../test/support/wire-client.ts'
import type { ReliabilityRow, RowContext } from '../row.ts'
import { findMissingStrace } from '../support/missing-strace.ts'
import { readPair, readText } from '../support/host-files.ts'
import { goodEntry, HOSTILE_MANIFESTS, hostileEntries } from '../support/hostile-manifest.ts'
import { pickInteger, pickOne } from '../support/pick.ts'
import { runAgentTraced } from '../support/traced-writes.ts'

const COUNTS = {
  small: { entries: 60, entriesAtOnce: 30, shapes: 2, requests: 600 },
  full: { entries: 600, entriesAtOnce: 30, shapes: HOSTILE_MANIFESTS.length, requests: 20_000 },
}
const ALLOWED_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
/** What a defect of ours looks like from outside. */
const CRASH = /internal error|Round failed|TypeError|RangeError|heap out of memory|\n {4}at /

export const hostilePeers: ReliabilityRow = {
  name: 'hostile hub, hostile agent',
  promise: 'a hostile hub changes no file outside its place, a hostile agent crashes no hub',
  run: async (context) => {
    const missing = findMissingStrace()
    if (missing !== undefined) return { tried: 'nothing', broken: [], skipped: missing }
    const ofHub = await tryHostileHub(context)
    const ofAgent = await tryHostileAgent(context)
    return {
      tried: `${ofHub.tried}; ${ofAgent.tried}`,
      broken: [...ofHub.broken, ...ofAgent.broken],
      measured: ofAgent.measured,
    }
  },
}

interface Tried {
  readonly tried: string
  readonly broken: readonly string[]
}

async function tryHostileHub(context: RowContext): Promise<Tried> {
  const counts = COUNTS[context.setting]
  const seed = pickInteger(context.random, 0, 2 ** 31 - 1)
  const host = await HostileHubHost.create(join(context.directory, 'host'))
  await using stack = new AsyncDisposableStack()
  stack.use(host)
  const entries = hostileEntries(counts.entries, seed)
  for (let from = 0; from < entries.length; from += counts.entriesAtOnce) {
    await host.round(`entries from ${from}`, entries.slice(from, from + counts.entriesAtOnce))
  }
  const shapes =
    counts.shapes === HOSTILE_MANIFESTS.length
      ? HOSTILE_MANIFESTS
      : Array.from({ length: counts.shapes }, () => pickOne(context.random, HOSTILE_MANIFESTS))
  for (const [what, make] of shapes) await host.shape(what, make())
  await host.honestRound()
  const tried = `${entries.length} hostile entries and ${shapes.length} hostile manifests to svc-agent`
  return {
    tried: `${tried}, which changed ${host.pathsSeen} paths`,
    broken: host.broken.map((fault) => `seed ${seed}, ${fault}`),
  }
}

/** The agent of a hub that lists what it likes, and a record of all that it changes. */
class HostileHubHost implements AsyncDisposable {
  readonly #hub: FakeHub
  readonly #directory: string
  readonly broken: string[] = []
  pathsSeen = 0
  #rounds = 0

  private constructor(hub: FakeHub, directory: string) {
    this.#hub = hub
    this.#directory = directory
  }

  static async create(directory: string): Promise<HostileHubHost> {
    // Deep enough for a few steps up to stay in a place that is looked at.
    const host = new HostileHubHost(await FakeHub.start(), join(directory, 'a/b/c'))
    await mkdir(host.#directory, { recursive: true, mode: 0o755 })
    host.#hub.tokens.set('svct_token', { hostname: 'web-1', role: 'web' })
    const { status, stderr } = await runProgram('svc-agent', ['enroll'], {
      ...host.#environment,
      SVC_ENROLL_TOKEN: 'svct_token',
    })
    if (status !== 0) throw new Error(stderr)
    return host
  }

  get #dataDir(): string {
    return join(this.#directory, 'data')
  }

  get #environment(): Record<string, string> {
    return {
      SVC_SERVER_URL: this.#hub.enrollUrl,
      SVC_SERVER_MTLS_URL: this.#hub.mtlsUrl,
      SVC_AGENT_DATA_DIR: this.#dataDir,
      SVC_AGENT_HOSTNAME: 'web-1',
      SVC_AGENT_ROLE: 'web',
      SVC_LOG_FORMAT: 'json',
    }
  }

  /** These entries with an honest one behind them, which they must not hold up. */
  async round(what: string, entries: readonly object[]): Promise<void> {
    this.#rounds += 1
    const name = `honest-${this.#rounds}`
    await this.#poll(what, [...entries, goodEntry(name)])
    const pair = await readPair(this.#path(`out/${name}.crt`), this.#path(`out/${name}.key`))
    if (typeof pair === 'object') return
    this.broken.push(`${what}: the honest delivery beside them: ${pair ?? 'not installed'}`)
  }

  async shape(what: string, manifest: unknown): Promise<void> {
    await this.#poll(what, manifest)
  }

  async honestRound(): Promise<void> {
    const { status, stderr } = await this.#poll('an honest manifest', [goodEntry('last')])
    if (status !== 0) this.broken.push(`the honest round at the end: ${stderr.slice(-500)}`)
  }

  async #poll(what: string, manifest: unknown): Promise<Ended> {
    // A hostile hub is not held to the types of an honest one.
    this.#hub.entregas = manifest as FakeHub['entregas']
    this.#hub.settlesDeliveries = false
    const identity = await this.#readIdentity()
    const around = await listAround(this.#directory)
    const log = join(dirname(dirname(dirname(this.#directory))), 'trace')
    const { ended, paths } = await runAgentTraced(['run', '--once'], this.#environment, log)
    this.pathsSeen += paths.length
    if (ended.signal !== null || CRASH.test(ended.stderr)) {
      this.broken.push(`${what}: ${ended.signal ?? ''} ${ended.stderr.slice(-2000)}`)
    }
    const strays = paths.filter((path) => !this.#isInPlace(path))
    if (strays.length > 0) this.broken.push(`${what}: changed ${strays.join(', ')}`)
    if ((await this.#readIdentity()) !== identity) this.broken.push(`${what}: another identity`)
    const now = await listAround(this.#directory)
    if (now.join() !== around.join()) this.broken.push(`${what}: beside it ${now.join(' ')}`)
    this.broken.push(...(await this.#findStrangers()).map((fault) => `${what}: ${fault}`))
    return ended
  }

  #path(name: string): string {
    return join(this.#dataDir, name)
  }

  #readIdentity(): Promise<string | undefined> {
    return readText(this.#path('identity/agent.crt'))
  }

  /** As the kernel got the path: a path with a step up is not the agent's, wherever it leads. */
  #isInPlace(path: string): boolean {
    if (path === '/dev/null' || path === this.#dataDir) return true
    if (path.split('/').includes('..')) return false
    // The lock and the socket, which are named through descriptors, and what links lead to.
    if (!path.startsWith('/') || path.startsWith('/proc/self/fd/')) return true
    return path.startsWith(`${this.#dataDir}/`)
  }

  async #findStrangers(): Promise<string[]> {
    const names = await readdir(this.#path('out'))
    const allowed = names.filter((name) => {
      const nome = name.replace(/\.(crt|key)$/, '')
      return (
        (nome !== name && ALLOWED_NAME.test(nome) && !nome.includes('..')) ||
        /^\.(versions|changed)$/.test(name)
      )
    })
    return names.filter((name) => !allowed.includes(name)).map((name) => `out/${name}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#hub[Symbol.asyncDispose]()
  }
}

/** All that lies around the data directory, three steps up. */
async function listAround(directory: string): Promise<string[]> {
  const top = dirname(dirname(dirname(directory)))
  const names = await readdir(top, { recursive: true })
  return names.filter((name) => name !== 'trace' && !name.startsWith('a/b/c/data/')).sort()
}

async function tryHostileAgent(
  context: RowContext,
): Promise<Tried & { readonly measured: string }> {
  const { requests: count } = COUNTS[context.setting]
  const seed = pickInteger(context.random, 0, 2 ** 31 - 1)
  await using stack = new AsyncDisposableStack()
  const ca = stack.use(await startDevCaProcess())
  const hub = stack.use(
    await startHubProcess({ caEnvironment: ca.environment, environment: FUZZED_HUB }),
  )
  const fuzzed = await prepareFuzzedHub(hub)
  const { pid } = hub
  const filesBefore = (await readdir(hub.vaultRoot)).sort()
  const tally = new FuzzTally()
  await sendAll(fuzzed, fc.sample(malformedRequest(fuzzed.facts), { numRuns: count, seed }), tally)
  const broken = tally.faults.map((fault) => `seed ${seed}: ${fault}`)
  const errors = hub.logEntries().filter(({ level }) => level === 'error' || level === 'fatal')
  broken.push(...errors.map((entry) => `seed ${seed}, hub: ${JSON.stringify(entry)}`))
  const health = await send({ port: hub.ports.health }, { path: '/health' })
  if (health.status !== 200 || hub.pid !== pid) broken.push(`seed ${seed}: the hub is not well`)
  const filesAfter = (await readdir(hub.vaultRoot)).sort()
  if (filesAfter.join() !== filesBefore.join()) {
    broken.push(`seed ${seed}, vault directory: ${filesAfter.join(' ')}`)
  }
  const { status, stdout } = await hub.svc('evento', 'list', '--verify', '--json')
  if (status !== 0) broken.push(`seed ${seed}, the log: ${stdout.slice(-500)}`)
  return {
    tried: `${count} malformed requests to svc-server`,
    broken,
    measured: `answers: ${tally.describe()}`,
  }
}
