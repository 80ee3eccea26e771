// A hub of a simulation is put together, as boot does it: over a real vault, and perhaps as one of several, which share a simulated database.

import type {
  CertificateAuthority,
  RootedAuthority,
} from '../../../src/hub/ca/certificate-authority.ts'
import { createLogArchiver } from '../../../src/hub/archive/log-archive.ts'
import { BACKUP_PACE } from '../../../src/hub/backup/backup-pace.ts'
import { createBackupMaker } from '../../../src/hub/backup/make-backup.ts'
import { DEFAULT_HUB_LIMITS } from '../../../src/protocol/hub-limits.ts'
import { enterHubs } from '../../../src/hub/enter-hubs.ts'
import type { MemberParts } from '../../../src/hub/compose-services.ts'
import { keepOutside } from '../../../src/hub/keep-outside.ts'
import { openVaultStore, type VaultStore } from '../../../src/hub/open-store.ts'
import { StoreError } from '../../../src/hub/store/store-error.ts'
import type { Store } from '../../../src/hub/store/store.ts'
import type { WebhookConnection } from '../../../src/hub/webhook/webhook-connection.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Logging } from '../../../src/platform/logger.ts'
import type { SimulatedCa } from '../simulated-authority.ts'
import type { AgentId } from '../../../src/protocol/identifiers.ts'
import { type RunningHub, type SimulatedMembership, startServices } from '../simulated-hub.ts'
import type { Faults } from './faults.ts'
import { createFaultyAuthority } from './faulty-authority.ts'
import type { HubInPlace } from './faulty-network.ts'
import { HeldStreams } from './held-streams.ts'
import type { Kernel, Program } from './kernel.ts'
import { HUB_SLOWNESS, type SimulatedDatabase } from './simulated-database.ts'

/** The same at each start of a hub. */
export interface HubParts {
  /** That several hubs share; undefined for one that has its vault to itself. */
  readonly database: SimulatedDatabase | undefined
  readonly kernel: Kernel
  readonly faults: Faults
  readonly ca: SimulatedCa
  readonly readRootFile: () => string
  readonly logging: Logging
  /** Whether it keeps what a restore needs outside the vault. */
  readonly hasOutside: boolean
  /** Of a hub with an archive; `keepMs` is that of SVC_LOG_KEEP. */
  readonly archive: { readonly keepMs: number | undefined } | undefined
  /** Puts the model around the services, and perhaps a fault into them. */
  readonly surround: (
    hub: RunningHub,
    program: Program,
    authority: CertificateAuthority,
  ) => RunningHub
  /** The same around its store. */
  readonly surroundStore: (store: Store) => Store
  /** The same around its client of the CA. */
  readonly surroundAuthority: (authority: RootedAuthority, program: Program) => RootedAuthority
  /** The same around what makes it one of several. */
  readonly surroundMember: (parts: MemberParts, store: Store) => MemberParts
  /** Told whose connections it ends. */
  readonly onCut: (agentId: AgentId, program: Program) => void
  readonly connectReceiver: (url: URL, program: Program, store: Store) => WebhookConnection
  /** Told of each certificate that the CA is asked to revoke, before it is. */
  readonly onRevoke: (serial: string, program: Program, store: Store) => Promise<void>
  /** For a fault put in on purpose: the vault is held against nothing. */
  readonly startsBlindly: boolean
  /** For a fault put in on purpose: who is cut off keeps the stream. */
  readonly leavesStreams: boolean
  /** Told of each start, before anything else is asked; how many entries the log has. */
  readonly onStart: (hub: RunningHub, program: Program) => Promise<number>
}

/** Of the machine on which it starts. */
export interface HubStart {
  readonly program: Program
  readonly vault: UnsealedVault
  readonly isDiskFull: () => boolean
  /** The vault is open, and has to be closed when the program dies. */
  readonly onOpened: (opened: VaultStore) => void
  /** It is one of several, under that id. */
  readonly onEntered: (hubId: string) => void
  /** It is none of them any more. */
  readonly onEnded: (error: unknown) => void
  /** It happens to be frozen here. */
  readonly onFrozen: () => void
}

export interface StartedHub {
  readonly place: HubInPlace
  /** In its log, when it had started. */
  readonly entries: number
}

/** Where the servers are is in the settings; what they are, in the simulation. */
const SERVERS = {
  hosts: [{ host: 'database.test', port: 5432 }],
  database: 'svc',
  user: 'svc',
  password: undefined,
  tls: undefined,
} as const

/** As SVC_CHECKPOINT_PATH: of another machine, which has room whatever happens to the hub's. */
export const OUTSIDE_DIR = '/mnt/outside'
/** As SVC_LOG_ARCHIVE_DIR. */
export const ARCHIVE_DIR = '/mnt/archive'

export async function bootHub(parts: HubParts, start: HubStart): Promise<StartedHub> {
  const { kernel, logging, hasOutside, archive } = parts
  const { program, vault, isDiskFull } = start
  const { clock } = program
  const { random } = kernel
  const { vaultId } = vault
  const archiveDirectory = archive && ARCHIVE_DIR
  const opened = await openVaultStore(vault, {
    clock: wokenByDeath(program),
    checkpointDirectory: hasOutside && !parts.startsBlindly ? OUTSIDE_DIR : undefined,
    archiveDirectory,
    database: parts.database && SERVERS,
  })
  start.onOpened(opened)
  const store = parts.surroundStore(fillingUp(watchWrites(parts, opened, program), isDiskFull))
  const entered = await enter(parts, start, opened, store)
  const authority = parts.surroundAuthority(
    createFaultyAuthority(parts.ca, {
      clock,
      random,
      faults: parts.faults,
      onRevoke: (serial) => parts.onRevoke(serial, program, opened),
    }),
    program,
  )
  const streams = parts.database && new HeldStreams({ ...parts, hub: program })
  const { hub } = await startServices({
    store,
    vaultId,
    vaultRoot: vault.root,
    hasFreeSpace: () => !isDiskFull(),
    clock,
    background: (work) => {
      work().catch((error: unknown) => {
        if (program.isAlive) kernel.fail(error)
      })
    },
    authority,
    readRootFile: parts.readRootFile,
    openWebhook: (url) => parts.connectReceiver(url, program, opened),
    publishOutside: hasOutside ? keepOutside(OUTSIDE_DIR, vaultId, store.reader) : undefined,
    archive: archive && {
      ...archive,
      archiver: createLogArchiver({ ...vault, store, directory: archiveDirectory, clock }),
    },
    membership: entered?.membership,
    connections: streams,
    random,
    logging,
  })
  const entries = await parts.onStart(hub, program)
  const backups = createBackupMaker({
    vault,
    store: { ...store, openCopy: () => opened.openCopy() },
    clock,
    pace: { ...BACKUP_PACE, heldBytesMax: DEFAULT_HUB_LIMITS.backupHeldBytes },
  })
  const { hubs } = entered ?? {}
  const surrounded = parts.surround(hub, program, authority)
  return { place: { program, hub: surrounded, backups, hubs, streams }, entries }
}

/** Its time goes by slowly. */
async function enter(parts: HubParts, start: HubStart, opened: VaultStore, store: Store) {
  const { database, kernel, logging } = parts
  const { program, vault, onEntered, onEnded } = start
  const { sharing } = opened
  if (database === undefined || sharing === undefined) return undefined
  const { hubId, leases, onFollowed, membership, catchUp, run, hubs } = await enterHubs(
    {
      config: { vaultRoot: vault.root },
      store,
      clock: slowed(program.clock),
      monotonicMs: () => database.nowMs(),
      logging,
    },
    sharing,
    new AbortController().signal,
  )
  onEntered(hubId)
  void membership.ended.then(
    (error) => (program.isAlive ? onEnded(error) : undefined),
    (error: unknown) => kernel.fail(error),
  )
  const surrounded = parts.surroundMember({ hubId, leases, onFollowed }, store)
  const running: SimulatedMembership = {
    parts: watchJobs(parts, surrounded, start),
    catchUp,
    run,
  }
  return { membership: running, hubs }
}

function watchWrites({ database, kernel }: HubParts, store: Store, program: Program): Store {
  if (database === undefined) return store
  return withWrite(store, (work, company) => {
    const write = {}
    return store.write((writer) => {
      kernel.look(() => database.turns.noteWrite(program, write))
      return work(writer)
    }, company)
  })
}

/** It may be frozen at the very moment at which it begins to write for the jobs. */
function watchJobs(
  { database, faults }: HubParts,
  member: MemberParts,
  { program, onFrozen }: HubStart,
): MemberParts {
  const { leases } = member
  const storeFor: typeof leases.storeFor = (name) => {
    const store = leases.storeFor(name)
    if (name !== 'jobs') return store
    return withWrite(store, (work, company) => {
      const written = store.write((writer) => {
        database?.turns.noteJob(program)
        return work(writer)
      }, company)
      if (faults.happens('hub frozen in a job')) onFrozen()
      return written
    })
  }
  return {
    ...member,
    leases: {
      storeFor,
      whileHeld: (name, work, signal) => leases.whileHeld(name, work, signal),
      during: (name, work) => leases.during(name, work),
      has: (name) => leases.has(name),
    },
  }
}

function fillingUp(store: Store, isFull: () => boolean): Store {
  return withWrite(store, (work, company) =>
    isFull()
      ? Promise.reject(new StoreError('store_unavailable', 'database or disk is full'))
      : store.write(work, company?.lease && company),
  )
}

function withWrite(store: Store, write: Store['write']): Store {
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    versionOf: (id) => store.versionOf(id),
    write,
    close: () => store.close(),
  }
}

function slowed(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    sleep: (durationMs, signal) => clock.sleep(durationMs * HUB_SLOWNESS, signal),
  }
}

/** What a program that was killed still waits for comes to its end: it has to close its database. */
function wokenByDeath(program: Program): Clock {
  const { clock } = program
  const death = new Promise<void>((resolve) => program.onDeath(resolve))
  return {
    now: () => clock.now(),
    sleep: (durationMs, signal) => Promise.race([clock.sleep(durationMs, signal), death]),
  }
}
