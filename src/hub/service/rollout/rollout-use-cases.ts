import { pauseRollout, resumeRollout, undoRollout } from './change-rollout.ts'
import { endFreeze, setFreeze, showFreeze } from './freezes.ts'
import { listRollouts, showRollout } from './show-rollouts.ts'
import { startRollout } from './start-rollout.ts'

/** The operations on rollouts and freezes, by their names. */
export const ROLLOUT_USE_CASES = {
  startRollout,
  listRollouts,
  showRollout,
  pauseRollout,
  resumeRollout,
  undoRollout,
  setFreeze,
  showFreeze,
  endFreeze,
}
