/**
 * What is done from now on costs, in milliseconds of the event loop: what the thread has used of a processor. The clock goes on
 * while other programs have it, so that what cost one millisecond on a busy machine would look like ten.
 */
export function measureCost(): () => number {
  // tidy: what something costs is real time, whatever a Clock says.
  const startMs = performance.now()
  const startCpuMs = threadCpuMs()
  // tidy: as above. A machine that is itself a guest may count time that it did not get.
  return () => Math.min(performance.now() - startMs, threadCpuMs() - startCpuMs)
}

/** Of a thread alone Linux tells what it knew at the last tick, 4 ms ago; when it is asked of the process first, it looks. */
function threadCpuMs(): number {
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
