// Enrolments and events through a proxy that cuts connections before, during and after the reply.

import { join } from 'node:path'
import { agentPaths, prepareDirectories } from '../../src/agent/settings/paths.ts'
import { parseAgentConfig } from '../../src/agent/settings/config.ts'
import { createEnrollClient } from '../../src/agent/hub/enroll-client.ts'
import { enroll } from '../../src/agent/identity/enroll.ts'
import { requireIdentity } from '../../src/agent/identity/identity.ts'
import { type AgentSession, openSession } from '../../src/agent/identity/session.ts'
import { manifestPulled } from '../../src/agent/hub/wire.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { describeError } from '../../src/platform/errors.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { type Cut, type CuttingProxy, startCuttingProxy } from '../../test/fakes/cutting-proxy.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import { readEvents } from '../../test/support/audit-log.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { createKeyAndCsr } from '../../test/support/enrolled-host.ts'
import { type HubProcess, startHubProcess } from '../../test/support/hub-process.ts'
import { runProgram } from '../../test/support/processes.ts'
import { post } from '../../test/support/wire-client.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { pickInteger, pickOne } from '../support/pick.ts'

const COUNTS = {
  small: { enrolments: 50, byCommand: 1, events: 60 },
  full: { enrolments: 480, byCommand: 20, events: 500 },
}
/** One less than `enroll` tries by itself. */
const LOST_TRIES_MAX = 3
const FLUSHES_MAX = 50
const EVENTS_PER_SESSION = 40

/** Waits for nothing: the pauses between tries are not what is tried here. */
const impatientClock: Clock = { now: () => new Date(), sleep: () => Promise.resolve() }
const silent = createLogging({
  filter: { levelOf: () => 'off' },
  format: 'json',
  destination: { write: () => undefined },
})

export const lostReplies: ReliabilityRow = {
  name: 'lost replies',
  promise:
    'enrolments and events complete without a person; one row for each agent, each event once',
  run: async (context) => {
    await using stack = new AsyncDisposableStack()
    const ca = stack.use(await startDevCaProcess())
    const environment = {
      SVC_SERVER_CN: 'localhost',
      SVC_LIMIT_EVENTS: '0',
      SVC_LIMIT_EVENT_BYTES: '0',
    }
    const hub = stack.use(await startHubProcess({ caEnvironment: ca.environment, environment }))
    const enrolPort = stack.use(await startCuttingProxy(hub.ports.enroll))
    const mtlsPort = stack.use(await startCuttingProxy(hub.ports.mtls))
    return await new LostReplies(context, hub, enrolPort, mtlsPort).run()
  },
}

class LostReplies {
  readonly #context: RowContext
  readonly #hub: HubProcess
  readonly #enrolPort: CuttingProxy
  readonly #mtlsPort: CuttingProxy
  readonly #broken: string[] = []
  /** Serial of each host's identity on disk. */
  readonly #serials = new Map<string, string>()

  constructor(
    context: RowContext,
    hub: HubProcess,
    enrolPort: CuttingProxy,
    mtlsPort: CuttingProxy,
  ) {
    this.#context = context
    this.#hub = hub
    this.#enrolPort = enrolPort
    this.#mtlsPort = mtlsPort
  }

  async run(): Promise<RowResult> {
    const counts = COUNTS[this.#context.setting]
    for (let number = 1; number <= counts.enrolments; number += 1) {
      await this.#enrol(`host-${number}`, LOST_TRIES_MAX, (...one) => this.#enrolHere(...one))
    }
    for (let number = 1; number <= counts.byCommand; number += 1) {
      await this.#enrol(`command-${number}`, 1, (...one) => this.#enrolByCommand(...one))
    }
    await this.#checkAgents(counts.enrolments + counts.byCommand)
    const flushes = await this.#postEvents(counts.events)
    return {
      tried:
        `${counts.enrolments + counts.byCommand} enrolments (${counts.byCommand} by svc-agent), ` +
        `${counts.events} events; cuts: ${describeCuts(this.#enrolPort, this.#mtlsPort)}`,
      broken: this.#broken,
      measured: `${flushes} flushes for ${counts.events} events`,
    }
  }

  async #enrol(
    hostname: string,
    lostMax: number,
    tryIt: (hostname: string, token: string) => Promise<void>,
  ): Promise<void> {
    const { random } = this.#context
    const lost = Array.from({ length: pickInteger(random, 1, lostMax) }, () => cutOf(random, 1))
    const token = await this.#hub.createToken({ hostname })
    this.#enrolPort.plan(...lost)
    const where = `${hostname}, ${lost.map(({ moment }) => moment).join(' ')}`
    try {
      await tryIt(hostname, token)
      const identityDir = join(this.#dataDirOf(hostname), 'identity')
      this.#serials.set(hostname, (await requireIdentity(identityDir)).leaf.serial)
    } catch (error) {
      this.#broken.push(`${where}: ${describeError(error)}`)
    }
    this.#enrolPort.forgetPlan()
    await this.#checkThatTokenIsUsedUp(where, hostname, token)
  }

  #dataDirOf(hostname: string): string {
    return join(this.#context.directory, hostname)
  }

  #environmentOf(hostname: string): Record<string, string> {
    return {
      SVC_SERVER_URL: `http://127.0.0.1:${this.#enrolPort.port}`,
      SVC_SERVER_MTLS_URL: `https://localhost:${this.#mtlsPort.port}`,
      SVC_AGENT_DATA_DIR: this.#dataDirOf(hostname),
      SVC_AGENT_HOSTNAME: hostname,
      SVC_AGENT_ROLE: 'web',
    }
  }

  #configOf(hostname: string) {
    const environment = this.#environmentOf(hostname)
    return parseAgentConfig(environment, { command: 'run', osHostname: hostname })
  }

  async #enrolHere(hostname: string, token: string): Promise<void> {
    const environment = { ...this.#environmentOf(hostname), SVC_ENROLL_TOKEN: token }
    const config = parseAgentConfig(environment, { command: 'enroll', osHostname: hostname })
    const { enrollToken, serverUrl, hostname: name } = config
    if (enrollToken === undefined || serverUrl === undefined || name === undefined) {
      throw new Error('the environment has all that enroll needs')
    }
    const paths = agentPaths(config)
    await prepareDirectories(paths)
    const client = createEnrollClient({
      baseUrl: serverUrl,
      trustPem: undefined,
      httpsProxy: undefined,
      noProxy: undefined,
      version: '0.0.0',
    })
    const log = silent.forModule('agent')
    try {
      await enroll(
        { paths, client, clock: impatientClock, random: this.#context.random, log },
        {
          token: enrollToken,
          hostname: name,
          role: 'web',
          caFingerprints: undefined,
          replace: false,
        },
      )
    } finally {
      await client.close()
    }
  }

  async #enrolByCommand(hostname: string, token: string): Promise<void> {
    const environment = { ...this.#environmentOf(hostname), SVC_ENROLL_TOKEN: token }
    const { status, stderr } = await runProgram('svc-agent', ['enroll'], environment)
    if (status !== 0) throw new Error(stderr)
  }

  /** Whoever saw the token on its way, and has not the key, gets nothing for it. */
  async #checkThatTokenIsUsedUp(where: string, hostname: string, token: string): Promise<void> {
    const { csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'web', csr_pem: csrPem }
    const { status, text } = await post({ port: this.#hub.ports.enroll }, '/v1/enroll', body)
    if (status === 401 && text === '{"error":"token_consumed"}') return
    this.#broken.push(`${where}: the token again: ${status} ${text.slice(0, 100)}`)
  }

  async #checkAgents(count: number): Promise<void> {
    const { agentes } = await this.#hub.admin<{
      agentes: { hostname: string; cert_serial: string }[]
    }>('GET', '/v1/admin/agentes')
    if (agentes.length !== count) this.#broken.push(`${agentes.length} agents for ${count} hosts`)
    for (const [hostname, serial] of this.#serials) {
      const rows = agentes.filter((agent) => agent.hostname === hostname)
      if (rows.length === 1 && rows[0]?.cert_serial === serial) continue
      this.#broken.push(`${hostname} has ${serial}, the hub ${JSON.stringify(rows)}`)
    }
    const enrolled = await readEvents(this.#hub, 'agent_enrolled')
    if (enrolled.length !== count) {
      this.#broken.push(`${enrolled.length} entries agent_enrolled for ${count} hosts`)
    }
  }

  /** The outbox of a host, flushed until it is empty and opened again now and then, as by a restart. */
  async #postEvents(count: number): Promise<number> {
    const { random } = this.#context
    const [hostname] = this.#serials.keys()
    if (hostname === undefined) return 0
    let flushes = 0
    for (let next = 1; next <= count;) {
      const session = await this.#openSession(hostname)
      const end = Math.min(count, next + pickInteger(random, 1, EVENTS_PER_SESSION) - 1)
      while (next <= end) {
        for (let more = pickInteger(random, 1, 4); more > 0 && next <= end; more -= 1, next += 1) {
          await session.outbox.enqueue(manifestPulled(next))
        }
        flushes += await this.#flushAll(session)
      }
      await session.hub.close()
    }
    await this.#checkEvents(count)
    return flushes
  }

  #openSession(hostname: string): Promise<AgentSession> {
    return openSession({
      config: this.#configOf(hostname),
      clock: impatientClock,
      random: this.#context.random,
      logging: silent,
      version: '0.0.0',
    })
  }

  async #flushAll({ outbox, hub }: AgentSession): Promise<number> {
    const { random } = this.#context
    for (let flushes = 1; flushes <= FLUSHES_MAX; flushes += 1) {
      // The hello, the handshake's end with the first request, and the requests after it.
      this.#mtlsPort.forgetPlan()
      this.#mtlsPort.plan(cutOf(random, pickInteger(random, 1, 6)))
      if ((await outbox.flush(hub)) === 'empty') return flushes
    }
    this.#broken.push(`events still wait after ${FLUSHES_MAX} flushes`)
    return FLUSHES_MAX
  }

  async #checkEvents(count: number): Promise<void> {
    const recorded = await readEvents(this.#hub, 'manifest_pulled')
    const numbers = recorded.map(({ payload }) => Number(payload['count']))
    for (let number = 1; number <= count; number += 1) {
      const times = numbers.filter((one) => one === number).length
      if (times !== 1) this.#broken.push(`event ${number} is in the log ${times} times`)
    }
    if (numbers.some((number, index) => number < (numbers[index - 1] ?? 0))) {
      this.#broken.push(`events out of order: ${numbers.join(' ')}`)
    }
  }
}

function cutOf(random: Random, turn: number): Cut {
  const moment = pickOne(random, ['request', 'before', 'during', 'after'] as const)
  return { turn, moment, share: random() }
}

function describeCuts(...proxies: readonly CuttingProxy[]): string {
  const moments = ['request', 'before', 'during', 'after'] as const
  return moments
    .map((moment) => {
      const count = proxies.reduce((sum, { cuts }) => sum + (cuts.get(moment) ?? 0), 0)
      return `${count} ${moment === 'request' ? 'in the request' : `${moment} the reply`}`
    })
    .join(', ')
}
