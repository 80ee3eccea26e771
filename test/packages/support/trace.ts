// What strace saw of a process and all that it started.

import { waitUntil } from '../../support/processes.ts'
import type { PrivateMachine } from './private-machine.ts'

export interface Trace {
  readonly systemCalls: readonly string[]
  /** Of the sockets that it asked for, `AF_INET` and so on. */
  readonly addressFamilies: readonly string[]
}

/** Before a command: it keeps its process id, and strace works beside it. */
export function tracing(path: string): string {
  return `strace -D -f -q -s 0 -e signal=none -o ${path}`
}

/** Of a command that has ended; strace may still be writing. */
export async function readTrace(machine: PrivateMachine, path: string): Promise<Trace> {
  await waitUntil('the end of the trace', async () => {
    const { stdout } = await machine.run(`find /proc/[0-9]*/fd -lname ${path}`)
    return stdout === '' ? true : undefined
  })
  const list = async (expression: string): Promise<string[]> =>
    (await machine.output(`sed -nE '${expression}' ${path} | sort -u`)).trimEnd().split('\n')
  return {
    systemCalls: await list('s/^[0-9]+ +([a-z0-9_]+)\\(.*/\\1/p'),
    addressFamilies: await list('s/^[0-9]+ +socket(pair)?\\((AF_[A-Z0-9]+),.*/\\2/p'),
  }
}
