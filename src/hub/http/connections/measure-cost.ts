/** In these steps Linux tells what a thread has used, while it runs. */
const CPU_STEP_MS = 4

/**
 * What is done from now on costs, in milliseconds of the event loop. The clock is exact, but goes on while other programs have
 * the processor; what the thread used is not theirs, but is told in steps. So it is the lesser of both.
 */
export function measureCost(): () => number {
  // tidy: what something costs is real time, whatever a Clock says.
  const startMs = performance.now()
  const before = process.threadCpuUsage()
  return () => {
    // tidy: as above.
    const elapsedMs = performance.now() - startMs
    if (elapsedMs <= CPU_STEP_MS) return elapsedMs
    const { user, system } = process.threadCpuUsage(before)
    return Math.min(elapsedMs, (user + system) / 1000 + CPU_STEP_MS)
  }
}
