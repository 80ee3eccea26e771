// Hubs that share the journal of one vault, each a process with a vault of its own.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readSecret } from '../../src/hub/read-secret.ts'
import { describeError } from '../../src/platform/errors.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { createHubPlace, findPorts, type HubPlace, type HubPorts } from '../support/hub.ts'
import {
  type RunningProgram,
  startProgram,
  type Variables,
  waitUntil,
} from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { pathOfTool } from '../support/tools.ts'

export interface SharedHub extends HubPlace {
  /** Of the one that runs, or ran last. */
  readonly ports: HubPorts
  logText(): string
  hasEnded(): boolean
  start(): Promise<void>
  /** `kill -9`. */
  kill(): Promise<void>
}

export interface SharedHubs extends AsyncDisposable {
  readonly hubs: readonly SharedHub[]
  /** Of a vault that is made now, of what the journal has and of nothing else; JSON. */
  askNewVault(this: void, ...questions: readonly (readonly string[])[]): Promise<readonly unknown[]>
}

export interface SharedHubsOptions {
  readonly count: number
  readonly databaseUrl: string
  /** The hub, in one file. */
  readonly program: string
  readonly caEnvironment: Variables
  readonly environment: Variables
}

type Place = HubPlace & { readonly remove: () => Promise<void> }

const START_MS_MAX = 60_000

export async function startSharedHubs(options: SharedHubsOptions): Promise<SharedHubs> {
  const stack = new AsyncDisposableStack()
  const { count, databaseUrl, caEnvironment, program } = options
  const environment = { ...options.environment, SVC_DATABASE_URL: databaseUrl }
  const place = async (): Promise<Place> => {
    const made = await createHubPlace({ caEnvironment, environment })
    stack.defer(made.remove)
    return made
  }
  try {
    const first = await place()
    await initCheapVault(first.vaultRoot, readSecret(first.environment, 'SVC_MASTER_PASSPHRASE'))
    await svc(first, 'vault', 'migrate', '--to', 'postgresql')
    const configPath = join(first.vaultRoot, 'config.json')
    const places = [first]
    while (places.length < count) {
      const other = await place()
      await svc(other, 'join', '--from', configPath)
      places.push(other)
    }
    const hubs = places.map((one) => hubOf(one, program))
    for (const hub of hubs) stack.defer(() => hub.kill())
    for (const hub of hubs) await hub.start()
    return {
      hubs,
      askNewVault: async (...questions) => {
        const fresh = await place()
        await mkdir(fresh.vaultRoot, { mode: 0o700 })
        await svc(fresh, 'join', '--from', configPath)
        const answers: unknown[] = []
        for (const question of questions) answers.push(JSON.parse(await svc(fresh, ...question)))
        return answers
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

async function svc(place: Place, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runSvcHere(args, place.environment)
  if (status !== 0) throw new Error(`svc ${args.join(' ')}: ${stderr}`)
  return stdout
}

function hubOf(place: Place, program: string): SharedHub {
  let running: RunningProgram | undefined
  let ports: HubPorts | undefined
  return {
    ...place,
    get ports() {
      if (ports === undefined) throw new Error('the hub was never started')
      return ports
    },
    logText: () => running?.stderr() ?? '',
    hasEnded: () => running?.hasEnded() ?? true,
    start: async () => {
      // It ends with this process, however that ends.
      const args = ['--pdeathsig', 'KILL', program]
      const started = startProgram(pathOfTool('setpriv'), args, place.environment)
      running = started
      const find = (): HubPorts | undefined => {
        if (started.hasEnded()) throw new Error(`the hub ended: ${started.stderr()}`)
        return findPorts(started.stderr(), place.environment)
      }
      try {
        ports = await waitUntil('a hub to listen', find, START_MS_MAX)
      } catch (error) {
        throw new Error(`${describeError(error)}: ${started.stderr().slice(-2000)}`, {
          cause: error,
        })
      }
    },
    kill: async () => {
      if (running === undefined || running.hasEnded()) return
      running.kill('SIGKILL')
      await running.ended
    },
  }
}
