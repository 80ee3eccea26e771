// collectWhenQuiet for the process that runs this, where its launcher says --expose-gc.

import { systemClock } from './clock.ts'
import { collectWhenQuiet } from './collect-when-quiet.ts'

/** Until the signal aborts, if there is one. */
export function giveMemoryBack(stop: AbortSignal = new AbortController().signal): void {
  const { gc } = globalThis
  if (gc === undefined) return
  void collectWhenQuiet(
    {
      clock: systemClock,
      // The plain kind keeps the pages that it emptied.
      collect: () => gc({ type: 'major', flavor: 'last-resort' }),
      spentMs: () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1000
      },
    },
    stop,
  )
}
