// What a program that a person stops must not leave behind: a scratch directory may have gigabytes. For programs that end by a signal at
// once, such as svc; never for the hub, which stops in its own way.

import { rmSync } from 'node:fs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Removes what is at `path`, of any depth, when one of the signals comes before `work` ends; the program ends by that signal then. */
export async function removeOnSignal<T>(path: string, work: () => Promise<T>): Promise<T> {
  const stop = (signal: NodeJS.Signals): void => {
    release()
    rmSync(path, { recursive: true, force: true })
    process.kill(process.pid, signal)
  }
  const release = (): void => {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  try {
    return await work()
  } finally {
    release()
  }
}
