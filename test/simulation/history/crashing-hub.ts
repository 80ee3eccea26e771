// The real services of a hub over a real vault, killed at any of their steps. What was committed by then is there when
// the next one starts, and nothing else is: the files of the database are kept as they were at that moment. Its server
// certificate is on a simulated disk, which forgets at a power cut. Not modelled: pages of the database that a power
// cut tears, since SQLite's own tests do that better. It may be one of several, which share a simulated database; then it is frozen now and then, and removed.

import { join } from 'node:path'
import type { VaultStore } from '../../../src/hub/open-store.ts'
import type { AuditHead } from '../../../src/hub/vault/audit-head.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { describeError, SvcError } from '../../../src/platform/errors.ts'
import { ARCHIVE_DIR, bootHub, type HubParts, OUTSIDE_DIR } from './boot-hub.ts'
import { demand } from './demand.ts'
import { findIfPresent, readIfPresent } from './disk-calls.ts'
import type { HubInPlace } from './faulty-network.ts'
import type { Program } from './kernel.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { type VaultCopy, VaultOnDisk } from './vault-on-disk.ts'

export interface CrashingHubOptions extends HubParts {
  /** Among others. */
  readonly name: string
  /** Copied, so that one vault serves many histories. */
  readonly vault: UnsealedVault
  readonly directory: string
  /** Of the log before the history. */
  readonly logEnd: AuditHead
  /** Where the segments of several hubs are. */
  readonly archiveDisk: SimulatedDisk | undefined
  readonly note: (text: string) => void
}

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
    if (options.database !== undefined)
      this.#files.enterJournal(options.database.beginning, options.logEnd)
    for (const path of [this.vault.root, OUTSIDE_DIR, ARCHIVE_DIR]) this.#makeDirectories(path)
    const { archiveDisk } = options
    if (archiveDisk !== undefined) this.disk.mount(ARCHIVE_DIR, archiveDisk)
    const elsewhere = archiveDisk === undefined ? [OUTSIDE_DIR] : [OUTSIDE_DIR, ARCHIVE_DIR]
    this.disk.hasRoomAt = (path) => elsewhere.some((each) => path.startsWith(each))
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

  /** When it went on last. */
  get thawedAtMs(): number {
    return this.#program?.thawedAtMs ?? Number.NEGATIVE_INFINITY
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
    const { hasOutside, database, kernel } = this.#options
    this.#headSynced = this.#files.readHead()
    program.onRealSync = () => {
      this.#headSynced = this.#files.readHead()
    }
    const { place, entries } = await bootHub(this.#options, {
      program,
      vault: this.vault,
      isDiskFull: () => this.isDiskFull,
      onOpened: (opened) => {
        this.#opened = opened
        const isOlder = this.#newest !== undefined
        demand(!isOlder, '[CHN-18] a vault was put back to an earlier state, and the hub starts')
      },
      onEntered: (hubId) => {
        this.#hubId = hubId
      },
      onEnded: (error) => this.#endAtBoot(error),
      onFrozen: () => this.freeze(),
    })
    const isAlone = database === undefined
    if (
      hasOutside &&
      isAlone &&
      (this.#older === undefined || kernel.random() < OLDER_LIKELIHOOD)
    ) {
      this.#older = { copy: this.#files.copy(), entries }
    }
    this.#hasServed = true
    this.#place = place
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
