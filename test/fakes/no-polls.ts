import type { PollRecorder } from '../../src/hub/service/agent/record-polls.ts'

/** For manifests of which nobody looks when they were asked for. */
export const NO_POLLS: PollRecorder = {
  record: () => undefined,
  lastPollAt: () => undefined,
  flush: async () => undefined,
  run: async () => undefined,
}
