// One of three machines with PostgreSQL, Patroni and etcd, set up as docs/high-availability.md says, and what can happen to it.

import { chown, mkdir, open, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoCode } from '../../src/platform/errors.ts'
import type { PythonProgram } from '../../tools/python-program.ts'
import { idOf } from '../services/support/accounts.ts'
import type { FakeCa } from '../fakes/hub-certificates.ts'
import { TOOL_PATH } from '../support/tools.ts'
import { Machine } from './machine.ts'
import type { MachineNetwork } from './machine-network.ts'
import { parseVariables, readReferenceFile } from './reference-settings.ts'

export interface NodeOptions {
  readonly network: MachineNetwork
  /** Below which it has a directory of its own. */
  readonly directory: string
  readonly ca: FakeCa
  readonly patroni: PythonProgram
  /** With `postgres`, `initdb` and so on. */
  readonly programs: string
  readonly etcd: string
  /** What is another in the file of Patroni. */
  readonly settings: ReadonlyMap<string, string>
  /** Its data are in a memory of that size; undefined for a disk that has room. */
  readonly diskBytes: number | undefined
}

const USER = 'postgres'
const PATRONI_PORT = 8008
const ASK_MS_MAX = 1000
const CHUNK = Buffer.alloc(256 * 1024)

export class DatabaseNode {
  readonly number: number
  readonly address: string
  readonly machine: Machine
  readonly #options: NodeOptions
  readonly #home: string

  private constructor(number: number, machine: Machine, options: NodeOptions) {
    this.number = number
    this.address = options.network.addressOf(number)
    this.machine = machine
    this.#options = options
    this.#home = join(options.directory, this.name)
  }

  /** Its services are not started yet. */
  static async create(number: number, options: NodeOptions): Promise<DatabaseNode> {
    const machine = await Machine.start()
    try {
      await options.network.connect(machine, number)
      const node = new DatabaseNode(number, machine, options)
      await node.#prepare()
      return node
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
  }

  get name(): string {
    return `db${this.number}`
  }

  get log(): string {
    return join(this.#home, 'services.log')
  }

  async startEtcd(): Promise<void> {
    const text = await readReferenceFile('/etc/default/etcd', this.#etcdReplacements())
    const variables = [...parseVariables(text), 'ETCD_LOG_LEVEL=warn']
    await this.machine.start(USER, this.log, 'env', ...variables, this.#options.etcd)
  }

  async startPatroni(): Promise<void> {
    const python = join(this.#home, 'patroni', 'bin', 'python3')
    const environment = [`PATH=${this.#options.programs}:${TOOL_PATH}`, `HOME=${this.#home}`]
    const patroni = [python, ...this.#options.patroni.slice(1), this.#configPath]
    await this.machine.start(USER, this.log, 'env', ...environment, ...patroni)
  }

  async startServices(): Promise<void> {
    await this.startEtcd()
    await this.startPatroni()
  }

  /** What Patroni answers; undefined when it does not. */
  async ask(path: string): Promise<Response | undefined> {
    try {
      const signal = AbortSignal.timeout(ASK_MS_MAX)
      return await fetch(`http://${this.address}:${PATRONI_PORT}${path}`, { signal })
    } catch {
      return undefined
    }
  }

  /** Its children end by themselves. */
  async killServer(): Promise<void> {
    const kill = 'kill -9 $(head -1 "$1")'
    await this.machine.run('sh', '-c', kill, 'sh', join(this.#data, 'postmaster.pid'))
  }

  /** Neither hears nor tells that one anything. */
  async refuse(address: string): Promise<void> {
    await this.machine.run('iptables', '--append', 'INPUT', '--source', address, '--jump', 'DROP')
    await this.machine.run('iptables', '--append', 'OUTPUT', '--dst', address, '--jump', 'DROP')
  }

  async refuseNobody(): Promise<void> {
    await this.machine.run('iptables', '--flush')
  }

  /** Takes all that is free. */
  async fillDisk(): Promise<void> {
    const file = await open(this.#fillerPath, 'a')
    try {
      while ((await this.#freeBytes()) > 0) await file.write(CHUNK)
    } catch (error) {
      if (errnoCode(error) !== 'ENOSPC') throw error
    } finally {
      await file.close()
    }
  }

  async emptyDisk(): Promise<void> {
    await rm(this.#fillerPath, { force: true })
  }

  get #data(): string {
    return join(this.#home, 'disk', 'data')
  }

  get #configPath(): string {
    return join(this.#home, 'cartorio.yml')
  }

  get #fillerPath(): string {
    return this.machine.pathOf(join(this.#home, 'disk', 'filler'))
  }

  async #freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.machine.pathOf(join(this.#home, 'disk')))
    return bavail * bsize
  }

  async #prepare(): Promise<void> {
    const { ca, patroni, diskBytes } = this.#options
    for (const place of ['', 'disk', 'etcd', 'patroni']) await mkdir(join(this.#home, place))
    if (diskBytes !== undefined) {
      const size = `size=${diskBytes}`
      await this.machine.run('mount', '-t', 'tmpfs', '-o', size, 'tmpfs', join(this.#home, 'disk'))
    }
    // Where it is installed may be closed to others.
    const installed = dirname(dirname(patroni[0]))
    await this.machine.run('mount', '--bind', installed, join(this.#home, 'patroni'))
    const { certificatePem, keyPem } = await ca.issueServer(this.address)
    const config = await readReferenceFile('/etc/patroni/cartorio.yml', this.#patroniReplacements())
    await writeFile(join(this.#home, 'server.crt'), certificatePem)
    await writeFile(join(this.#home, 'server.key'), keyPem, { mode: 0o600 })
    await writeFile(this.#configPath, config, { mode: 0o600 })
    await writeFile(this.log, '')
    const owned = ['', 'server.key', 'cartorio.yml', 'services.log', 'etcd', 'disk']
    const ids = [await idOf('passwd', USER), await idOf('group', USER)] as const
    for (const one of owned) await chown(this.machine.pathOf(join(this.#home, one)), ...ids)
  }

  #etcdReplacements(): ReadonlyMap<string, string> {
    return new Map([
      ['ETCD_NAME="db1"', `ETCD_NAME="${this.name}"`],
      ['/var/lib/etcd/cartorio', join(this.#home, 'etcd', 'data')],
      ['URLS="http://10.0.0.1', `URLS="http://10.0.0.${this.number}`],
      ['10.0.0.', this.#options.network.prefix],
    ])
  }

  #patroniReplacements(): ReadonlyMap<string, string> {
    return new Map([
      ...this.#options.settings,
      ['name: db1', `name: ${this.name}`],
      ['listen: 10.0.0.1', `listen: 10.0.0.${this.number}`],
      ['connect_address: 10.0.0.1', `connect_address: 10.0.0.${this.number}`],
      ['10.0.0.', this.#options.network.prefix],
      ['/var/lib/postgresql/15/cartorio', this.#data],
      ['/var/lib/postgresql/patroni.pgpass', join(this.#home, 'pgpass')],
      ['/var/run/postgresql', this.#home],
      ['/usr/lib/postgresql/15/bin', this.#options.programs],
      ['/etc/patroni/db1.', join(this.#home, 'server.')],
      // This machine has none to give away.
      ['mode: required', 'mode: "off"'],
    ])
  }
}
