// Clocks that are set while everything runs: the hub's by two hours and to 2036 and back, with and without its CA, and
// the clocks of agents that are ten minutes off.

import { join } from 'node:path'
import { describeError } from '../../src/platform/errors.ts'
import { readEvents } from '../../test/support/audit-log.ts'
import { createDelivery, findDelivery } from '../../test/support/deliveries.ts'
import { createKeyAndCsr } from '../../test/support/enrolled-host.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { post, type WireReply } from '../../test/support/wire-client.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import {
  type ClockedAgent,
  type ClockedWorld,
  startClockedWorld,
} from '../support/clocked-world.ts'
import { findFaketimeLibrary } from '../support/faked-clock.ts'
import { pickOne } from '../support/pick.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const AGENT_OFFSETS = [0, 10 * MINUTE, -10 * MINUTE]
/** CA and hub each look at their own certificate once a minute, and the hub needs the CA. */
const RENEWAL_MS_MAX = 180_000
/** How far an agent's clock is moved on: past what it does once a minute, and past the beginning of a new certificate. */
const AGENT_ADVANCE_MAX = 10 * MINUTE

interface Step {
  readonly name: string
  readonly offsetMs: number
  /** Whether the CA's clock is set with the hub's, as on one machine. */
  readonly withCa: boolean
}

export const clock: ReliabilityRow = {
  name: 'clock',
  promise: 'the hub accepts nothing expired or consumed, times never decrease, no damage lasts',
  run: async (context) => {
    const library = await findFaketimeLibrary()
    if (library === undefined) {
      if (process.env['CI'] === 'true') throw new Error('libfaketime is needed under CI=true')
      return { tried: 'nothing', broken: [], skipped: 'libfaketime is not installed' }
    }
    const steps = stepsOf(context)
    await using world = await startClockedWorld({
      directory: join(context.directory, 'clocks'),
      library,
      agentOffsetsMs: context.setting === 'full' ? AGENT_OFFSETS : AGENT_OFFSETS.slice(1),
    })
    return await new ClockTrial(context, world).run(steps)
  },
}

function stepsOf({ setting, random }: RowContext): Step[] {
  const to2036 = Date.UTC(2036, 5, 1) - Date.now()
  const sizes: readonly (readonly [name: string, offsetMs: number])[] = [
    ['two hours ahead', 2 * HOUR],
    ['two hours back', -2 * HOUR],
    ['2036', to2036],
  ]
  const all = [true, false].flatMap((withCa) =>
    sizes.map(([name, offsetMs]) => ({ name, offsetMs, withCa })),
  )
  if (setting === 'full') return all
  return [
    pickOne(
      random,
      all.filter(({ withCa }) => withCa),
    ),
  ]
}

interface KnownToken {
  readonly what: string
  /** From when on, by the hub's clock, it must be refused; once it was, for good. */
  deadFromMs: number
  readonly hostname: string
  readonly token: string
}

class ClockTrial {
  readonly #world: ClockedWorld
  readonly #context: RowContext
  readonly #broken: string[] = []
  readonly #deadTokens: KnownToken[] = []
  #tokensTried = 0
  #enrolments = 0
  #lastSeq = 0

  constructor(context: RowContext, world: ClockedWorld) {
    this.#context = context
    this.#world = world
  }

  async run(steps: readonly Step[]): Promise<RowResult> {
    await this.#waitForDeliveries()
    await this.#makeDeadTokens()
    this.#lastSeq = (await readEvents(this.#world.hub)).at(-1)?.seq ?? 0
    for (const step of steps) {
      await this.#take(step)
      await this.#take({ ...step, name: `back from ${step.name}`, offsetMs: 0 })
      await this.#expectNoLastingDamage(step)
    }
    await this.#checkLog()
    return {
      tried:
        `${steps.length} steps of the hub's clock and back (${steps.map(({ name, withCa }) => `${name}${withCa ? ' with the CA' : ''}`).join(', ')}), ` +
        `${this.#world.agents.length} agents up to 10 min off, ${this.#tokensTried} uses of dead tokens`,
      broken: this.#broken,
    }
  }

  async #take({ name, offsetMs, withCa }: Step): Promise<void> {
    const { hub, hubClock, caClock, agents } = this.#world
    const renewalsBefore = this.#countHubRenewals()
    this.#context.progress(`${name}${withCa ? ', the CA too' : ''}`)
    await hubClock.set(offsetMs)
    if (withCa) await caClock.set(offsetMs)
    // Whatever holds only as long as a connection is kept does not count.
    await Promise.all(agents.map((agent) => agent.restart()))
    // Their first round may meet the step in the middle. What it comes to while the clock is wrong is not judged.
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(agents.map(({ host }) => host.agent('poll')))
    }
    for (const dead of this.#deadTokens) await this.#expectRefusal(name, dead)
    for (const agent of agents) {
      if (agent.hasEnded()) this.#broken.push(`${name}: ${agent.host.hostname} ended`)
    }
    if (offsetMs > 0 && withCa && this.#context.setting === 'full') {
      await this.#waitForHubRenewal(renewalsBefore)
    }
    if (hub.pid === 0) this.#broken.push(`${name}: the hub ended`)
    await this.#checkRenewals(name)
  }

  /** The next clock may see the hub's own certificate as one from the future. */
  async #waitForHubRenewal(before: number): Promise<void> {
    await waitUntil(
      'the hub to renew its own certificate',
      () => (this.#countHubRenewals() > before ? true : undefined),
      RENEWAL_MS_MAX,
    )
  }

  #countHubRenewals(): number {
    return this.#world.hub.logText().split('Server certificate renewed').length
  }

  /** Consumed, expired by the hub's own word, revoked, and one that will expire. */
  async #makeDeadTokens(): Promise<void> {
    const { hub } = this.#world
    const consumed = { ...(await this.#newToken('consumed', 3600)), deadFromMs: -Infinity }
    const first = await this.#use(consumed)
    if (first.status !== 200) this.#broken.push(`a new token: ${first.status} ${first.text}`)
    const expired = await this.#newToken('expired', 1)
    await waitUntil('a token to expire', async () => {
      // With another role: it does not come to the CA while the token is good.
      const { text } = await this.#use(expired, 'other')
      return text.includes('token_expired') ? true : undefined
    })
    const revoked = { ...(await this.#newToken('revoked', 3600)), deadFromMs: -Infinity }
    const ended = await hub.svc('token', 'revoke', revoked.token)
    if (ended.status !== 0) throw new Error(ended.stderr)
    this.#deadTokens.push(consumed, expired, revoked, await this.#newToken('an hour old', 3600))
  }

  async #newToken(what: string, ttlSeconds: number): Promise<KnownToken> {
    this.#enrolments += 1
    const hostname = `token-${this.#enrolments}`
    const token = await this.#world.hub.createToken({ hostname, ttl_seconds: ttlSeconds })
    return { what, hostname, token, deadFromMs: Date.now() + ttlSeconds * 1000 }
  }

  async #use({ hostname, token }: KnownToken, role = 'web'): Promise<WireReply> {
    const { csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role, csr_pem: csrPem }
    return post({ port: this.#world.hub.ports.enroll }, '/v1/enroll', body)
  }

  async #expectRefusal(when: string, dead: KnownToken): Promise<void> {
    const isDead = Date.now() + this.#world.hubClock.offsetMs >= dead.deadFromMs
    // What is merely not used yet is left to be tried when it has expired.
    if (!isDead && dead.what === 'an hour old') return
    const { status, text } = await this.#use(dead)
    this.#tokensTried += 1
    // Nor does a clock that is set back bring it to life again (TOK-4).
    if (status === 401) dead.deadFromMs = -Infinity
    else this.#broken.push(`${when}: a token that was ${dead.what}: ${status} ${text.slice(0, 60)}`)
  }

  /** Of what was issued since the last look, at most one for each certificate of each agent. */
  async #checkRenewals(when: string): Promise<void> {
    const { hub } = this.#world
    const all = await readEvents(hub, 'certificate_issued')
    const counts = new Map<string, number>()
    for (const { seq, payload, entrega_id: deliveryId } of all) {
      if (seq <= this.#lastSeq) continue
      const certificate = JSON.stringify([payload['hostname'], deliveryId, payload['entrega_id']])
      counts.set(certificate, (counts.get(certificate) ?? 0) + 1)
    }
    for (const [certificate, count] of counts) {
      if (count > 1) this.#broken.push(`${when}: ${certificate} was issued ${count} times`)
    }
    this.#lastSeq = Math.max(this.#lastSeq, all.at(-1)?.seq ?? 0)
  }

  async #waitForDeliveries(): Promise<void> {
    const { hub, agents } = this.#world
    await waitUntil('the first deliveries', async () => {
      await Promise.all(agents.map(({ host }) => host.agent('poll')))
      const path = '/v1/admin/entregas'
      const { entregas } = await hub.admin<{ entregas: { status: string }[] }>('GET', path)
      const done = entregas.filter(({ status }) => status === 'instalada')
      return done.length === agents.length ? true : undefined
    })
  }

  /** All clocks are right again: hosts enrol, and every agent gets what it is given, without a person. */
  async #expectNoLastingDamage({ name }: Step): Promise<void> {
    const token = await this.#newToken('fresh', 3600)
    const isEnrolled = async (): Promise<true | undefined> =>
      (await this.#use(token)).status === 200 ? true : undefined
    await waitUntil('a host to enrol', isEnrolled, RENEWAL_MS_MAX).catch((error: unknown) => {
      this.#broken.push(`after ${name}: ${describeError(error)}`)
    })
    await Promise.all(this.#world.agents.map((agent) => this.#expectDelivery(name, agent)))
    this.#lastSeq = (await readEvents(this.#world.hub)).at(-1)?.seq ?? this.#lastSeq
  }

  async #expectDelivery(step: string, { host, clock: agentClock }: ClockedAgent): Promise<void> {
    const { hub } = this.#world
    this.#enrolments += 1
    const { id } = await createDelivery(hub, host.hostname, `after-${this.#enrolments}`)
    const offsetMs = agentClock.offsetMs
    let last = ''
    const isInstalled = async (): Promise<true | undefined> => {
      const { stdout, stderr } = await host.agent('poll')
      last = stdout + stderr
      if ((await findDelivery(hub, id))?.status === 'instalada') return true
      if (agentClock.offsetMs - offsetMs < AGENT_ADVANCE_MAX) {
        await agentClock.set(agentClock.offsetMs + MINUTE + 1000)
      }
      return undefined
    }
    await waitUntil('a delivery', isInstalled, RENEWAL_MS_MAX).catch(() => {
      this.#broken.push(`after ${step}: ${host.hostname}: ${last.slice(-400)}`)
    })
    await agentClock.set(offsetMs)
  }

  async #checkLog(): Promise<void> {
    const { hub } = this.#world
    const { status, stdout } = await hub.svc('evento', 'list', '--verify', '--json')
    if (status !== 0) this.#broken.push(`the log: ${stdout.slice(-300)}`)
    const events = await readEvents(hub)
    for (const [index, { seq, timestamp }] of events.entries()) {
      const before = events[index - 1]?.timestamp ?? ''
      if (timestamp < before) this.#broken.push(`entry ${seq}: ${timestamp} after ${before}`)
    }
  }
}
