// What two hubs that share a vault do, beside one hub whose vault has its journal in PostgreSQL too. Cores are what hubs on machines of their
// own have and this machine has not: so what is compared is how many operations a hub's CPU suffices for, of two hubs together.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Postgresql, startPostgresql } from '../test/support/postgresql.ts'
import { type Aim, type Figure, ratioFigure, valueFigure } from './figure.ts'
import type { LoadGenerator, Measurement } from './load-generator.ts'
import { medianOf } from './ratio.ts'
import { cpuMsEach, measureRounds, ratePerSecond, type Side } from './rounds.ts'
import {
  addressOf,
  binary,
  startHub,
  startLoad,
  startWorld,
  type World,
  type WorldOptions,
} from './world.ts'

/** Of each load. */
const AGENTS = 64
const ONE = 'one hub'

interface Work {
  readonly name: string
  readonly what: string
  readonly aim?: Aim
}

const WORK: readonly Work[] = [
  { name: 'kept', what: 'polls, 64 kept connections a hub', aim: { atLeast: 1.8 } },
  { name: 'handshake', what: 'handshakes and polls, 16 at once a hub', aim: { atLeast: 1.8 } },
  { name: 'events', what: 'durable events, 64 agents a hub' },
]

interface AimedLoad {
  readonly load: LoadGenerator
  readonly pid: number
  readonly address: string
}

/** Hubs that are measured at once, with their database. */
interface Hubs extends AsyncDisposable {
  readonly loads: readonly AimedLoad[]
  readonly databasePid: number
}

export async function measureSeveralHubs(
  options: WorldOptions,
  seconds: number,
): Promise<readonly Figure[]> {
  await using one = await startHubs(options, 1)
  await using two = await startHubs(options, 2)
  const figures: Figure[] = []
  for (const work of WORK) figures.push(...(await measureWork(work, { one, two }, seconds)))
  return figures
}

async function measureWork(
  { name, what, aim }: Work,
  { one, two }: { readonly one: Hubs; readonly two: Hubs },
  seconds: number,
): Promise<Figure[]> {
  const sides = [sideOf('two hubs', two, name, seconds), sideOf(ONE, one, name, seconds)]
  const wanted = { areHubs: true }
  const { samples, isSettled, warmUpRounds } = await measureRounds(sides, wanted)
  const [ofTwo = [], ofOne = []] = samples
  const database = medianOf(ofTwo.map((sample) => cpuMsEach(sample, 1)))
  const notes = [
    `the database spends ${database.toFixed(3)} ms on each`,
    ...(isSettled ? [] : [`still moving after ${warmUpRounds} rounds`]),
  ]
  const ratio = ratioFigure({
    row: 'several-hubs',
    what: `${what}, two hubs`,
    unit: '/s of a core each',
    yardstickName: ONE,
    aim,
    rounds: ofTwo.map((sample, round) => ({
      subject: 2000 / cpuMsEach(sample),
      yardstick: 1000 / cpuMsEach(ofOne[round] ?? sample),
    })),
    perSecond: medianOf(ofTwo.map(ratePerSecond)),
    p99Ms: medianOf(ofTwo.map(({ p99Ms }) => p99Ms)),
    note: notes.join('; '),
  })
  return name === 'events' ? [ratio, ...ratesOf(ofTwo)] : [ratio]
}

/** What all of them can write is what the database can take, one record after the other. */
function ratesOf(ofTwo: readonly Measurement[]): Figure[] {
  const row = 'several-hubs'
  const note = 'hubs, database and load on the cores of one machine'
  return [
    valueFigure({
      row,
      what: 'durable events of two hubs',
      unit: '/s by the clock',
      value: medianOf(ofTwo.map(ratePerSecond)),
      aim: { atLeast: 1500 },
      note,
    }),
    valueFigure({
      row,
      what: 'durable events of two hubs, p99',
      unit: 'ms by the clock',
      value: medianOf(ofTwo.map(({ p99Ms }) => p99Ms)),
      aim: { atMost: 250 },
      note,
    }),
  ]
}

function sideOf(name: string, { loads, databasePid }: Hubs, work: string, seconds: number): Side {
  return {
    name,
    measure: async () => {
      const clients = work === 'handshake' ? undefined : AGENTS
      const measured = await Promise.all(
        loads.map(({ load, pid, address }, index) => {
          // The database's is counted once.
          const pids = index === 0 ? [pid, databasePid] : [pid]
          return load.measure(work, { seconds, clients, pids, address })
        }),
      )
      return together(measured)
    },
  }
}

function together(measured: readonly Measurement[]): Measurement {
  const sum = (values: readonly number[]): number =>
    values.reduce((total, value) => total + value, 0)
  return {
    count: sum(measured.map(({ count }) => count)),
    seconds: Math.max(...measured.map(({ seconds }) => seconds)),
    p99Ms: Math.max(...measured.map(({ p99Ms }) => p99Ms)),
    maxMs: Math.max(...measured.map(({ maxMs }) => maxMs)),
    cpuMs: [sum(measured.map(({ cpuMs }) => cpuMs[0] ?? 0)), measured[0]?.cpuMs[1] ?? 0],
  }
}

async function startHubs(options: WorldOptions, count: 1 | 2): Promise<Hubs> {
  await using stack = new AsyncDisposableStack()
  const database: Postgresql = stack.use(await startPostgresql())
  const variables = () => ({ SVC_DATABASE_URL: database.url })
  const first = stack.use(await startWorld({ ...options, variables }))
  const { hub, load, mtlsAddress: address } = first
  const loads = [{ load, pid: hub.pid, address }]
  if (count === 2) loads.push(stack.use(await joinHub(first, options)))
  for (const each of loads) await each.load.send({ do: 'enroll-agents', count: AGENTS })
  const owned = stack.move()
  return {
    loads,
    databasePid: database.pid,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Another hub with the vault of this one. */
async function joinHub(
  world: World,
  { loadProgram }: WorldOptions,
): Promise<AimedLoad & AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const vault = join(world.directory, 'joined')
  const environment = { ...world.environment, SVC_VAULT_ROOT: vault }
  const config = join(world.directory, 'vault', 'config.json')
  const env = { ...process.env, ...environment }
  await promisify(execFile)(binary('svc'), ['join', '--from', config], { env })
  const hub = stack.use(await startHub(environment, join(world.directory, 'joined.log')))
  const load = stack.use(
    await startLoad(loadProgram, { vault, hub, ca: world.ca, hosts: 'joined' }),
  )
  const owned = stack.move()
  const address = addressOf(hub, 'mtls listening')
  return { pid: hub.pid, load, address, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
