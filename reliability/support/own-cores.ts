import { runTool } from '../../test/support/processes.ts'

/** Keeps this process, and whatever it starts, to some cores of the machine (as taskset(1) writes them) until disposed. */
export async function keepToCores(cores: string): Promise<AsyncDisposable> {
  const allowed = await runTool('taskset', ['-c', '-p', String(process.pid)])
  await setCores(cores)
  // "pid 123's current affinity list: 0,1"
  return { [Symbol.asyncDispose]: () => setCores(allowed.trim().split(' ').at(-1) ?? '') }
}

async function setCores(cores: string): Promise<void> {
  await runTool('taskset', ['-a', '-c', '-p', cores, String(process.pid)])
}
