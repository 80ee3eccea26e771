// Whoever rolls versions out, and holds them back: beside the operator, and by a chance of its own.

import type { Random } from '../seeded-random.ts'
import type { AskHub } from './admin-socket.ts'
import type { Faults } from './faults.ts'
import { type Kernel, pick } from './kernel.ts'

export interface ReleaserOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly random: Random
  readonly ask: AskHub
}

const MINUTE_MS = 60_000
const PAUSE_MS_MAX = 10 * MINUTE_MS
const ROTATION_LIKELIHOOD = 0.35
const RULES = { soak_seconds: 60, late_seconds: 120 }

export class Releaser {
  readonly #options: ReleaserOptions

  constructor(options: ReleaserOptions) {
    this.#options = options
  }

  /** As long as there is trouble; then everything that is open comes to its end. */
  async live(): Promise<void> {
    const { kernel, faults, random } = this.#options
    while (!faults.isOver) {
      await kernel.sleep(random() * PAUSE_MS_MAX)
      if (!faults.isOver) await this.#doSomething()
    }
    for (;;) {
      await this.#options.ask('freeze end', (admin) => admin.endFreeze({}))
      for (const id of await this.#listOpen()) {
        await this.#options.ask('rollout resume', (admin) => admin.resumeRollout({ rollout: id }))
      }
      await kernel.sleep(MINUTE_MS)
    }
  }

  async #doSomething(): Promise<void> {
    const { kernel, random, ask } = this.#options
    const [rollout] = await this.#listOpen()
    if (rollout === undefined) return this.#start()
    const minutes = 1 + random() * 20
    const until = new Date(kernel.now().getTime() + minutes * MINUTE_MS).toISOString()
    const acts: (() => Promise<unknown>)[] = [
      () => this.#start(),
      () => ask('rollout pause', (admin) => admin.pauseRollout({ rollout })),
      () => ask('rollout resume', (admin) => admin.resumeRollout({ rollout })),
      () => ask('rollout resume', (admin) => admin.resumeRollout({ rollout })),
      () => ask('rollout undo', (admin) => admin.undoRollout({ rollout })),
      () => ask('freeze', (admin) => admin.setFreeze({ until, why: 'a holiday' })),
      () => ask('freeze end', (admin) => admin.endFreeze({})),
    ]
    await pick(acts, random)?.()
  }

  async #start(): Promise<void> {
    const { random, ask } = this.#options
    const waves = random() < 0.5 ? ['1', '100%'] : ['1', '2', '100%']
    const max_failed = random() < 0.5 ? '0' : '50%'
    const rules = { waves, max_failed, ...RULES }
    if (random() < ROTATION_LIKELIHOOD) {
      await ask('rotation', (admin) => admin.startRotation(rules))
      return
    }
    const listed = await ask('carga list', (admin) => admin.listCargoes({}))
    const cargoes = listed.ok ? listed.value.cargas.filter(({ tipo }) => tipo === 'csr_cert') : []
    const cargo = pick(cargoes, random)
    if (cargo === undefined) return
    await ask('rollout', (admin) => admin.startRollout({ carga: cargo.id, ...rules }))
  }

  async #listOpen(): Promise<readonly string[]> {
    const listed = await this.#options.ask('rollout list', (admin) => admin.listRollouts({}))
    if (!listed.ok) return []
    return listed.value.rollouts.filter(({ ended_at }) => ended_at === null).map(({ id }) => id)
  }
}
