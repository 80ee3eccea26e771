import { isSea } from 'node:sea'
import { isatty } from 'node:tty'
import { systemClock } from '../platform/clock.ts'
import { giveWay } from '../platform/give-way.ts'
import { runProgram } from '../platform/program.ts'
import { runSvc } from './run-svc.ts'
import { askHiddenOn } from './terminal/ask-hidden.ts'
import { confirmOn } from '../platform/confirm.ts'
import { openProgress } from './terminal/progress.ts'

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** By any of the signals; the next one, of whichever kind, ends the process at once. */
function untilEnded(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      for (const signal of ENDING_SIGNALS) process.off(signal, end)
      resolve()
    }
    for (const signal of ENDING_SIGNALS) process.on(signal, end)
  })
}

void runProgram('svc', async () => {
  const { stdin, stdout, stderr, env, argv, execPath, execArgv } = process
  const [, script = '', ...args] = argv
  const isOnTerminal = isatty(stdin.fd) && isatty(stderr.fd)
  process.exitCode = await runSvc({
    args,
    env,
    stdin,
    stdout,
    stderr,
    clock: systemClock,
    progress: openProgress(systemClock),
    ask: isOnTerminal ? askHiddenOn(stdin, stderr) : undefined,
    confirm: isOnTerminal ? confirmOn(stdin, stderr) : undefined,
    userId: process.getuid?.(),
    // A single executable is its own script.
    command: isSea() ? [execPath] : [execPath, ...execArgv, script],
    giveWay,
    untilEnded,
    ending: () => {
      const ending = new AbortController()
      void untilEnded().then(() => ending.abort())
      return ending.signal
    },
  })
})
