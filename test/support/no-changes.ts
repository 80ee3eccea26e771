// For servers in whose tests nobody asks what has changed.

import type { ChangeStreams } from '../../src/hub/http/change-streams.ts'

export const NO_CHANGES: ChangeStreams = {
  hasRoom: () => false,
  hold: () => undefined,
  count: 0,
  run: () => Promise.resolve(),
  close: () => undefined,
}
