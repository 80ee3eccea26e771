// The rollouts of a store, kept by the part that a hub keeps them with, as the clock of a test is moved.

import { createRolloutKeeper, LOOK_MS } from '../../src/hub/service/rollout/rollout-keeper.ts'
import { collectLog } from './collected-log.ts'
import type { createSettableClock } from './settable-clock.ts'

type KeeperOptions = Parameters<typeof createRolloutKeeper>[0]

export function keepRollouts(
  options: Omit<KeeperOptions, 'clock' | 'log'> & {
    readonly clock: ReturnType<typeof createSettableClock>
  },
) {
  const { log, lines } = collectLog()
  const newKeeper = () => createRolloutKeeper({ ...options, log })
  let keeper = newKeeper()
  const settle = async (): Promise<void> => {
    while (await keeper.look());
  }
  return {
    lines,
    /** Another process of the hub. */
    restart: () => {
      keeper = newKeeper()
    },
    look: () => keeper.look(),
    /** Until nothing is to be done at this instant. */
    settle,
    /** With a look every two seconds. */
    pass: async (seconds: number): Promise<void> => {
      for (let passedMs = 0; passedMs < seconds * 1000; passedMs += LOOK_MS) {
        options.clock.pass(LOOK_MS)
        await settle()
      }
    },
  }
}
