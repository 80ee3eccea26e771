// An installed agent that a shell script supervises, where systemd would, with the programs of root's that see to its updates.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { InstalledAgent } from './built-agent.ts'
import {
  type Ended,
  type RunningProgram,
  startProgram,
  type Variables,
  waitUntil,
} from './processes.ts'

const DEPLOYED = new URL('../../deploy/agent/', import.meta.url)
const WATCH = fileURLToPath(new URL('svc-agent-watch-update', DEPLOYED))
const APPLY = fileURLToPath(new URL('svc-agent-apply-update', DEPLOYED))

/**
 * Starts again whatever ends, and says which process it is. What it kills is `$!`: the shell knows that one as soon as it
 * is there, where a variable is set a moment later, and an agent that is left behind holds the output of this test.
 */
const SUPERVISOR = `#!/bin/sh
trap 'kill -9 $!; exit' TERM
while :; do
  "$BINARY" run 2>> "$DIRECTORY/log" &
  pid=$!
  echo "$pid" > "$DIRECTORY/pid.tmp" && mv "$DIRECTORY/pid.tmp" "$DIRECTORY/pid"
  wait "$pid"
  echo "ended with $?" >> "$DIRECTORY/log"
  echo 0 > "$DIRECTORY/pid"
  sleep 0.3
done
`
const RESTART = `#!/bin/sh
old=$(cat "$DIRECTORY/pid")
[ "$old" = 0 ] || kill "$old"
while pid=$(cat "$DIRECTORY/pid"); [ "$pid" = 0 ] || [ "$pid" = "$old" ]; do sleep 0.1; done
`

export class SupervisedAgent implements AsyncDisposable {
  readonly agent: InstalledAgent
  #supervisor: RunningProgram | undefined

  private constructor(agent: InstalledAgent) {
    this.agent = agent
  }

  /** `environment` is what the agent needs to know of its hub and its host. */
  static async start(agent: InstalledAgent, environment: Variables): Promise<SupervisedAgent> {
    agent.env = {
      ...environment,
      PATH: '/nonexistent',
      SVC_AGENT_SUPERVISED: '1',
      SVC_AGENT_POLL_INTERVAL: '200ms',
    }
    const supervised = new SupervisedAgent(agent)
    await writeFile(supervised.#path('supervise'), SUPERVISOR, { mode: 0o755 })
    await writeFile(supervised.#path('restart'), RESTART, { mode: 0o755 })
    await writeFile(supervised.#path('log'), '')
    supervised.#supervise()
    return supervised
  }

  get dataDir(): string {
    return this.agent.env['SVC_AGENT_DATA_DIR'] ?? ''
  }

  async restartSupervisor(): Promise<void> {
    await this.#endSupervisor()
    this.#supervise()
  }

  log(): Promise<string> {
    return readFile(this.#path('log'), 'utf8')
  }

  /** A round that ends from now on. */
  async waitForRound(start: string): Promise<void> {
    const read = (): Promise<string> =>
      readFile(join(this.dataDir, 'state/last-round'), 'utf8').catch(() => '')
    const lineBefore = await read()
    await waitUntil(
      `a round ${start}`,
      async () => {
        const line = await read()
        return line !== lineBefore && line.startsWith(start) ? true : undefined
      },
      60_000,
    )
  }

  /** As svc-agent-update.service does it. */
  watch(seconds = '60'): Promise<Ended> {
    return startProgram(WATCH, [this.agent.binary], {
      DIRECTORY: this.agent.directory,
      SVC_AGENT_DATA_DIR: this.dataDir,
      SVC_AGENT_RESTART_COMMAND: this.#path('restart'),
      SVC_AGENT_PID_COMMAND: `cat ${this.#path('pid')}`,
      SVC_AGENT_WATCH_SECONDS: seconds,
    }).ended
  }

  /** As svc-agent-announced.service does it. */
  applyAnnounced(): Promise<Ended> {
    return startProgram(APPLY, [this.agent.binary], this.agent.env).ended
  }

  #path(name: string): string {
    return join(this.agent.directory, name)
  }

  #supervise(): void {
    const { binary, directory, env } = this.agent
    this.#supervisor = startProgram(this.#path('supervise'), [], {
      ...env,
      PATH: '/usr/bin:/bin',
      BINARY: binary,
      DIRECTORY: directory,
    })
  }

  async #endSupervisor(): Promise<void> {
    this.#supervisor?.kill('SIGTERM')
    await this.#supervisor?.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endSupervisor()
    await this.agent[Symbol.asyncDispose]()
  }
}
