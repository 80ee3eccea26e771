// oxlint-disable max-lines -- One hub and several are one model.
// One history: a hub, or two that share a vault, its agents and their people, in hours of trouble that a seed decides, and then peace, in which
// everything has to come right.

import './intercept.ts'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFileOperations } from '../../../src/agent/files/file-operations.ts'
import { GENESIS_HASH } from '../../../src/audit/hash-chain.ts'
import { initVault, type UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { describeError, invariant } from '../../../src/platform/errors.ts'
import { rename } from 'node:fs/promises'
import { createLogging, type Logging } from '../../../src/platform/logger.ts'
import { Secret } from '../../../src/platform/secret.ts'
import { makeQuickDirectory } from '../quick-directory.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { createSimulatedCa } from '../simulated-authority.ts'
import { connectAdminSocket } from './admin-socket.ts'
import { checkLog } from './check-log.ts'
import { ContractModel } from './contract-model.ts'
import { CrashingHost } from './crashing-host.ts'
import { CrashingHub } from './crashing-hub.ts'
import { Archivist } from './archivist.ts'
import { Disaster } from './disaster.ts'
import { type FaultKind, Faults } from './faults.ts'
import { findTrouble } from './find-trouble.ts'
import { Kernel, pick } from './kernel.ts'
import type { KnownBug } from './known-bugs.ts'
import { makeOldLog, OLD_LOG_DAYS, type OldLog } from './old-log.ts'
import { Operator } from './operator.ts'
import { connectReceiver } from './receivers.ts'
import { replaceRoot } from './replace-root.ts'
import { RevocationModel } from './revocation-model.ts'
import { SealedFiles } from './sealed-files.ts'
import { findAnyHub, SHARED_SKEW_MS, Sharing } from './sharing.ts'
import { checkWholeHub, followWhileAlive, watchHub } from './watch-hub.ts'
import { HostWatch } from './watch-host.ts'
import { type ReceivedMessage, WebhookModel } from './webhook-model.ts'

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
  readonly backups: number
  readonly restores: number
  /** Of old vaults that were put in place. */
  readonly refusals: number
  /** Entries that were said to have left the vault. */
  readonly archived: number
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

export interface HistoryOptions {
  /** Else the seed decides. */
  readonly hubs?: HubCount | undefined
  readonly bug?: KnownBug | undefined
  readonly logging?: Logging
  readonly onLine?: ((line: string) => void) | undefined
}

/** Where many histories run: a vault to copy, so that not each of them has to stretch a passphrase. */
export interface Workshop extends AsyncDisposable {
  readonly directory: string
  readonly vault: UnsealedVault
  /** The same vault with a log that is old and long. */
  readonly old: OldLog
}

const START = new Date('2030-01-01T00:00:00Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const HOSTS_MAX = 3
const SHARED_LIKELIHOOD = 0.3
const ROOT_LIKELIHOOD = 0.6
const OUTSIDE_LIKELIHOOD = 0.7
const ARCHIVE_LIKELIHOOD = 0.5
const LOG_KEEP_LIKELIHOOD = 0.5
const DAY_MS = 24 * HOUR_MS
const PEACE_MS_MAX = 5 * HOUR_MS
const LOOK_INTERVAL_MS = 5 * MINUTE_MS
const TROUBLE_INTERVAL_MS = 6 * MINUTE_MS
const LAST_LINES = 40
const SILENT = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })

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

export interface WatchedHost {
  readonly host: CrashingHost
  readonly watch: HostWatch
}

export interface World {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly model: ContractModel
  readonly webhooks: WebhookModel
  readonly revocations: RevocationModel
  readonly sealed: SealedFiles
  /** The first one is the only one, unless they share their vault. */
  readonly hubs: readonly CrashingHub[]
  readonly sharing: Sharing | undefined
  readonly hosts: readonly WatchedHost[]
  readonly operator: Operator
  /** Of a hub that keeps what a restore needs outside. */
  readonly disaster: Disaster | undefined
  /** Of a hub whose log is old. */
  readonly archivist: Archivist | undefined
  readonly oldLog: OldLog | undefined
  /** What else people do, beside the operator. */
  readonly more: readonly (() => Promise<void>)[]
  readonly troubleMs: number
  readonly lines: readonly string[]
}

async function createWorld(
  workshop: Workshop,
  { seed, hubs: hubCount }: Pick<History, 'seed' | 'hubs'>,
  directory: string,
  { bug, logging = SILENT, onLine }: HistoryOptions,
): Promise<World> {
  const random = createSeededRandom(seed)
  const kernel = new Kernel(START, random)
  const isShared = hubCount > 1
  const faults = new Faults(random, { isShared })
  const lines: string[] = []
  const note = (text: string): void => {
    const line = `${kernel.now().toISOString().slice(8, 23)} ${text}`
    lines.push(line)
    onLine?.(line)
  }
  const hasOutside = random() < OUTSIDE_LIKELIHOOD
  // A log that is old is archived, and hubs that share a vault need one place for that.
  const oldLog = random() < ARCHIVE_LIKELIHOOD && !isShared ? workshop.old : undefined
  const keepMs =
    random() < LOG_KEEP_LIKELIHOOD ? (OLD_LOG_DAYS.last + random() * 40) * DAY_MS : undefined
  const lifeMs = (1 + Math.floor(random() * 3)) * HOUR_MS
  const ca = await createSimulatedCa(kernel, createSeededRandom(seed + 1), lifeMs)
  const rootFile = { pem: ca.rootPem }
  const { hash = GENESIS_HASH, records = [] } = oldLog ?? {}
  const webhooks = new WebhookModel(records)
  const revocations = new RevocationModel(ca.revoked)
  const vault = oldLog?.vault ?? workshop.vault
  const { vaultId } = vault
  const sharing = isShared ? new Sharing({ kernel, faults, random, vaultId, note }) : undefined
  if (sharing !== undefined && bug?.isBlindToCommits === true) {
    sharing.database.takesSilenceForFailure = true
  }
  const readers = [webhooks, revocations, ...(sharing ? [sharing.news] : [])]
  const model = new ContractModel({ count: records.length, hash }, readers)
  const createHub = (name: string): CrashingHub =>
    new CrashingHub({
      name,
      database: sharing?.database,
      kernel,
      faults,
      ca,
      readRootFile: () => rootFile.pem,
      logging,
      vault,
      directory,
      hasOutside,
      archive: oldLog && { keepMs },
      note,
      connectReceiver: (url, program, store) => {
        const onMessage = async (message: ReceivedMessage): Promise<void> => {
          await followWhileAlive(store, program, model)
          const isLate = sharing?.isLate(program, webhooks.lastEndMs) === true
          kernel.look(() => webhooks.noteMessage(message, isLate))
        }
        const connection = connectReceiver({ kernel, faults, onMessage }, program, url)
        return bug?.inConnection?.(connection) ?? connection
      },
      surroundAuthority: (authority, program) => {
        const surrounded = bug?.inAuthority?.(authority) ?? authority
        return sharing?.claims.watch(surrounded, program) ?? surrounded
      },
      surroundMember: (parts, store) => bug?.inMember?.(parts, store) ?? parts,
      onCut: (agentId, program) => sharing?.news.noteCut(agentId, program),
      onRevoke: async (serial, program, store) => {
        await followWhileAlive(store, program, model)
        kernel.look(() => revocations.checkAsked(serial))
      },
      startsBlindly: bug?.startsBlindly ?? false,
      surroundStore: (store) => bug?.inStore?.(store) ?? store,
      surround: (running, program, itsAuthority) =>
        watchHub(bug?.inHub?.(running, itsAuthority) ?? running, program, model, sharing?.claims),
      onStart: async (running, program) => {
        if (sharing === undefined) await checkWholeHub(running, model)
        // Others go on meanwhile.
        else await model.follow(running.store.reader)
        sharing?.news.noteStart(program)
        kernel.look(() => disaster.checkRestored())
        return model.entryCount
      },
    })
  const hub = createHub(sharing?.names[0] ?? 'hub')
  const hubs = [hub, ...(sharing?.names.slice(1) ?? []).map(createHub)]
  const findHub = () => findAnyHub(hubs, random)
  for (const each of hubs) bug?.onHubDisk?.(each.disk)
  const watched: WatchedHost[] = []
  const hosts: CrashingHost[] = []
  const watchOf = (host: CrashingHost): HostWatch | undefined =>
    watched.find((each) => each.host === host)?.watch
  const ask = connectAdminSocket({ kernel, model, findHub, note })
  const sealed = new SealedFiles({ kernel, ask })
  const disaster = new Disaster({
    kernel,
    faults,
    model,
    hub,
    hosts: watched,
    revoke: (host) => operator.revoke(host),
    surroundRestore: (options) => bug?.inRestore?.(options) ?? options,
    note,
  })
  const archivist = oldLog && new Archivist({ kernel, faults, ask, log: oldLog, note })
  const operator = new Operator({
    kernel,
    faults,
    disaster,
    watchOf,
    model,
    webhooks,
    sealed,
    hosts,
    findHub,
    ask,
    onRebuild: (host) => watchOf(host)?.forget(),
    note,
  })
  const pollInterval = pick(['5m', '10m', '20m'], random) ?? '5m'
  const hostCount = 1 + Math.floor(random() * HOSTS_MAX)
  for (let index = 0; index < hostCount; index += 1) {
    const host = new CrashingHost({
      kernel,
      faults,
      network: { kernel, faults, findHub, note },
      logging,
      hostname: `web-${index}.example`,
      pollInterval,
      obtainToken: (asking) => operator.obtainToken(asking),
      note,
      onPowerLost: (lost) => watchOf(lost)?.checkAfterPowerCut(),
      // [HUB-8] Where another hub removed a root, this one needs another certificate first: until then agents go to the other one.
      onStrangers: (serial) =>
        isShared || kernel.look(() => model.checkStrangers(serial, kernel.now())),
    })
    bug?.onDisk?.(host.disk)
    hosts.push(host)
    watched.push({
      host,
      watch: new HostWatch(host, { model, sealed, fail: (error) => kernel.fail(error) }),
    })
  }
  const troubleMs = (1 + random() * 3) * HOUR_MS
  const isRootReplaced = random() < ROOT_LIKELIHOOD
  const more = [
    ...(isRootReplaced ? [() => replaceRoot({ kernel, faults, ca, rootFile, ask, note })] : []),
    ...(hasOutside && !isShared ? [() => disaster.live()] : []),
    ...(archivist ? [() => archivist.live()] : []),
  ]
  return {
    kernel,
    faults,
    model,
    webhooks,
    revocations,
    sealed,
    hubs,
    sharing,
    hosts: watched,
    operator,
    disaster: hasOutside && !isShared ? disaster : undefined,
    archivist,
    oldLog,
    more,
    troubleMs,
    lines,
  }
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
    kernel.look(() => sharing?.checkNews(hubs))
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
    backups: world.disaster?.backups ?? 0,
    restores: model.restores,
    refusals: sumOf(hubs, ({ refusals }) => refusals),
    archived: world.archivist?.removedUntil ?? 0,
    virtualMs: kernel.now().getTime() - START.getTime(),
  }
}

function sumOf<Value>(values: readonly Value[], count: (value: Value) => number): number {
  return values.reduce((total, value) => total + count(value), 0)
}
