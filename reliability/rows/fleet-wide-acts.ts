// Acts on a whole fleet, each while an agent polls: it never waits long, and is never told half of one. Killed at any moment
// they were done by all, or by none.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ChainVerifier } from '../../src/audit/hash-chain.ts'
import { createFleetChanges } from '../../src/hub/service/cargo/fleet-changes.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import {
  countDeliveries,
  createFleet,
  type FleetDatabase,
  failAll,
  openFleet,
} from '../support/fleet/fleet-database.ts'
import type { FleetAct, FleetNews, FleetOrder } from '../support/fleet/fleet-program.ts'

const AGENTS = { small: 2000, full: 100_000 } as const
const KILLS = { small: 1, full: 4 } as const
/** On a machine that is not slower than that of the limits (`measureSlowness`). */
const CPU_MS_MAX = 50
/** All or nothing, so in one commit: what a declaration may have at most, of each kind, is bounded by this. */
const DECLARATION_CPU_MS_MAX = 120
/** A busy machine makes one or the other act dearer; what is dear by itself is so each time. */
const ATTEMPTS_MAX = 3
/** So that a kill falls anywhere into an act, or after it. */
const KILL_AFTER_MS_MAX = { small: 300, full: 10_000 } as const
const ACTS: readonly FleetAct[] = ['create', 'update']
/** When all have failed. */
const LATER_ACTS: readonly FleetAct[] = [
  'retry',
  'politica',
  'bundle',
  'label',
  'narrow',
  'select',
  'declare',
  'wave',
  'undo',
  'revoke',
  'remove',
]
const KILLED: readonly FleetAct[] = ['create', 'update', 'retry', 'remove']
/** By the acts before. */
const REVOKED = 1
const OVER = / (cancelada|substituida)$/
const PROGRAM = join(import.meta.dirname, '../support/fleet/fleet-program.ts')

export const fleetWideActs: ReliabilityRow = {
  name: 'fleet-wide acts',
  promise: 'an act on a whole fleet holds up no agent, and changes every agent or none',
  run: runRow,
}

async function runRow(context: RowContext): Promise<RowResult> {
  const { setting, random, directory } = context
  const agents = AGENTS[setting]
  const broken: string[] = []
  const cheapest = new Map<FleetAct, DoneAct>()
  let database: FleetDatabase
  let attempts = 0
  do {
    attempts += 1
    const place = join(directory, String(attempts))
    await mkdir(place)
    database = await createFleet(place, agents)
    for (const done of await watchActs(database)) {
      const { act, manifests } = done
      const known = cheapest.get(act)
      if (known === undefined || shareOf(done) < shareOf(known)) cheapest.set(act, done)
      for (const manifest of manifests.filter(isTwoVersions)) {
        broken.push(`${act}: an agent was told ${manifest}`)
      }
    }
  } while (attempts < ATTEMPTS_MAX && [...cheapest.values()].some(isTooLong))
  for (const done of [...cheapest.values()].filter(isTooLong)) {
    broken.push(
      `${done.act}: ${Math.round(done.longestMs)} ms of CPU between two polls, where ${Math.round(mostOf(done))} are allowed`,
    )
  }
  const figures = [...cheapest.values()].map(
    ({ act, longestMs, cpuMs }) => `${act} ${Math.round(longestMs)} of ${Math.round(cpuMs)}`,
  )
  const slowest = Math.max(...[...cheapest.values()].map(({ slowness }) => slowness))
  for (let round = 1; round <= KILLS[setting]; round += 1) {
    for (const act of KILLED) {
      const name = `round-${round}`
      // What is to be tried again has failed.
      if (act === 'retry') failAll(database)
      const killAfterMs = random() * KILL_AFTER_MS_MAX[setting]
      await killWhile(database, act, name, killAfterMs)
      const faults = await findFaults(database, name, agents - REVOKED)
      broken.push(
        ...faults.map((fault) => `${act}, killed after ${Math.round(killAfterMs)} ms: ${fault}`),
      )
      if (act === 'create') await ensureCreated(database, name)
    }
    context.progress(`${round} of ${KILLS[setting]} rounds of kills`)
  }
  const kills = KILLS[setting] * KILLED.length
  return {
    tried: `${ACTS.length + LATER_ACTS.length} acts on ${agents} agents of a role, and ${kills} kill -9 in such acts`,
    broken,
    measured: `CPU in ms, the most between two polls of all: ${figures.join(', ')}; ${attempts} attempts; the machine up to ${slowest.toFixed(1)} times as slow as that of the limits`,
  }
}

type DoneAct = Extract<FleetNews, { kind: 'done' }>

async function watchActs(database: FleetDatabase): Promise<DoneAct[]> {
  const told = await runActs({ database, acts: ACTS, name: 'site' })
  failAll(database)
  told.push(...(await runActs({ database, acts: LATER_ACTS, name: 'site' })))
  return told.filter((news) => news.kind === 'done')
}

function mostOf({ act, slowness }: DoneAct): number {
  return slowness * (act === 'declare' ? DECLARATION_CPU_MS_MAX : CPU_MS_MAX)
}

function shareOf(done: DoneAct): number {
  return done.longestMs / mostOf(done)
}

function isTooLong(done: DoneAct): boolean {
  return shareOf(done) > 1
}

/** Of one carga, in one manifest. */
function isTwoVersions(manifest: string): boolean {
  const names = manifest.split(' and ').map((each) => each.slice(0, each.lastIndexOf(' ')))
  return new Set(names).size < names.length
}

async function runActs(order: FleetOrder): Promise<FleetNews[]> {
  const news: FleetNews[] = []
  const child = start(order)
  child.on('message', (one: FleetNews) => news.push(one))
  const [status] = (await once(child, 'exit')) as [number | null]
  if (status !== 0) throw new Error(`the acts ended with ${status}`)
  return news
}

function start(order: FleetOrder): ChildProcess {
  const child = fork(PROGRAM, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.send(order)
  return child
}

async function killWhile(
  database: FleetDatabase,
  act: FleetAct,
  name: string,
  afterMs: number,
): Promise<void> {
  const child = start({ database, acts: [act], name })
  const exited = once(child, 'exit')
  await once(child, 'message')
  await Promise.race([sleep(afterMs), exited])
  child.kill('SIGKILL')
  await exited
}

async function ensureCreated(database: FleetDatabase, name: string): Promise<void> {
  const store = await openFleet(database)
  const cargoes = (await store.reader.pageCargoes({ limit: 1000 })) ?? []
  await store.close()
  if (cargoes.some((cargo) => cargo.name === name)) return
  await runActs({ database, acts: ['create'], name })
}

/** What everybody sees right after the kill, and when the next start has cleared up. */
async function findFaults(
  database: FleetDatabase,
  name: string,
  agents: number,
): Promise<string[]> {
  const store = await openFleet(database)
  try {
    const seen = await countDeliveries(store.reader)
    const faults: string[] = []
    const live = [...seen].filter(([key]) => key.startsWith(`${name} `) && !OVER.test(key))
    if (live.length > 1 || live.some(([, count]) => count !== agents)) {
      faults.push(`the agents have ${live.map(([key, count]) => `${count} of ${key}`).join(', ')}`)
    }
    await createFleetChanges(store).inTurn(async () => undefined)
    const later = await countDeliveries(store.reader)
    if (!isDeepStrictEqual(later, seen)) {
      faults.push('the next start changed what there was')
    }
    if ((await store.reader.listChanges()).length > 0) faults.push('a change is still under way')
    return [...faults, ...(await findChainFaults(store))]
  } finally {
    await store.close()
  }
}

async function findChainFaults({ reader }: Store): Promise<string[]> {
  const verifier = new ChainVerifier()
  for (let afterSeq = 0; ;) {
    const entries = await reader.listEntries({ afterSeq, limit: 1000 })
    for (const entry of entries) verifier.add(entry)
    const last = entries.at(-1)
    if (last === undefined) break
    afterSeq = last.seq
  }
  const { fault } = verifier
  return fault === undefined ? [] : [`entry ${fault.seq} of the log: ${fault.reason}`]
}
