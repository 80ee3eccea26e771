// One hub with its step-ca and a load generator, fresh for each row and gone after it.

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startStepCa, type RunningStepCa } from '../test/support/step-ca.ts'
import { pinnedNode } from '../tools/build/runtime.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { type LoadGenerator, startLoadGenerator } from './load-generator.ts'

export interface World extends AsyncDisposable {
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly hub: Daemon
  readonly caPid: number
  readonly hubLogPath: string
  readonly mtlsAddress: string
  readonly enrollUrl: string
  readonly load: LoadGenerator
  /** For load of another hub. */
  readonly ca: RunningStepCa
}

export interface WorldOptions {
  readonly cacheDirectory: string
  readonly loadProgram: string
  /** How many entries the vault begins with; none of a fleet unless given. */
  readonly entries?: number | undefined
  /** Besides what every hub of the bench has; `directory` is the world's own. */
  readonly variables?: ((directory: string) => Readonly<Record<string, string>>) | undefined
  /** The directory of the programs; the sources in bin/ unless given. */
  readonly programs?: string | undefined
  /** A module that the hub loads before its own. */
  readonly preload?: string | undefined
  /** Where the hub leaves a CPU profile of its whole life, if anywhere. */
  readonly profileDirectory?: string | undefined
}

const FILL_VAULT = fileURLToPath(new URL('../fleet/fill-vault.ts', import.meta.url))
const BIN = fileURLToPath(new URL('../bin', import.meta.url))

export async function startWorld(options: WorldOptions): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(options.cacheDirectory, 'world-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const ca = stack.use(await startStepCa())
  const vault = join(directory, 'vault')
  const environment = {
    ...ca.environment,
    SVC_VAULT_ROOT: vault,
    SVC_MASTER_PASSPHRASE: 'only for the benchmark',
    SVC_SERVER_CN: 'localhost',
    SVC_HEALTH_BIND: '127.0.0.1:0',
    SVC_ENROLL_BIND: '127.0.0.1:0',
    SVC_MTLS_BIND: '127.0.0.1:0',
    SVC_ADMIN_BIND: '127.0.0.1:0',
    SVC_ENROLL_TLS_BIND: 'off',
    // One address and few agents stand for a fleet here.
    SVC_LIMIT_ENROLL_FAILURES: '0',
    SVC_LIMIT_EVENTS: '0',
    SVC_LIMIT_EVENT_BYTES: '0',
    SVC_LIMIT_ISSUE: '0',
    ...options.variables?.(directory),
  }
  const [program, ...args] = vaultMaker(vault, options.entries)
  await promisify(execFile)(program, args, { env: { ...process.env, ...environment } })
  const hubLogPath = join(directory, 'hub.log')
  const hub = stack.use(
    await startHub({ ...environment, ...optionsOfNode(options) }, hubLogPath, options.programs),
  )
  const load = stack.use(await startLoad(options.loadProgram, { vault, hub, ca }))
  const owned = stack.move()
  return {
    directory,
    environment,
    hub,
    caPid: ca.pid,
    hubLogPath,
    mtlsAddress: addressOf(hub, 'mtls listening'),
    load,
    ca,
    enrollUrl: `http://${addressOf(hub, 'enroll listening')}`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export interface LoadedHub {
  readonly vault: string
  readonly hub: Daemon
  readonly ca: RunningStepCa
  /** What the names of its hosts begin with. */
  readonly hosts?: string
}

/** Load of one hub, on the machine of that hub. */
export async function startLoad(
  program: string,
  { vault, hub, ca, hosts = 'bench' }: LoadedHub,
): Promise<LoadGenerator> {
  const load = startLoadGenerator(program)
  await load.send({
    do: 'setup',
    setup: {
      enroll_address: addressOf(hub, 'enroll listening'),
      mtls_address: addressOf(hub, 'mtls listening'),
      admin_socket: join(vault, 'admin.sock'),
      ca_url: ca.url,
      ca_root_path: ca.rootPath,
      provisioner_name: ca.provisionerName,
      provisioner_key: JSON.parse(ca.provisionerKey) as unknown,
      host_prefix: hosts,
    },
  })
  return load
}

export function addressOf(hub: Daemon, message: string): string {
  return `127.0.0.1:${hub.portOf(message)}`
}

function vaultMaker(vault: string, entries: number | undefined): readonly [string, ...string[]] {
  if (entries === undefined) return [binary('svc'), 'init']
  const sizes = ['--agents', '1000', '--certificates', '2000', '--entries', String(entries)]
  return [pinnedNode(), FILL_VAULT, '--vault', vault, ...sizes]
}

/** On the same port for agents, as cold as any hub that begins. */
export async function restartHub(world: World): Promise<Daemon> {
  await world.hub[Symbol.asyncDispose]()
  return startHub({ ...world.environment, SVC_MTLS_BIND: world.mtlsAddress }, world.hubLogPath)
}

export function startHub(
  environment: Readonly<Record<string, string>>,
  logPath: string,
  programs = BIN,
): Promise<Daemon> {
  return startDaemon({
    command: [join(programs, 'svc-server')],
    environment,
    logPath,
    readyMessage: 'mtls listening',
  })
}

function optionsOfNode({
  profileDirectory: directory,
  preload,
}: WorldOptions): Readonly<Record<string, string>> {
  const words = [
    ...(directory === undefined ? [] : [`--cpu-prof --cpu-prof-dir=${resolve(directory)}`]),
    ...(preload === undefined ? [] : [`--import=${preload}`]),
  ]
  return words.length === 0 ? {} : { NODE_OPTIONS: words.join(' ') }
}

export function binary(name: string): string {
  return join(BIN, name)
}
