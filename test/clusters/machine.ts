// A machine of its own in this one: processes, network and mounts in namespaces. All of it is gone when the process is gone that started it,
// however that ended, since its first process dies with that one, and the kernel takes the rest.

import { readFile, readlink } from 'node:fs/promises'
import { runTool, startTool, waitUntil } from '../support/processes.ts'

/** It collects what others leave behind, as the first process of a machine does. */
const FIRST_PROCESS = 'while :; do sleep 3600; done'

export class Machine {
  /** Of its first process, as this machine numbers it. */
  readonly pid: number
  readonly #end: () => Promise<void>

  private constructor(pid: number, end: () => Promise<void>) {
    this.pid = pid
    this.#end = end
  }

  static async start(): Promise<Machine> {
    const unshared = ['unshare', '--net', '--pid', '--mount', '--mount-proc', '--fork']
    const holder = startTool('setpriv', [
      '--pdeathsig',
      'KILL',
      ...unshared,
      '--kill-child',
      'sh',
      '-c',
      FIRST_PROCESS,
    ])
    const pid = await waitUntil('a machine to start', () => {
      if (holder.hasEnded()) throw new Error(`there is no machine: ${holder.stderr()}`)
      return findFirstProcess(holder.pid)
    })
    const machine = new Machine(pid, async () => {
      holder.kill('SIGKILL')
      await holder.ended
    })
    await machine.run('ip', 'link', 'set', 'lo', 'up')
    return machine
  }

  /** As root, to its end; what it printed. */
  run(...command: readonly string[]): Promise<string> {
    return runTool('nsenter', [...this.#enter(), ...command])
  }

  /** As a user, beside us; its output goes to the end of the log. */
  async start(user: string, log: string, ...command: readonly string[]): Promise<void> {
    const asUser = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']
    const behind = 'log=$1; shift; setsid "$@" </dev/null >>"$log" 2>&1 &'
    await this.run('sh', '-c', behind, 'sh', log, ...asUser, ...command)
  }

  /** All at once, but for the first process. */
  async signalAll(signal: 'KILL' | 'STOP' | 'CONT'): Promise<void> {
    await this.run('sh', '-c', `kill -${signal} -1`)
  }

  /** Where this machine finds one of its files. */
  pathOf(path: string): string {
    return `/proc/${this.pid}/root${path}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
  }

  #enter(): readonly string[] {
    return ['--target', String(this.pid), '--net', '--pid', '--mount', '--']
  }
}

/** Once it runs what it is for, everything before that is done. */
async function findFirstProcess(parent: number): Promise<number | undefined> {
  try {
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8')
    const pid = Number(children.trim().split(' ')[0])
    if (pid === 0) return undefined
    const command = await readFile(`/proc/${pid}/comm`, 'utf8')
    const isApart =
      (await readlink(`/proc/${pid}/ns/pid`)) !== (await readlink('/proc/self/ns/pid'))
    return command === 'sh\n' && isApart ? pid : undefined
  } catch {
    // Not there yet.
    return undefined
  }
}
