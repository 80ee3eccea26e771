// A hub as operators run it: svc-server in a process of its own, on ports that the system chooses. For what is about the
// process: how it boots and stops, kill -9, owners and modes of its files, its memory, other versions.

import { join } from 'node:path'
import { readSecret } from '../../src/hub/read-secret.ts'
import { initCheapVault } from './cheap-vault.ts'
import { createHubPlace, findPorts, type HubPorts, parseLog } from './hub.ts'
import type { TestHub, TestHubOptions } from './hub.ts'
import {
  type Ended,
  isBuiltTested,
  type RunningProgram,
  runProgram,
  startProgram,
  type Variables,
  waitUntil,
} from './processes.ts'
import { runSvcHere } from './run-svc.ts'
import { shareAsSet } from './test-store.ts'

export interface HubProcess extends TestHub {
  /** The process that runs, or ran last. */
  readonly pid: number
  /** As another version when its bin/ is given. */
  start(extra?: Variables, programs?: string): Promise<void>
  /** By SIGTERM unless it is another signal. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export interface HubProcessOptions extends TestHubOptions {
  /** Its vault is the one of `svc init`, whose passphrase is not cheap to try. */
  readonly isInitialisedBySvc?: boolean
  /** The bin/ of another version, to run its programs. */
  readonly programs?: string
}

/** A new vault and its hub, listening. */
export async function startHubProcess(options: HubProcessOptions): Promise<HubProcess> {
  const hub = await createHubProcess(options)
  try {
    await hub.start()
    return hub
  } catch (error) {
    await hub[Symbol.asyncDispose]()
    throw error
  }
}

/** A new vault, and a hub that is not started yet. */
export async function createHubProcess(options: HubProcessOptions): Promise<HubProcess> {
  const { remove, store, ...place } = await createHubPlace(options)
  const { environment } = place
  const { programs: ownPrograms = '' } = options
  const svc = join(ownPrograms, 'svc')
  const isOwn = ownPrograms === '' && !isBuiltTested()
  if (!isOwn || options.isInitialisedBySvc === true) {
    const made = await runProgram(svc, ['init'], environment)
    if (made.status !== 0) throw new Error(`svc init failed: ${made.stderr}`)
  } else {
    const passphrase = readSecret(environment, 'SVC_MASTER_PASSPHRASE')
    await shareAsSet(await initCheapVault(place.vaultRoot, passphrase), store)
  }

  let running: RunningProgram | undefined
  let ports: HubPorts | undefined
  const logText = (): string => running?.stderr() ?? ''
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
    if (running === undefined) throw new Error('the hub was never started')
    running.kill(signal)
    return running.ended
  }
  return {
    ...place,
    get ports() {
      if (ports === undefined) throw new Error('the hub was never started')
      return ports
    },
    get pid() {
      return running?.pid ?? 0
    },
    logText,
    logEntries: () => parseLog(logText()),
    start: async (extra = {}, programs = ownPrograms) => {
      const variables = { ...environment, ...extra }
      const started = startProgram(join(programs, 'svc-server'), [], variables)
      running = started
      ports = await waitUntil('the hub to listen', () => {
        if (started.hasEnded()) throw new Error(`the hub ended: ${started.stderr()}`)
        return findPorts(started.stderr(), variables)
      })
    },
    stop,
    svc: (...args) => (isOwn ? runSvcHere(args, environment) : runProgram(svc, args, environment)),
    [Symbol.asyncDispose]: async () => {
      if (running !== undefined && !running.hasEnded()) await stop('SIGKILL')
      await remove()
    },
  }
}
