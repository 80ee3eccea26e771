// Two machines, each with a svc-server of its own: a hub and its standby, which may change places.

import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readSecret } from '../../src/hub/read-secret.ts'
import { initCheapVault } from './cheap-vault.ts'
import { findFreePort } from './free-port.ts'
import { createHubPlace, findPorts, type HubPlace, type HubPorts } from './hub.ts'
import {
  type Ended,
  type RunningProgram,
  startProgram,
  type Variables,
  waitUntil,
} from './processes.ts'
import { runSvcHere } from './run-svc.ts'

export interface Machine extends HubPlace {
  /** Of the hub that runs here, or ran last. */
  readonly ports: HubPorts
  logText(): string
  hasEnded(): boolean
  /** Resolves when what runs here listens as this; of another version, with a program of that. */
  start(as: 'hub' | 'standby', extra?: Variables, version?: string): Promise<void>
  /** A standby that was promoted listens. */
  becameHub(): Promise<void>
  /** Resolves when it has ended by itself. */
  ended(): Promise<Ended>
  stop(signal?: NodeJS.Signals): Promise<Ended>
  /** What runs here goes on, or stands still. */
  signal(signal: NodeJS.Signals): void
  svc(...args: readonly string[]): Promise<Ended>
  /** The vault that is here goes, and the machine is the standby of the one with that config.json. */
  becomeStandbyOf(other: HubPlace): Promise<void>
}

export interface StandbyPair extends AsyncDisposable {
  readonly machines: readonly [Machine, Machine]
}

export interface StandbyPairOptions {
  readonly caEnvironment: Variables
  readonly environment?: Variables
  /** svc-server, unless it is a bundle of it. */
  readonly program?: string
}

const START_MS_MAX = 60_000

/** The first one has a vault, the second one is its standby. Nothing runs yet. */
export async function makeStandbyPair(options: StandbyPairOptions): Promise<StandbyPair> {
  const stack = new AsyncDisposableStack()
  const bindPorts = [await findFreePort(), await findFreePort()] as const
  const make = async (own: number, other: number): Promise<Machine> => {
    const environment = {
      ...options.environment,
      SVC_STANDBY_BIND: `127.0.0.1:${own}`,
      SVC_STANDBY_OF: `https://127.0.0.1:${other}`,
    }
    const { remove, ...place } = await createHubPlace({ ...options, environment })
    stack.defer(remove)
    const machine = machineAt(place, options.program)
    stack.defer(async () => {
      if (!machine.hasEnded()) await machine.stop('SIGKILL')
    })
    return machine
  }
  try {
    const first = await make(...bindPorts)
    const second = await make(bindPorts[1], bindPorts[0])
    await initCheapVault(first.vaultRoot, readSecret(first.environment, 'SVC_MASTER_PASSPHRASE'))
    await second.becomeStandbyOf(first)
    return { machines: [first, second], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

function machineAt(place: HubPlace, program = 'svc-server'): Machine {
  let running: RunningProgram | undefined
  let ports: HubPorts | undefined
  const started = (): RunningProgram => {
    if (running === undefined) throw new Error('the machine was never started')
    return running
  }
  const waitFor = async <T>(what: string, find: (log: string) => T | undefined): Promise<T> => {
    const program_ = started()
    return waitUntil(
      what,
      () => {
        if (program_.hasEnded()) throw new Error(`svc-server ended: ${program_.stderr()}`)
        return find(program_.stderr())
      },
      START_MS_MAX,
    )
  }
  const becameHub = async (): Promise<void> => {
    ports = await waitFor('the hub to listen', (log) => findPorts(log, place.environment))
  }
  const svc = (...args: readonly string[]): Promise<Ended> => runSvcHere(args, place.environment)
  return {
    ...place,
    get ports() {
      if (ports === undefined) throw new Error('no hub was ever started here')
      return ports
    },
    logText: () => running?.stderr() ?? '',
    hasEnded: () => running?.hasEnded() ?? true,
    start: async (as, extra = {}, version = program) => {
      running = startProgram(version, [], { ...place.environment, ...extra })
      if (as === 'hub') return becameHub()
      // Or as the hub, when it was killed within a promotion.
      await waitFor(
        'the standby to start',
        (log) => /"(standby started|vault unsealed)"/.test(log) || undefined,
      )
    },
    becameHub,
    ended: () => started().ended,
    stop: async (signal = 'SIGTERM') => {
      started().kill(signal)
      return started().ended
    },
    signal: (signal) => started().kill(signal),
    svc,
    becomeStandbyOf: async ({ vaultRoot }) => {
      const config = join(place.directory, 'config.json')
      await copyFile(join(vaultRoot, 'config.json'), config)
      await rm(place.vaultRoot, { recursive: true, force: true })
      const made = await svc('standby', 'init', '--from', config)
      if (made.status !== 0) throw new Error(made.stderr)
    },
  }
}

export interface MachineStatus {
  readonly role: string
  readonly state: string
  readonly record: number | null
  readonly mode: string | null
}

export async function statusOf(machine: Machine): Promise<MachineStatus> {
  const { status, stdout, stderr } = await machine.svc('standby', 'status', '--json')
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as MachineStatus
}

export async function untilState(machine: Machine, state: string): Promise<MachineStatus> {
  return waitUntil(`the state ${state}`, async () => {
    const status = await statusOf(machine)
    return status.state === state ? status : undefined
  })
}

export interface LogEntry {
  readonly tipo_evento: string
  readonly request_id?: string | null
}

/** The whole log of the hub that runs there, verified. */
export async function readLog(machine: Machine): Promise<readonly LogEntry[]> {
  const { status, stdout, stderr } = await machine.svc('evento', 'list', '--verify', '--json')
  if (status !== 0) throw new Error(stderr)
  return (JSON.parse(stdout) as { eventos: readonly LogEntry[] }).eventos
}

export async function entryTypes(machine: Machine): Promise<readonly string[]> {
  return (await readLog(machine)).map(({ tipo_evento }) => tipo_evento)
}
