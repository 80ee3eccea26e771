// All that there is in one history: a hub, or two that share a vault, agents, their people, and what they are held against.

import { GENESIS_HASH } from '../../../src/audit/hash-chain.ts'
import { invariant } from '../../../src/platform/errors.ts'
import { createLogging, type Logging } from '../../../src/platform/logger.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { createSimulatedCa } from '../simulated-authority.ts'
import { connectAdminSocket } from './admin-socket.ts'
import { Archivist } from './archivist.ts'
import { ContractModel } from './contract-model.ts'
import { CrashingHost } from './crashing-host.ts'
import type { CrashingHub } from './crashing-hub.ts'
import { createHubs } from './create-hubs.ts'
import { Disaster } from './disaster.ts'
import { Faults } from './faults.ts'
import { Kernel, pick } from './kernel.ts'
import type { KnownBug } from './known-bugs.ts'
import { OLD_LOG_DAYS, type OldLog } from './old-log.ts'
import { Operator } from './operator.ts'
import { replaceRoot } from './replace-root.ts'
import { RevocationModel } from './revocation-model.ts'
import type { History, Workshop } from './run-history.ts'
import { Releaser } from './releaser.ts'
import { RolloutModel } from './rollout-model.ts'
import { SealedFiles } from './sealed-files.ts'
import { findAnyHub, Sharing } from './sharing.ts'
import { HostWatch } from './watch-host.ts'
import { WebhookModel } from './webhook-model.ts'

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
  readonly rollouts: RolloutModel
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

export interface WorldOptions {
  readonly bug?: KnownBug | undefined
  readonly logging?: Logging
  readonly onLine?: ((line: string) => void) | undefined
}

export const START = new Date('2030-01-01T00:00:00Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const HOSTS_MAX = 3
/** Others have SVC_AGENT_STREAM=off. */
const STREAM_LIKELIHOOD = 0.7
const ROOT_LIKELIHOOD = 0.6
const OUTSIDE_LIKELIHOOD = 0.7
const ARCHIVE_LIKELIHOOD = 0.5
const LOG_KEEP_LIKELIHOOD = 0.5
const SILENT = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })

export async function createWorld(
  workshop: Workshop,
  { seed, hubs: hubCount }: Pick<History, 'seed' | 'hubs'>,
  directory: string,
  { bug, logging = SILENT, onLine }: WorldOptions,
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
  // A log that is old is archived.
  const oldLog = random() < ARCHIVE_LIKELIHOOD ? workshop.old : undefined
  const keepMs =
    random() < LOG_KEEP_LIKELIHOOD ? (OLD_LOG_DAYS.last + random() * 40) * DAY_MS : undefined
  const lifeMs = (1 + Math.floor(random() * 3)) * HOUR_MS
  const ca = await createSimulatedCa(kernel, createSeededRandom(seed + 1), lifeMs)
  const rootFile = { pem: ca.rootPem }
  const { hash = GENESIS_HASH, records = [] } = oldLog ?? {}
  const webhooks = new WebhookModel(records)
  const revocations = new RevocationModel(ca.revoked)
  const rollouts = new RolloutModel(kernel)
  const vault = oldLog?.vault ?? workshop.vault
  const { vaultId } = vault
  const sharing = isShared ? new Sharing({ kernel, faults, random, vaultId, note }) : undefined
  if (sharing !== undefined && bug?.isBlindToCommits === true) {
    sharing.database.takesSilenceForFailure = true
  }
  const readers = [webhooks, revocations, ...(sharing ? [sharing.news] : [])]
  const model = new ContractModel({ count: records.length, hash }, readers)
  const hubs = createHubs({
    kernel,
    faults,
    ca,
    readRootFile: () => rootFile.pem,
    model,
    webhooks,
    revocations,
    rollouts,
    sharing,
    vault,
    logEnd: { seq: records.length, hash },
    directory,
    hasOutside,
    archive: oldLog && { keepMs },
    bug,
    logging,
    onRead: () => disaster.checkRestored(),
    note,
  })
  const [hub] = hubs
  invariant(hub !== undefined, 'a history has a hub')
  const findHub = () => findAnyHub(hubs, random)
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
  const archivist = oldLog && new Archivist({ kernel, faults, ask, log: oldLog, isShared, note })
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
      holdsStream: isShared && random() < STREAM_LIKELIHOOD,
      obtainToken: (asking) => operator.obtainToken(asking),
      note,
      onPowerLost: (lost) => watchOf(lost)?.checkAfterPowerCut(),
      // Where another hub removed a root, this one may need another certificate first: until then agents go to the other one.
      onStrangers: (serial) => {
        if (sharing?.news.areRootsDue() === false) return
        kernel.look(() => model.checkStrangers(serial, kernel.now()))
      },
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
  // A restored vault has other cargas made again than those under a rollout.
  const isDisastrous = hasOutside && !isShared
  const releaser = new Releaser({ kernel, faults, random: createSeededRandom(seed + 3), ask })
  const more = [
    ...(isDisastrous ? [() => disaster.live()] : [() => releaser.live()]),
    ...(isRootReplaced ? [() => replaceRoot({ kernel, faults, ca, rootFile, ask, note })] : []),
    ...(archivist ? [() => archivist.live()] : []),
    ...(sharing ? [() => sharing.watchNews(hubs), () => operator.revokeNowAndThen()] : []),
  ]
  return {
    kernel,
    faults,
    model,
    webhooks,
    revocations,
    rollouts,
    sealed,
    hubs,
    sharing,
    hosts: watched,
    operator,
    disaster: isDisastrous ? disaster : undefined,
    archivist,
    oldLog,
    more,
    troubleMs,
    lines,
  }
}
