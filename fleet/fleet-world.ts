// One hub with its CA and its fleet, fresh for each step and gone after it.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Daemon, startDaemon } from '../bench/daemon.ts'
import { binary } from '../bench/world.ts'
import { initVault } from '../src/hub/vault/vault.ts'
import { Secret } from '../src/platform/secret.ts'
import { type Authority, configureAuthority } from './authority.ts'
import { type Driver, startDriver } from './driver.ts'
import type { FleetOptions } from './fleet-options.ts'
import type { FleetPlan } from './fleet-plan.ts'
import { insertAgents } from './insert-agents.ts'

export interface FleetWorld extends AsyncDisposable {
  readonly directory: string
  readonly vaultRoot: string
  readonly authority: Authority
  readonly driver: Driver
  /** The one that runs, or ran last. */
  readonly hub: Daemon
  killHub(): Promise<void>
  /** On the ports that it had. */
  startHub(): Promise<void>
}

export interface FleetWorldOptions extends Pick<
  FleetOptions,
  'authority' | 'pollSeconds' | 'profileDirectory'
> {
  readonly driverProgram: string
  readonly plan: FleetPlan
  /** Disposed of when the run ends, also in the middle of a start. */
  readonly stack: AsyncDisposableStack
  progress(this: void, text: string): void
}

const isShared = availableParallelism() < 2
/** The hub has a core of its own, so that its time is what it takes and not what it waits. */
export const HUB_CORES: string | undefined = isShared ? undefined : '0'
const OTHER_CORES = isShared ? undefined : `1-${availableParallelism() - 1}`

export async function startFleetWorld(options: FleetWorldOptions): Promise<FleetWorld> {
  const { plan, progress } = options
  const stack = options.stack.use(new AsyncDisposableStack())
  const directory = await mkdtemp(join(tmpdir(), 'cartorio-fleet-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  progress('starting the CA')
  const authority = stack.use(await configureAuthority(options.authority, directory, OTHER_CORES))
  await authority.start()
  const driver = stack.use(startDriver(options.driverProgram, OTHER_CORES))
  const { gate_url: gateUrl } = (await driver.send({
    do: 'ca',
    url: authority.url,
    root_path: authority.rootPath,
    directory: authority.issuerDirectory,
  })) as { gate_url: string }
  const vaultRoot = join(directory, 'vault')
  const passphrase = randomBytes(16).toString('hex')
  await initVault(vaultRoot, new Secret(passphrase))
  if (plan.isFilled) await fill(options, { driver, directory, vaultRoot, passphrase })
  const environment = {
    ...authority.environment,
    SVC_CA_URL: gateUrl,
    SVC_VAULT_ROOT: vaultRoot,
    SVC_MASTER_PASSPHRASE: passphrase,
    SVC_SERVER_CN: 'localhost',
    SVC_HEALTH_BIND: '127.0.0.1:0',
    SVC_METRICS_BIND: 'off',
    SVC_ADMIN_BIND: 'off',
    SVC_ENROLL_TLS_BIND: 'off',
    // As many as the hub may have open files; all other limits are as they are for everybody.
    SVC_LIMIT_CONNECTIONS: '0',
    ...profiling(options.profileDirectory),
  }
  const start = (binds: Readonly<Record<string, string>>): Promise<Daemon> =>
    startDaemon({
      command: [binary('svc-server')],
      environment: { ...environment, ...binds },
      logPath: join(directory, 'hub.log'),
      readyMessage: 'mtls listening',
      cores: HUB_CORES,
    })
  progress('starting the hub')
  let starting = start({ SVC_ENROLL_BIND: '127.0.0.1:0', SVC_MTLS_BIND: '127.0.0.1:0' })
  stack.defer(async () => {
    const [last] = await Promise.allSettled([starting])
    if (last.status === 'fulfilled') await last.value[Symbol.asyncDispose]()
  })
  let hub = await starting
  const binds = {
    SVC_ENROLL_BIND: `127.0.0.1:${hub.portOf('enroll listening')}`,
    SVC_MTLS_BIND: `127.0.0.1:${hub.portOf('mtls listening')}`,
  }
  const setup = {
    enroll_address: binds.SVC_ENROLL_BIND,
    mtls_address: binds.SVC_MTLS_BIND,
    admin_socket: join(vaultRoot, 'admin.sock'),
    poll_seconds: options.pollSeconds,
  }
  await driver.send({ do: 'setup', setup })
  return {
    directory,
    vaultRoot,
    authority,
    driver,
    get hub() {
      return hub
    },
    async killHub() {
      process.kill(hub.pid, 'SIGKILL')
      await hub[Symbol.asyncDispose]()
    },
    async startHub() {
      starting = start(binds)
      hub = await starting
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function fill(
  { plan, progress }: FleetWorldOptions,
  place: Pick<FleetWorld, 'driver' | 'directory' | 'vaultRoot'> & { readonly passphrase: string },
): Promise<void> {
  const path = join(place.directory, 'agents.jsonl')
  progress(`signing ${plan.enrolled} certificates`)
  await place.driver.send({
    do: 'make',
    count: plan.enrolled,
    kept: plan.running,
    age_min_seconds: plan.ageSeconds[0],
    age_max_seconds: plan.ageSeconds[1],
    path,
  })
  await insertAgents({
    ...place,
    path,
    progress: (count) => {
      if (count % 10_000 === 0) progress(`${count} agents in the vault`)
    },
  })
  await rm(path)
}

function profiling(directory: string | undefined): Readonly<Record<string, string>> {
  return directory === undefined
    ? {}
    : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(directory)}` }
}
