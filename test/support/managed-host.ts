// A host with the real agent on it, enrolled at a test hub: svc-agent in processes of its own.

import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tryLockFile } from '../../src/platform/file-lock.ts'
import { agentEnvironment } from './agent-environment.ts'
import type { TestHub } from './hub.ts'
import {
  type Ended,
  runProgram,
  type RunningProgram,
  startProgram,
  type Variables,
  waitUntil,
} from './processes.ts'

export interface ManagedHost extends AsyncDisposable {
  readonly hostname: string
  readonly dataDir: string
  readonly environment: Variables
  /** Lines that its hook wrote: event, name, serial. */
  hookLines(): Promise<string[]>
  /** Runs one command of the agent to its end. */
  agent(...args: string[]): Promise<Ended>
  /** Starts `svc-agent run`, with these variables besides its own; of another version when its bin/ is given. */
  run(programs?: string, extra?: Variables): RunningProgram
}

/** Enrols a new host and gives it a hook that notes its runs. `programs` is the bin/ of another version. */
export async function enrolHost(
  hub: TestHub,
  hostname: string,
  extra: Variables = {},
  programs = '',
): Promise<ManagedHost> {
  const agentProgram = join(programs, 'svc-agent')
  const directory = await mkdtemp(join(tmpdir(), 'host-'))
  const dataDir = extra['SVC_AGENT_DATA_DIR'] ?? join(directory, 'data')
  const trace = join(directory, 'hook-trace')
  const environment: Variables = {
    ...agentEnvironment(hub, { hostname, dataDir }),
    SVC_AGENT_POLL_INTERVAL: '200ms',
    ...extra,
  }
  const token = await hub.createToken({ hostname })
  const enrolled = await runProgram(agentProgram, ['enroll'], {
    ...environment,
    SVC_ENROLL_TOKEN: token,
  })
  if (enrolled.status !== 0) throw new Error(`svc-agent enroll failed: ${enrolled.stderr}`)
  await installHook(join(dataDir, 'hooks'), trace)

  const started: RunningProgram[] = []
  return {
    hostname,
    dataDir,
    environment,
    hookLines: async () => {
      const text = await readFile(trace, 'utf8').catch(() => '')
      return text.split('\n').filter((line) => line !== '')
    },
    agent: (...args) => runProgram(agentProgram, args, environment),
    run: (other = programs, more = {}) => {
      const variables = { ...environment, ...more }
      const running = startProgram(join(other, 'svc-agent'), ['run'], variables)
      started.push(running)
      return running
    },
    [Symbol.asyncDispose]: async () => {
      for (const running of started) {
        if (running.hasEnded()) continue
        running.kill('SIGKILL')
        await running.ended
      }
      await waitForHooks(join(dataDir, 'agent.lock'))
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A hook is killed soon after its agent was, and may write until then; what kills it holds the agent's lock. */
async function waitForHooks(lockFile: string): Promise<void> {
  if (!existsSync(lockFile)) return
  await waitUntil('the hooks of an agent to end', () => {
    const lock = tryLockFile(lockFile)
    lock?.release()
    return lock !== undefined || undefined
  })
}

async function installHook(directory: string, trace: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 })
  const hook = join(directory, 'post-csr-cert')
  await writeFile(hook, `#!/bin/sh\necho "$SVC_EVENT $SVC_NOME $SVC_SERIAL" >> '${trace}'\n`)
  await chmod(hook, 0o755)
}
