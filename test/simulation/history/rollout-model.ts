// No wave opens early: whenever a hub writes down that another wave is open, or that the rollout is done, the entregas in the same
// transaction are looked at by other code, and by a time that no hub's clock has. docs/protocol.md RLO-7, RLO-9, RLO-10.

import './intercept.ts'
import { isOnHost } from '../../../src/hub/domain/delivery.ts'
import { isLoadRollout, type LoadRollout, type Rollout } from '../../../src/hub/domain/rollout.ts'
import type { RolloutWriter } from '../../../src/hub/store/rollout-store.ts'
import type { Store, StoreWriter } from '../../../src/hub/store/store.ts'
import { demand } from './demand.ts'
import type { Kernel } from './kernel.ts'
import { withWriter } from './planted-faults.ts'

/** A step of the clock may count as a look of four seconds, where less has passed. */
const TOLERANCE_MS = 20_000
/** A hub's clock is ahead or behind by so much at the most. */
const SKEW_MS_MAX = 15 * 60_000

/** What a host makes of what its wave brought. */
interface GivenHost {
  /** Under which its arrival is remembered. */
  readonly key: string
  readonly state: 'unfinished' | 'arrived' | 'failed'
}

export class RolloutModel {
  waves = 0
  done = 0
  readonly #kernel: Kernel
  readonly #arrivedAt = new Map<string, number>()
  /** One that failed first may be done at any time: nobody waited for it. */
  readonly #troubled = new Set<string>()
  readonly #givenAt = new Map<string, number>()
  /** The newest identity of each agent when it was last asked to renew. */
  readonly #askedAfter = new Map<string, number>()

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  watch(store: Store): Store {
    return withWriter(store, (writer) => ({
      rollouts: this.#watchRollouts(writer),
      requestRotation: async (id, rotation) => {
        this.#askedAfter.set(id, rotation.afterSeq)
        return writer.requestRotation(id, rotation)
      },
      setActiveIdentity: async (id, seq, since) => {
        const key = `${id} ${this.#askedAfter.get(id) ?? 0}`
        const isAnother = seq > (this.#askedAfter.get(id) ?? 0)
        if (isAnother && !this.#arrivedAt.has(key)) this.#arrivedAt.set(key, this.#nowMs())
        return writer.setActiveIdentity(id, seq, since)
      },
      setDeliveryStatus: async (id, status, at, error) => {
        if (status === 'falhou') this.#troubled.add(id)
        if (!isOnHost({ status })) return writer.setDeliveryStatus(id, status, at, error)
        if (!this.#arrivedAt.has(id)) this.#arrivedAt.set(id, this.#nowMs())
        return writer.setDeliveryStatus(id, status, at, error)
      },
    }))
  }

  #watchRollouts(writer: StoreWriter): RolloutWriter {
    const { rollouts } = writer
    const update = async (next: Rollout): Promise<void> => {
      const before = await rollouts.find(next.id)
      if (before !== undefined) await this.#judge(writer, before, next)
      return rollouts.update(next)
    }
    return new Proxy(rollouts, {
      get: (target, name) => {
        if (name === 'update') return update
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  async #judge(writer: StoreWriter, before: Rollout, next: Rollout): Promise<void> {
    const wave = `${next.id} ${next.wave}`
    if (next.isGiven && !before.isGiven) this.#givenAt.set(wave, this.#nowMs())
    const isDone = next.state === 'done' && before.state !== 'done'
    if (next.wave <= before.wave && !isDone) return
    const freeze = await writer.rollouts.findFreeze()
    const isHeld =
      freeze !== undefined && freeze.until.getTime() > this.#nowMs() + SKEW_MS_MAX && !isDone
    const given = isLoadRollout(before)
      ? await this.#listGiven(writer, before)
      : await this.#listAsked(writer, before)
    this.#kernel.look(() => {
      const what = `${before.id}, wave ${before.wave + 1}`
      demand(
        before.state === 'running' && before.isGiven,
        '[RLO-7] a wave opened that was not given:',
        what,
      )
      demand(!isHeld, '[RLO-20] a wave opened in a freeze:', what)
      this.#judgeHosts(before, given, what)
    })
    if (isDone) this.done += 1
    else this.waves += 1
  }

  #judgeHosts(rollout: Rollout, given: readonly GivenHost[], what: string): void {
    const arrived = given.filter(({ state }) => state === 'arrived')
    const failed = given.filter(({ state }) => state === 'failed')
    const unfinished = given.length - arrived.length - failed.length
    const nowMs = this.#nowMs()
    const givenMs = this.#givenAt.get(`${rollout.id} ${rollout.wave}`) ?? nowMs
    const isLate = nowMs - givenMs >= rollout.lateMs - TOLERANCE_MS
    demand(
      unfinished === 0 || isLate,
      '[RLO-7] a wave opened before the one before was done:',
      what,
    )
    const { maxFailed, tolerated } = rollout
    const allowed = Math.max(
      tolerated,
      maxFailed.of === 'hosts'
        ? maxFailed.count
        : Math.floor((given.length * maxFailed.tenths) / 1000),
    )
    demand(failed.length <= allowed, '[RLO-9] a wave opened though hosts had failed:', what)
    demand(
      arrived.length > 0 || tolerated > 0,
      '[RLO-7] a wave opened behind a version that nobody has:',
      what,
    )
    const arrivals = arrived
      .filter(({ key }) => !this.#troubled.has(key))
      .map(({ key }) => this.#arrivedAt.get(key) ?? 0)
    const lastMs = Math.max(0, ...arrivals.filter((ms) => ms < givenMs + rollout.lateMs))
    const soakedMs = nowMs - lastMs
    demand(
      soakedMs >= rollout.soakMs - TOLERANCE_MS,
      '[RLO-7] a wave opened before it had soaked:',
      what,
    )
  }

  /** That stand, of hosts that are not revoked. */
  async #listGiven(writer: StoreWriter, { subject }: LoadRollout): Promise<readonly GivenHost[]> {
    const { deliveries } = await writer.listCargoDeliveries(subject.cargoId, { limit: 1000 })
    const given = deliveries.filter(({ version }) => version === subject.version)
    const agents = await writer.findAgents(given.map(({ agentId }) => agentId))
    const live = new Set(agents.filter((one) => one.revokedAt === null).map(({ id }) => id))
    const ids = given.map(({ id }) => id)
    const targets = await writer.listRevertedTargets(ids)
    const reverted = new Set(targets.map(({ deliveryId }) => deliveryId))
    return given
      .filter(({ agentId }) => live.has(agentId))
      .map((one): GivenHost => {
        const isFailed = one.status === 'falhou' || reverted.has(one.id)
        const state = isFailed ? 'failed' : isOnHost(one) ? 'arrived' : 'unfinished'
        return { key: one.id, state }
      })
  }

  /** By the identity that each uses, where the hub goes by what it has written down of the wave. */
  async #listAsked(writer: StoreWriter, { id }: Rollout): Promise<readonly GivenHost[]> {
    const all = await writer.pageHosts({ by: 'all' }, { limit: 1000 })
    const ids = all.filter((one) => one.revokedAt === null).map((one) => one.id)
    const reached = new Set(await writer.rollouts.listReached(id, ids))
    return all
      .filter((one) => reached.has(one.id))
      .map((agent): GivenHost => {
        const afterSeq = this.#askedAfter.get(agent.id) ?? 0
        const isAnother = (agent.activeIdentity?.seq ?? 0) > afterSeq
        return { key: `${agent.id} ${afterSeq}`, state: isAnother ? 'arrived' : 'unfinished' }
      })
  }

  #nowMs(): number {
    return this.#kernel.now().getTime()
  }
}
