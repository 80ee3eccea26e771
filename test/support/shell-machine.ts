import type { Ended, RunningProgram } from './processes.ts'

/** A machine on which tests run shell scripts as root. */
export interface ShellMachine {
  /** Starts a script there; it ends with the machine. */
  start(script: string): RunningProgram
  /** Runs one to its end. */
  run(script: string): Promise<Ended>
  /** What it printed, when it succeeded; else an error with all of that. */
  output(script: string): Promise<string>
}

export function shellMachine(start: ShellMachine['start']): ShellMachine {
  return {
    start,
    run: (script) => start(script).ended,
    output: async (script) => {
      const { status, stdout, stderr } = await start(script).ended
      if (status === 0) return stdout
      throw new Error(`status ${status} of\n${script}\n${stdout}\n${stderr}`)
    },
  }
}
