// The CA stands still while many hosts wait for their enrolment, which they ask for again and again.

import { readdir } from 'node:fs/promises'
import { systemClock } from '../../src/platform/clock.ts'
import { describeError, invariant } from '../../src/platform/errors.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { createKeyAndCsr } from '../../test/support/enrolled-host.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { post, send } from '../../test/support/wire-client.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import { buildHubProgram } from './hub-program.ts'
import { createHubVault, type LaunchedHub } from './hub-vault.ts'
import { startPausableCa } from './pausable-ca.ts'

export interface SilentCaOptions {
  readonly directory: string
  readonly silenceMs: number
  readonly bounds: SilentCaBounds
  readonly random: Random
}

export interface SilentCaBounds {
  /** From a request to its answer. */
  readonly answeredMs: number
  /** From the return of the CA to the first enrolment. */
  readonly firstSuccessMs: number
  /** An answer of /health. */
  readonly healthMs: number
}

export interface SilentCaFindings {
  readonly broken: readonly string[]
  readonly refusals: number
  readonly measured: string
}

const WAITING = 100
const HEALTH_PAUSE_MS = 50
const RETRY_PAUSE_MS = 200
const ALL_ENROLLED_MS_MAX = 30_000
/** The hub lets go of an idle connection to the CA after seconds, and of one that was never made after ten. */
const SOCKETS_BACK_MS_MAX = 30_000
const ROLE = 'web'

export async function trySilentCa(options: SilentCaOptions): Promise<SilentCaFindings> {
  const { directory, bounds, random } = options
  await using ca = await startPausableCa(directory)
  const program = await buildHubProgram(directory)
  await using vault = await createHubVault({ directory, program, caEnvironment: ca.environment })
  const hub = vault.launch()
  const ports = await hub.ports()
  invariant(ports, `the hub did not start: ${hub.running.stderr()}`)
  const admin = await vault.admin()
  const watch = new OutageWatch(ports.enroll, bounds.answeredMs, random)
  const requests = await createRequests(admin)
  const descriptorsBefore = await countDescriptors(hub)

  const health = watchHealth(ports.health, () => watch.isOver)
  ca.pause()
  const clients = requests.map((request) => watch.enrolUntilDone(request))
  await systemClock.sleep(options.silenceMs)
  watch.broken.push(...(await findEnrolled(admin)))
  ca.resume()
  const returnedMs = performance.now()
  watch.endsMs = returnedMs + ALL_ENROLLED_MS_MAX
  await Promise.all(clients)
  watch.isOver = true
  const slowestHealthMs = await health

  const firstSuccessMs = watch.firstSuccessMs - returnedMs
  watch.expect(firstSuccessMs >= 0, `a success ${Math.round(-firstSuccessMs)} ms before the return`)
  watch.expect(
    firstSuccessMs <= bounds.firstSuccessMs,
    `the first success came ${Math.round(firstSuccessMs)} ms after the return`,
  )
  watch.expect(slowestHealthMs <= bounds.healthMs, `/health took ${Math.round(slowestHealthMs)} ms`)
  watch.broken.push(...(await findNotEnrolledOnce(admin)))
  watch.broken.push(...(await findLeaks(hub, descriptorsBefore)))
  return {
    broken: watch.broken,
    refusals: watch.refusals,
    measured: `slowest refusal after ${Math.round(watch.slowestRefusalMs)} ms, first success ${Math.round(firstSuccessMs)} ms after the return, slowest /health ${Math.round(slowestHealthMs)} ms`,
  }
}

/** What a client asks for. */
type EnrollRequest = Readonly<Record<'token' | 'hostname' | 'role' | 'csr_pem', string>>

class OutageWatch {
  isOver = false
  /** Whoever is not enrolled by then never will be. */
  endsMs = Number.POSITIVE_INFINITY
  refusals = 0
  slowestRefusalMs = 0
  firstSuccessMs = Number.POSITIVE_INFINITY
  readonly broken: string[] = []
  readonly #port: number
  readonly #answeredMsMax: number
  readonly #random: Random

  constructor(port: number, answeredMsMax: number, random: Random) {
    this.#port = port
    this.#answeredMsMax = answeredMsMax
    this.#random = random
  }

  expect(isSo: boolean, otherwise: string): void {
    if (!isSo) this.broken.push(otherwise)
  }

  async enrolUntilDone(request: EnrollRequest): Promise<void> {
    try {
      await this.#enrolUntilDone(request)
    } catch (error) {
      this.broken.push(`${request.hostname}: ${describeError(error)}`)
    }
  }

  async #enrolUntilDone(request: EnrollRequest): Promise<void> {
    for (;;) {
      const sentMs = performance.now()
      const { status, text } = await post({ port: this.#port }, '/v1/enroll', request)
      const answeredMs = performance.now()
      const tookMs = answeredMs - sentMs
      this.expect(
        tookMs <= this.#answeredMsMax,
        `${request.hostname}: answered after ${Math.round(tookMs)} ms`,
      )
      if (status === 200) {
        this.firstSuccessMs = Math.min(this.firstSuccessMs, answeredMs)
        return
      }
      this.refusals += 1
      this.slowestRefusalMs = Math.max(this.slowestRefusalMs, tookMs)
      if (answeredMs > this.endsMs || status !== 502 || text !== '{"error":"ca_failed"}') {
        this.broken.push(`${request.hostname}: answered ${status} ${text}`)
        return
      }
      await systemClock.sleep(this.#random() * RETRY_PAUSE_MS)
    }
  }
}

function createRequests(admin: AdminOperations): Promise<EnrollRequest[]> {
  const hosts = Array.from({ length: WAITING }, async (_, number) => {
    const hostname = `waits-${number}.example`
    const { token } = await admin.createToken({ hostname, role: ROLE })
    const { csrPem } = await createKeyAndCsr(hostname)
    return { token, hostname, role: ROLE, csr_pem: csrPem }
  })
  return Promise.all(hosts)
}

/** The slowest answer; infinite when one was missing or no good. */
async function watchHealth(port: number, isOver: () => boolean): Promise<number> {
  let slowestMs = 0
  while (!isOver()) {
    const askedMs = performance.now()
    const isGood = await send({ port }, { path: '/health' }).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (!isGood) slowestMs = Number.POSITIVE_INFINITY
    slowestMs = Math.max(slowestMs, performance.now() - askedMs)
    await systemClock.sleep(HEALTH_PAUSE_MS)
  }
  return slowestMs
}

async function findEnrolled(admin: AdminOperations): Promise<string[]> {
  const { tokens } = await admin.listTokens({})
  const { agentes } = await admin.listAgents({})
  return [
    ...tokens
      .filter(({ consumed_at: consumedAt }) => consumedAt !== null)
      .map(({ hostname }) => `${hostname}: token consumed while the CA was silent`),
    ...agentes.map(({ hostname }) => `${hostname}: an agent while the CA was silent`),
  ]
}

async function findNotEnrolledOnce(admin: AdminOperations): Promise<string[]> {
  const { tokens } = await admin.listTokens({})
  const { agentes } = await admin.listAgents({})
  const open = tokens.filter(({ consumed_at: consumedAt }) => consumedAt === null)
  const hostnames = new Set(agentes.map(({ hostname }) => hostname))
  const faults: string[] = []
  if (open.length > 0) faults.push(`${open.length} tokens are not consumed afterwards`)
  if (agentes.length !== WAITING || hostnames.size !== WAITING) {
    faults.push(`${agentes.length} agents of ${hostnames.size} hosts afterwards`)
  }
  return faults
}

async function findLeaks(hub: LaunchedHub, before: number): Promise<string[]> {
  let now = 0
  try {
    await waitUntil(
      'descriptors to be back',
      async () => {
        now = await countDescriptors(hub)
        return now <= before ? true : undefined
      },
      SOCKETS_BACK_MS_MAX,
    )
    return []
  } catch {
    return [`${now} descriptors open afterwards, ${before} before`]
  }
}

async function countDescriptors({ running }: LaunchedHub): Promise<number> {
  return (await readdir(`/proc/${running.pid}/fd`)).length
}
