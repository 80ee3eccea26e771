import { pauseRollout, resumeRollout, undoRollout } from './change-rollout.ts'
import { endFreeze, setFreeze, showFreeze } from './freezes.ts'
import { listRollouts, showRollout } from './show-rollouts.ts'
import { startRollout } from './start-rollout.ts'
import { startRotation } from './start-rotation.ts'
import { startUpdate } from './start-update.ts'

/** The operations on rollouts and freezes, by their names. */
export const ROLLOUT_USE_CASES = {
  startRollout,
  startRotation,
  startUpdate,
  listRollouts,
  showRollout,
  pauseRollout,
  resumeRollout,
  undoRollout,
  setFreeze,
  showFreeze,
  endFreeze,
}
