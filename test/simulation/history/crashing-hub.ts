// The real services of a hub over a real vault, killed at any of their steps. What was committed by then is there when
// the next one starts, and nothing else is: the files of the database are kept as they were at that moment. Its server
// certificate is on a simulated disk, which forgets at a power cut. Not modelled: pages of the database that a power
// cut tears, since SQLite's own tests do that better.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  CertificateAuthority,
  RootedAuthority,
} from '../../../src/hub/ca/certificate-authority.ts'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import { StoreError } from '../../../src/hub/store/store-error.ts'
import type { Store } from '../../../src/hub/store/store.ts'
import type { WebhookConnection } from '../../../src/hub/webhook/webhook-connection.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { describeError } from '../../../src/platform/errors.ts'
import type { Logging } from '../../../src/platform/logger.ts'
import type { SimulatedCa } from '../simulated-authority.ts'
import { type RunningHub, startServices } from '../simulated-hub.ts'
import type { Faults } from './faults.ts'
import { createFaultyAuthority } from './faulty-authority.ts'
import type { HubInPlace } from './faulty-network.ts'
import type { Kernel, Program } from './kernel.ts'
import { SimulatedDisk } from './simulated-disk.ts'

export interface CrashingHubOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly ca: SimulatedCa
  readonly readRootFile: () => string
  readonly logging: Logging
  /** Copied, so that one vault serves many histories. */
  readonly vault: UnsealedVault
  readonly directory: string
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
  readonly surroundAuthority: (authority: RootedAuthority) => RootedAuthority
  readonly connectReceiver: (url: URL, program: Program, store: Store) => WebhookConnection
  /** Told of each certificate that the CA is asked to revoke, before it is. */
  readonly onRevoke: (serial: string, program: Program, store: Store) => Promise<void>
  /** Told of each start, before anything else is asked. */
  readonly onStart: (hub: RunningHub) => Promise<void>
}

const DATABASE_FILES = ['db.enc', 'db.enc-wal', 'audit.head'] as const
const RESTART_MS_MAX = 90_000
const STEPS_TO_LIVE_MAX = 1500

export class CrashingHub {
  clockSkewMs = 0
  isDiskFull = false
  starts = 0
  readonly disk = new SimulatedDisk()
  readonly #options: CrashingHubOptions
  readonly #vault: UnsealedVault
  #place: HubInPlace | undefined
  #store: Store | undefined
  #program: Program | undefined
  #isRestarting = false
  #hasServed = false
  #awayMs: number | undefined
  /** As it was when the hub started, or synced it last: what a power cut may bring back. */
  #headSynced: Buffer | undefined

  constructor(options: CrashingHubOptions) {
    this.#options = options
    const root = join(options.directory, 'vault')
    mkdirSync(root, { mode: 0o700 })
    for (const name of ['config.json', 'db.enc']) {
      copyFileSync(join(options.vault.root, name), join(root, name))
    }
    this.#vault = { ...options.vault, root, databasePath: join(root, 'db.enc') }
    let path = ''
    for (const name of root.split('/').slice(1)) {
      path += `/${name}`
      this.disk.makeDirectory(path, 0o700)
      this.disk.syncNames(path)
    }
  }

  get place(): HubInPlace | undefined {
    return this.#place
  }

  start(): void {
    const { kernel, faults, note } = this.#options
    this.starts += 1
    const program = kernel.createProgram(`hub ${this.starts}`, {
      clockSkewMs: () => this.clockSkewMs,
    })
    program.disk = this.disk
    this.#program = program
    this.#isRestarting = false
    if (faults.happens('hub crash')) {
      program.doom(1 + Math.floor(kernel.random() ** 2 * STEPS_TO_LIVE_MAX), () => this.crash())
    }
    note(`${program.name} starts`)
    program
      .run(() => this.#boot(program))
      .catch((error: unknown) => {
        if (!program.isAlive) return
        // On a full disk it says so and ends; whoever supervises it starts it again.
        const isFull =
          describeError(error).includes('ENOSPC') ||
          // Without a set of roots there is nothing to go on with.
          (this.isDiskFull && !this.#hasServed)
        if (isFull) this.goAway(kernel.random() * RESTART_MS_MAX)
        else kernel.fail(error)
      })
  }

  /** As by kill -9, or with the power gone. */
  async crash(): Promise<void> {
    const { kernel, faults, note } = this.#options
    const program = this.#program
    if (program?.isAlive !== true) return
    program.kill()
    this.#place = undefined
    const files = DATABASE_FILES.map((name) => [name, this.#read(name)] as const)
    await this.#closeStore(program)
    rmSync(join(this.#vault.root, 'db.enc-shm'), { force: true })
    for (const [name, content] of files) this.#write(name, content)
    const isPowerCut = faults.happens('hub power cut')
    if (isPowerCut) {
      this.disk.losePower(kernel.random)
      if (faults.happens('hub audit head behind')) this.#write('audit.head', this.#headSynced)
    }
    note(`${program.name} ${isPowerCut ? 'loses power' : 'is killed'}`)
    this.#restartLater()
  }

  /** It dies at its next step, and nobody answers for so long. */
  goAway(durationMs: number): void {
    const program = this.#program
    if (program?.isAlive !== true) return
    this.#awayMs = durationMs
    program.doom(0, () => this.crash())
    program.post(() => undefined)
  }

  startIfDead(): void {
    if (this.#program?.isAlive !== true) this.start()
  }

  /** From now on it lives. */
  bless(): void {
    this.#program?.doom(Number.POSITIVE_INFINITY, () => undefined)
  }

  async end(): Promise<void> {
    const program = this.#program
    this.#place = undefined
    program?.kill()
    if (program !== undefined) await this.#closeStore(program)
  }

  #restartLater(): void {
    if (this.#isRestarting) return
    this.#isRestarting = true
    const { kernel } = this.#options
    kernel.after(this.#awayMs ?? kernel.random() * RESTART_MS_MAX, () => this.startIfDead())
    this.#awayMs = undefined
  }

  async #boot(program: Program): Promise<void> {
    const { faults, logging, kernel, surround, onStart } = this.#options
    const { clock } = program
    const { random } = kernel
    this.#headSynced = this.#read('audit.head')
    program.onRealSync = () => {
      this.#headSynced = this.#read('audit.head')
    }
    const opened = await openVaultStore(this.#vault, { clock })
    const store = this.#options.surroundStore(fillingUp(opened, () => this.isDiskFull))
    this.#store = opened
    const { ca, onRevoke, surroundAuthority } = this.#options
    const authority = surroundAuthority(
      createFaultyAuthority(ca, {
        clock,
        random,
        faults,
        onRevoke: (serial) => onRevoke(serial, program, opened),
      }),
    )
    const { hub } = await startServices({
      store,
      vaultId: this.#vault.vaultId,
      vaultRoot: this.#vault.root,
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
      random,
      logging,
    })
    await onStart(hub)
    this.#hasServed = true
    this.#place = { program, hub: surround(hub, program, authority) }
  }

  async #closeStore(program: Program): Promise<void> {
    const closing = this.#store?.close()
    this.#store = undefined
    await program.drain()
    await closing
  }

  #read(name: string): Buffer | undefined {
    try {
      return readFileSync(join(this.#vault.root, name))
    } catch {
      return undefined
    }
  }

  #write(name: string, content: Buffer | undefined): void {
    const path = join(this.#vault.root, name)
    if (content === undefined) rmSync(path, { force: true })
    else writeFileSync(path, content, { mode: 0o600 })
  }
}

function fillingUp(store: Store, isFull: () => boolean): Store {
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    versionOf: (id) => store.versionOf(id),
    write: (work) =>
      isFull()
        ? Promise.reject(new StoreError('store_unavailable', 'database or disk is full'))
        : store.write(work),
    close: () => store.close(),
  }
}
