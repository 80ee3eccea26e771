// oxlint-disable max-lines -- One hub and several are one model.
// The real services of a hub over a real vault, killed at any of their steps. What was committed by then is there when
// the next one starts, and nothing else is: the files of the database are kept as they were at that moment. Its server
// certificate is on a simulated disk, which forgets at a power cut. Not modelled: pages of the database that a power
// cut tears, since SQLite's own tests do that better. It may be one of several, which share a simulated database; then it is frozen now and then, and removed.

import { join } from 'node:path'
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
import { describeError, SvcError } from '../../../src/platform/errors.ts'
import type { Logging } from '../../../src/platform/logger.ts'
import type { SimulatedCa } from '../simulated-authority.ts'
import type { AgentId } from '../../../src/protocol/identifiers.ts'
import { type RunningHub, type SimulatedMembership, startServices } from '../simulated-hub.ts'
import type { Faults } from './faults.ts'
import { demand } from './demand.ts'
import { createFaultyAuthority } from './faulty-authority.ts'
import type { HubInPlace } from './faulty-network.ts'
import type { Kernel, Program } from './kernel.ts'
import { findIfPresent, readIfPresent } from './disk-calls.ts'
import { HUB_SLOWNESS, type SimulatedDatabase } from './simulated-database.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { type VaultCopy, VaultOnDisk } from './vault-on-disk.ts'

export interface CrashingHubOptions {
  /** Among others. */
  readonly name: string
  /** That several hubs share; undefined for one that has its vault to itself. */
  readonly database: SimulatedDatabase | undefined
  readonly kernel: Kernel
  readonly faults: Faults
  readonly ca: SimulatedCa
  readonly readRootFile: () => string
  readonly logging: Logging
  /** Copied, so that one vault serves many histories. */
  readonly vault: UnsealedVault
  readonly directory: string
  /** Whether it keeps what a restore needs outside the vault. */
  readonly hasOutside: boolean
  /** Of a hub with an archive; `keepMs` is that of SVC_LOG_KEEP. */
  readonly archive: { readonly keepMs: number | undefined } | undefined
  readonly note: (text: string) => void
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
  /** Told of each start, before anything else is asked; how many entries the log has. */
  readonly onStart: (hub: RunningHub, program: Program) => Promise<number>
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
const OLDER_LIKELIHOOD = 0.5
const RESTART_MS_MAX = 90_000
const STEPS_TO_LIVE_MAX = 1500
/** Longer than a lease, more often than not. */
const FROZEN_MS_MAX = 30 * 60_000
/** A hub of several has more steps, and most of them do nothing. */
const STEPS_FACTOR = 6
/** It ends with these when the others have it so, or the database. */
const EXPECTED_ENDS: ReadonlySet<string | undefined> = new Set([
  'hub_twice',
  'hub_removed',
  'store_unavailable',
  'store_unknown',
])

export class CrashingHub {
  clockSkewMs = 0
  isDiskFull = false
  starts = 0
  /** How often an old vault was put in its place, and refused. */
  refusals = 0
  readonly disk = new SimulatedDisk()
  readonly #options: CrashingHubOptions
  readonly #files: VaultOnDisk
  #place: HubInPlace | undefined
  #opened: VaultStore | undefined
  #hubId: string | undefined
  #program: Program | undefined
  #isRestarting = false
  #hasServed = false
  #isLost = false
  #awayMs: number | undefined
  /** As it was when the hub started, or synced it last: what a power cut may bring back. */
  #headSynced: Buffer | undefined
  /** The vault as it was at an earlier start. */
  #older: { readonly copy: VaultCopy; readonly entries: number } | undefined
  #wantsOlder = false
  /** The vault whose place an older one has taken. */
  #newest: VaultCopy | undefined

  constructor(options: CrashingHubOptions) {
    this.#options = options
    this.#files = new VaultOnDisk(join(options.directory, options.name), options.vault)
    if (options.database !== undefined) this.#files.enterJournal(options.database.beginning)
    for (const path of [this.vault.root, OUTSIDE_DIR, ARCHIVE_DIR]) this.#makeDirectories(path)
    this.disk.hasRoomAt = (path) => path.startsWith(OUTSIDE_DIR)
  }

  get place(): HubInPlace | undefined {
    return this.#place
  }

  get name(): string {
    return this.#options.name
  }

  get isFrozen(): boolean {
    return this.#program?.isFrozen === true
  }

  /** Of the last record that it has run. */
  get position(): number | undefined {
    return this.#opened?.sharing?.position()
  }

  get vault(): UnsealedVault {
    return this.#files.vault
  }

  start(): void {
    const { kernel, faults, note, name, database } = this.#options
    this.starts += 1
    const program = this.createProgram(`${name} ${this.starts}`)
    this.#program = program
    this.#isRestarting = false
    if (faults.happens('hub crash')) {
      const stepsMax = STEPS_TO_LIVE_MAX * (database === undefined ? 1 : STEPS_FACTOR)
      program.doom(1 + Math.floor(kernel.random() ** 2 * stepsMax), () => this.crash())
    }
    note(`${program.name} starts`)
    program
      .run(() => this.#boot(program))
      .catch((error: unknown) => {
        if (program.isAlive) this.#endAtBoot(error)
      })
  }

  /** One that runs on this machine. */
  createProgram(name: string): Program {
    const program = this.#options.kernel.createProgram(name, {
      clockSkewMs: () => this.clockSkewMs,
    })
    program.disk = this.disk
    program.database = this.#options.database
    program.isReal = (path) => this.#files.isReal(path)
    return program
  }

  /** As by kill -9, or with the power gone. */
  async crash(): Promise<void> {
    const { kernel, faults, note } = this.#options
    const program = this.#program
    if (program?.isAlive !== true) return
    program.kill()
    this.#place = undefined
    const copy = this.#files.copy()
    await this.#closeStore(program)
    this.#files.putBack(copy)
    const isPowerCut = faults.happens('hub power cut')
    if (isPowerCut) {
      this.disk.losePower(kernel.random)
      if (faults.happens('hub audit head behind')) this.#files.writeHead(this.#headSynced)
    }
    note(`${program.name} ${isPowerCut ? 'loses power' : 'is killed'}`)
    if (this.#wantsOlder) this.#putOlderBack()
    this.#restartLater()
  }

  /** It makes no step for a while, holds what it holds, and does not know that afterwards. */
  freeze(): void {
    const { kernel, note } = this.#options
    const program = this.#program
    if (program?.isAlive !== true || program.isFrozen) return
    note(`${program.name} is frozen`)
    program.isFrozen = true
    kernel.after(kernel.random() * FROZEN_MS_MAX, () => this.#thaw(program))
  }

  /** Another one takes it out of those that share the vault. */
  async removeBy(other: HubInPlace): Promise<void> {
    const hubId = this.#hubId
    if (hubId === undefined || other.hubs === undefined) return
    this.#options.note(`${this.name} is removed`)
    await other.hubs.remove(hubId)
  }

  /** It dies at its next step, and nobody answers for so long. */
  goAway(durationMs: number): void {
    const program = this.#program
    if (program?.isAlive !== true) return
    this.#awayMs = durationMs
    program.doom(0, () => this.crash())
    program.post(() => undefined)
  }

  /** As goAway; meanwhile somebody puts an older vault in the place of this one, when the checkpoint outside tells. */
  rollBack(durationMs: number): void {
    this.#wantsOlder = true
    this.goAway(durationMs)
  }

  /** It dies, and all that was on its disk is gone; nobody starts it until it is restored. */
  lose(): Promise<void> {
    this.#isLost = true
    return new Promise((resolve) => {
      const lose = async (): Promise<void> => {
        const program = this.#program
        program?.kill()
        this.#place = undefined
        if (program !== undefined) await this.#closeStore(program)
        this.wipe()
        this.#options.note('the hub is lost')
        resolve()
      }
      const program = this.#program
      if (program?.isAlive !== true) {
        void lose()
        return
      }
      program.doom(0, lose)
      program.post(() => undefined)
    })
  }

  wipe(): void {
    this.#files.lose()
    this.#older = undefined
    this.#newest = undefined
    const { root } = this.vault
    const directory = this.disk.find(root, { followsLast: true })
    if (directory.kind !== 'directory') return
    for (const name of directory.entries.keys()) this.disk.remove(`${root}/${name}`)
    this.disk.sync(root, directory)
  }

  startRestored(): void {
    this.#isLost = false
    this.#hasServed = false
    this.start()
  }

  /** Of how many entries the checkpoint outside is; undefined where there is none. */
  countOutside(): number | undefined {
    const path = `${OUTSIDE_DIR}/${this.vault.vaultId}.checkpoint`
    const text = readIfPresent(this.disk, path)?.content.toString()
    return text === undefined ? undefined : Number(text.split('\n')[1])
  }

  startIfDead(): void {
    if (!this.#isLost && this.#program?.isAlive !== true) this.start()
  }

  /** From now on it lives. */
  bless(): void {
    if (this.#program !== undefined) this.#thaw(this.#program)
    if (!this.#isLost) this.#program?.doom(Number.POSITIVE_INFINITY, () => undefined)
  }

  async end(): Promise<void> {
    const program = this.#program
    this.#place = undefined
    program?.kill()
    if (program !== undefined) await this.#closeStore(program)
  }

  #thaw(program: Program): void {
    if (!program.isFrozen) return
    program.isFrozen = false
    program.thawedAtMs = this.#options.kernel.now().getTime()
    if (program.isAlive) this.#options.note(`${program.name} goes on`)
  }

  #endAtBoot(error: unknown): void {
    const { kernel, note, database } = this.#options
    const code = codeOf(error)
    if (database !== undefined && EXPECTED_ENDS.has(code)) {
      note(`${this.name} ends: ${code}`)
      this.goAway(kernel.random() * RESTART_MS_MAX)
      return
    }
    if (this.#newest !== undefined && code === 'vault_rolled_back') {
      note('the older vault is refused, and the newest one put back')
      this.refusals += 1
      this.#files.putBack(this.#newest)
      this.#newest = undefined
      this.goAway(kernel.random() * RESTART_MS_MAX)
      return
    }
    // On a full disk it says so and ends; whoever supervises it starts it again.
    const isFull =
      describeError(error).includes('ENOSPC') ||
      // Without a set of roots there is nothing to go on with.
      (this.isDiskFull && !this.#hasServed)
    if (isFull) this.goAway(kernel.random() * RESTART_MS_MAX)
    else kernel.fail(error)
  }

  #putOlderBack(): void {
    this.#wantsOlder = false
    const older = this.#older
    const isTold = older !== undefined && (this.countOutside() ?? 0) > older.entries
    if (!isTold || this.#newest !== undefined) return
    this.#newest = this.#files.copy()
    this.#files.putBack(older.copy)
    this.#options.note(`a vault of ${older.entries} entries is put in place`)
  }

  #restartLater(): void {
    if (this.#isRestarting) return
    this.#isRestarting = true
    const { kernel } = this.#options
    kernel.after(this.#awayMs ?? kernel.random() * RESTART_MS_MAX, () => this.startIfDead())
    this.#awayMs = undefined
  }

  async #boot(program: Program): Promise<void> {
    const { faults, logging, kernel, surround, onStart, hasOutside, archive } = this.#options
    const { clock } = program
    const { random } = kernel
    const { vault } = this
    const { vaultId } = vault
    this.#headSynced = this.#files.readHead()
    program.onRealSync = () => {
      this.#headSynced = this.#files.readHead()
    }
    const archiveDirectory = archive && ARCHIVE_DIR
    const opened = await openVaultStore(vault, {
      clock: wokenByDeath(program),
      checkpointDirectory: hasOutside && !this.#options.startsBlindly ? OUTSIDE_DIR : undefined,
      archiveDirectory,
      database: this.#options.database && SERVERS,
    })
    this.#opened = opened
    const isOlder = this.#newest !== undefined
    demand(!isOlder, '[CHN-18] a vault was put back to an earlier state, and the hub starts')
    const filling = fillingUp(this.#watchWrites(opened, program), () => this.isDiskFull)
    const store = this.#options.surroundStore(filling)
    const entered = await this.#enter(opened, store, program)
    const { ca, onRevoke, surroundAuthority } = this.#options
    const authority = surroundAuthority(
      createFaultyAuthority(ca, {
        clock,
        random,
        faults,
        onRevoke: (serial) => onRevoke(serial, program, opened),
      }),
      program,
    )
    const { hub } = await startServices({
      store,
      vaultId,
      vaultRoot: vault.root,
      hasFreeSpace: () => !this.isDiskFull,
      clock,
      background: (work) => {
        work().catch((error: unknown) => {
          if (program.isAlive) kernel.fail(error)
        })
      },
      authority,
      readRootFile: this.#options.readRootFile,
      openWebhook: (url) => this.#options.connectReceiver(url, program, opened),
      publishOutside: hasOutside ? keepOutside(OUTSIDE_DIR, vaultId, store.reader) : undefined,
      archive: archive && {
        ...archive,
        archiver: createLogArchiver({ ...vault, store, directory: archiveDirectory, clock }),
      },
      membership: entered?.membership,
      onCut: (agentId) => this.#options.onCut(agentId, program),
      random,
      logging,
    })
    const entries = await onStart(hub, program)
    const isAlone = this.#options.database === undefined
    if (hasOutside && isAlone && (this.#older === undefined || random() < OLDER_LIKELIHOOD)) {
      this.#older = { copy: this.#files.copy(), entries }
    }
    this.#hasServed = true
    const backups = createBackupMaker({
      vault,
      store: { ...store, openCopy: () => opened.openCopy() },
      clock,
      pace: { ...BACKUP_PACE, heldBytesMax: DEFAULT_HUB_LIMITS.backupHeldBytes },
    })
    const { hubs } = entered ?? {}
    this.#place = { program, hub: surround(hub, program, authority), backups, hubs }
  }

  /** As boot does it. Its time goes by slowly. */
  async #enter(opened: VaultStore, store: Store, program: Program) {
    const { database, kernel, logging, surroundMember } = this.#options
    const { sharing } = opened
    if (database === undefined || sharing === undefined) return undefined
    const { hubId, leases, onFollowed, membership, catchUp, run, hubs } = await enterHubs(
      {
        config: { vaultRoot: this.vault.root },
        store,
        clock: slowed(program.clock),
        monotonicMs: () => database.nowMs(),
        logging,
      },
      sharing,
      new AbortController().signal,
    )
    this.#hubId = hubId
    void membership.ended.then(
      (error) => (program.isAlive ? this.#endAtBoot(error) : undefined),
      (error: unknown) => kernel.fail(error),
    )
    const parts = this.#watchJobs(surroundMember({ hubId, leases, onFollowed }, store), program)
    const running: SimulatedMembership = {
      parts,
      catchUp,
      run,
    }
    return { membership: running, hubs }
  }

  #watchWrites(store: Store, program: Program): Store {
    const { database, kernel } = this.#options
    if (database === undefined) return store
    return withWrite(store, (work, company) => {
      const write = {}
      return store.write((writer) => {
        kernel.look(() => database.noteWrite(program, write))
        return work(writer)
      }, company)
    })
  }

  /** It may be frozen at the very moment at which it begins to write for the jobs. */
  #watchJobs(parts: MemberParts, program: Program): MemberParts {
    const { database, faults } = this.#options
    const { leases } = parts
    const storeFor: typeof leases.storeFor = (name) => {
      const store = leases.storeFor(name)
      if (name !== 'jobs') return store
      return withWrite(store, (work, company) => {
        const written = store.write((writer) => {
          database?.noteJob(program)
          return work(writer)
        }, company)
        if (faults.happens('hub frozen in a job')) this.freeze()
        return written
      })
    }
    return {
      ...parts,
      leases: {
        storeFor,
        whileHeld: (name, work, signal) => leases.whileHeld(name, work, signal),
        during: (name, work) => leases.during(name, work),
        has: (name) => leases.has(name),
      },
    }
  }

  #makeDirectories(path: string): void {
    const names = path.split('/').slice(1)
    for (let count = 1; count <= names.length; count += 1) {
      const directory = `/${names.slice(0, count).join('/')}`
      if (findIfPresent(this.disk, directory) !== undefined) continue
      this.disk.makeDirectory(directory, 0o700)
      this.disk.syncNames(directory)
    }
  }

  async #closeStore(program: Program): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    if (opened === undefined) return
    const state = { isClosed: false }
    const closing = opened.close().finally(() => {
      state.isClosed = true
    })
    while (!state.isClosed) await program.drain()
    await closing
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof SvcError ? error.code : undefined
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
