// One history: a hub, or two that share a vault, its agents and their people, in hours of trouble that a seed decides, and then peace, in which
// everything has to come right.

import './intercept.ts'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { nodeFileOperations } from '../../../src/agent/files/file-operations.ts'
import { initVault, type UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { describeError, invariant } from '../../../src/platform/errors.ts'
import { Secret } from '../../../src/platform/secret.ts'
import { makeQuickDirectory } from '../quick-directory.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { checkLog } from './check-log.ts'
import type { CrashingHost } from './crashing-host.ts'
import type { CrashingHub } from './crashing-hub.ts'
import type { FaultKind } from './faults.ts'
import { findTrouble } from './find-trouble.ts'
import { makeOldLog, type OldLog } from './old-log.ts'
import { SHARED_SKEW_MS } from './sharing.ts'
import { checkWholeHub } from './watch-hub.ts'
import { createWorld, START, type World, type WorldOptions } from './world.ts'

export interface History {
  readonly seed: number
  readonly hubs: HubCount
  /** Of all that happened, in its order. */
  readonly hash: string
  readonly faults: ReadonlyMap<FaultKind, number>
  readonly crashes: number
  readonly steps: number
  readonly rounds: number
  readonly acts: number
  readonly entries: number
  /** That receivers of webhooks got, once more or not. */
  readonly messages: number
  /** That agents held, where hubs share their vault. */
  readonly streams: number
  readonly backups: number
  readonly restores: number
  /** Of old vaults that were put in place. */
  readonly refusals: number
  /** Entries that were said to have left the vault. */
  readonly archived: number
  /** Of rollouts, after their first one. */
  readonly waves: number
  readonly virtualMs: number
}

export class HistoryFailure extends Error {
  override name = 'HistoryFailure'
  readonly seed: number
  readonly hubs: HubCount
  constructor(
    { seed, hubs }: Pick<History, 'seed' | 'hubs'>,
    reason: string,
    lastLines: readonly string[],
    cause: unknown,
  ) {
    super(
      `seed ${seed}, hubs ${hubs}: ${reason}\n${lastLines.map((line) => `  ${line}`).join('\n')}`,
      { cause },
    )
    this.seed = seed
    this.hubs = hubs
  }
}

export type HubCount = 1 | 2

export interface HistoryOptions extends WorldOptions {
  /** Else the seed decides. */
  readonly hubs?: HubCount | undefined
}

/** Where many histories run: a vault to copy, so that not each of them has to stretch a passphrase. */
export interface Workshop extends AsyncDisposable {
  readonly directory: string
  readonly vault: UnsealedVault
  /** The same vault with a log that is old and long. */
  readonly old: OldLog
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SHARED_LIKELIHOOD = 0.3
const PEACE_MS_MAX = 5 * HOUR_MS
const LOOK_INTERVAL_MS = 5 * MINUTE_MS
const TROUBLE_INTERVAL_MS = 6 * MINUTE_MS
const LAST_LINES = 40

export async function openWorkshop(): Promise<Workshop> {
  const directory = await makeQuickDirectory('simulated-histories-')
  const vault = await initVault(join(directory, 'vault'), new Secret('a passphrase'))
  return {
    directory,
    vault,
    old: await makeOldLog(vault, join(directory, 'old'), START),
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** Throws HistoryFailure. */
export async function runHistory(
  workshop: Workshop,
  seed: number,
  options: HistoryOptions = {},
): Promise<History> {
  invariant(nodeFileOperations.rename === rename, 'nothing was loaded before what stands in')
  const directory = mkdtempSync(join(workshop.directory, 'history-'))
  const hubs = options.hubs ?? countHubs(seed)
  const world = await createWorld(workshop, { seed, hubs }, directory, options)
  try {
    await live(world)
    return summarise(world, { seed, hubs })
  } catch (error) {
    throw new HistoryFailure(
      { seed, hubs },
      describeError(error),
      world.lines.slice(-LAST_LINES),
      error,
    )
  } finally {
    for (const { host } of world.hosts) host.end()
    for (const hub of world.hubs) await hub.end()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** By a chance of its own, so that a history of one hub is what it was before there were others. */
function countHubs(seed: number): HubCount {
  return createSeededRandom(seed + 2)() < SHARED_LIKELIHOOD ? 2 : 1
}

async function live(world: World): Promise<void> {
  const { kernel, faults, hubs, hosts, operator, more, troubleMs } = world
  for (const hub of hubs) hub.start()
  for (const { host } of hosts) kernel.background(() => host.live())
  kernel.background(() => operator.act())
  for (const deed of more) kernel.background(deed)
  kernel.background(() => makeTrouble(world))
  await kernel.runUntil(new Date(START.getTime() + troubleMs))
  faults.isOver = true
  calmDown(world)
  kernel.background(() => operator.setRight())
  const deadline = new Date(kernel.now().getTime() + PEACE_MS_MAX)
  // A while longer than it takes: what comes right has to stay so.
  for (;;) {
    await kernel.runUntil(new Date(kernel.now().getTime() + LOOK_INTERVAL_MS))
    const trouble = await findTrouble(world)
    if (trouble === undefined) break
    if (kernel.now() > deadline) throw new Error(`peace, and still: ${trouble}`)
  }
  for (const hub of hubs) {
    const running = hub.place?.hub
    invariant(running !== undefined, 'in peace each hub is up')
    await checkWholeHub(running, world.model)
    await inHub(world, hub, () => checkLog(world, hub))
  }
}

/** Whatever reads the hub's disk. */
async function inHub(
  { kernel }: World,
  hub: CrashingHub,
  work: () => Promise<void>,
): Promise<void> {
  const program = hub.place?.program
  invariant(program !== undefined, 'in peace the hub is up')
  let isDone = false
  kernel.background(async () => {
    await program.run(work)
    isDone = true
  })
  await kernel.runUntil(new Date(kernel.now().getTime() + HOUR_MS), () => isDone)
  invariant(isDone, 'no look takes an hour')
}

/** What befalls machines, rather than what passes between them. */
async function makeTrouble({ kernel, faults, hubs, sharing, hosts }: World): Promise<void> {
  const { random } = kernel
  while (!faults.isOver) {
    await kernel.sleep(random() * TROUBLE_INTERVAL_MS)
    const skewMs = sharing === undefined ? 20 * MINUTE_MS : SHARED_SKEW_MS
    for (const hub of hubs) {
      if (faults.happens('clock step')) hub.clockSkewMs = (random() - 0.5) * skewMs
      hub.isDiskFull = faults.happens('hub disk full')
      hub.disk.failure = hub.isDiskFull ? 'ENOSPC' : undefined
      if (faults.happens('hub outage')) hub.goAway(random() * HOUR_MS)
    }
    sharing?.makeTrouble(hubs)
    for (const { host } of hosts) {
      if (faults.happens('clock step')) host.clockSkewMs = (random() - 0.5) * 4 * HOUR_MS
      host.disk.failure = faults.happens('agent disk full')
        ? 'ENOSPC'
        : faults.happens('agent disk error')
          ? 'EIO'
          : undefined
    }
  }
}

function calmDown({ hubs, sharing, hosts }: World): void {
  sharing?.database.comeBack()
  for (const hub of hubs) {
    hub.clockSkewMs = 0
    hub.isDiskFull = false
    hub.disk.failure = undefined
    hub.bless()
    hub.startIfDead()
  }
  for (const { host } of hosts) {
    host.clockSkewMs = 0
    host.disk.failure = undefined
    host.bless()
  }
}

function summarise(
  { kernel, faults, hubs, hosts, model, webhooks, operator, oldLog, lines, ...world }: World,
  which: Pick<History, 'seed' | 'hubs'>,
): History {
  const hash = createHash('sha256')
  for (const line of lines) hash.update(`${line}\n`)
  const sum = (count: (host: CrashingHost) => number): number =>
    sumOf(hosts, ({ host }) => count(host))
  return {
    ...which,
    hash: hash.digest('hex'),
    faults: faults.counts,
    crashes: sumOf(hubs, ({ starts }) => starts - 1) + sum(({ crashes }) => crashes),
    steps: kernel.steps,
    rounds: sum(({ rounds }) => rounds),
    acts: operator.acts,
    entries: model.entryCount - (oldLog?.records.length ?? 0),
    messages: webhooks.messages,
    streams: world.sharing?.news.streams ?? 0,
    backups: world.disaster?.backups ?? 0,
    restores: model.restores,
    refusals: sumOf(hubs, ({ refusals }) => refusals),
    archived: world.archivist?.removedUntil ?? 0,
    waves: world.rollouts.waves,
    virtualMs: kernel.now().getTime() - START.getTime(),
  }
}

function sumOf<Value>(values: readonly Value[], count: (value: Value) => number): number {
  return values.reduce((total, value) => total + count(value), 0)
}
